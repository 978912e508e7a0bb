package translate

import (
	"errors"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/converse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/plain"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

var (
	errNotJSON = errors.New("not one sound JSON object")
	errNoCount = errors.New("reply has no count")
	errNoID    = errors.New("reply has no id")
)

// codecs are the formats that callers speak.
func codecs() map[format]dialect.Codec {
	return map[format]dialect.Codec{
		chatFormat: chat.New(), responsesFormat: responses.New(), messagesFormat: messages.New(), geminiFormat: gemini.New(),
	}
}

// upstreams are the formats that upstreams speak.
func upstreams() map[format]dialect.Upstream {
	out := map[format]dialect.Upstream{converseFormat: converse.New()}
	for f, codec := range codecs() {
		out[f] = codec
	}
	return out
}

func plainCodec(c *call.Call, model string) upstream.Codec {
	if c.Surface == catalog.Completions {
		return newPass(chat.NewObserver(c.Request.StreamUsage), c, model)
	}
	return newPass(plain.Observe(c.Surface == catalog.Speech), c, model)
}
