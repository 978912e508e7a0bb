package responses

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"

// reader reads values of this format and lists what is wrong with them.
type reader struct{ openai.Reader }
