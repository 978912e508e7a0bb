package dialect

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
)

// Said estimates the tokens of what an upstream put out, for when it does not
// count them itself. The zero value is ready.
type Said struct {
	counter tokens.Counter
	some    bool
}

// Add takes a JSON value that is output: a string, of which only what stands
// between the quotes counts, or anything else as it is written. Escapes are
// taken as they stand, which overestimates them a little.
func (s *Said) Add(value []byte) {
	if rawjson.IsString(value) && len(value) > 1 {
		value = value[1 : len(value)-1]
	}
	s.some = s.some || len(value) > 0
	s.counter.Add(value)
}

// Any reports whether anything was said.
func (s *Said) Any() bool { return s.some }

// Tokens is the estimate.
func (s *Said) Tokens() int64 { return s.counter.Tokens() }
