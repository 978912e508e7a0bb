package surface

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// bodyKind is what a surface's body is made of.
type bodyKind int

const jsonBody bodyKind = iota

// row is everything in which the inference surfaces differ. Adding a surface
// is adding a row, and a facts.Format where the body's format is new.
type row struct {
	surface  catalog.Surface
	method   string
	path     string
	body     bodyKind
	facts    facts.Format    // the native body format
	models   bool            // whether the body may name fallback models
	stream   bool            // whether the reply may be server-sent events
	envelope envelope.Format // the native error form
}

var table = []row{
	{
		surface: catalog.Chat, method: http.MethodPost, path: "/v1/chat/completions",
		body: jsonBody, facts: facts.Chat, models: true, stream: true, envelope: envelope.OpenAI,
	},
}

// bodyCap is the cap of a kind of body, in bytes.
func (o Options) bodyCap(kind bodyKind) int64 {
	if kind == jsonBody {
		return o.MaxJSON
	}
	return 0
}
