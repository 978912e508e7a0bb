package translate

import (
	"errors"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/plain"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

var (
	errNotJSON = errors.New("not one sound JSON object")
	errNoCount = errors.New("reply has no count")
	errNoID    = errors.New("reply has no id")
)

func codecs() map[format]dialect.Codec {
	return map[format]dialect.Codec{
		chatFormat: chat.New(), messagesFormat: messages.New(),
	}
}

func plainCodec(c call.Call, model string) upstream.Codec {
	if c.Surface == catalog.Completions {
		return newPass(chat.NewObserver(c.Request.StreamUsage), c, model)
	}
	return newPass(plain.Observe(c.Surface == catalog.Speech), c, model)
}
