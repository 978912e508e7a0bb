// Package translate owns the difference between the caller's format and a
// provider's. Same format in and out is an edit of the bytes: what the gateway
// must change is changed where it stands, and all else passes as it was
// written. It does no I/O and knows nothing of routing or retries.
package translate

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// route is how one surface travels to a provider of the OpenAI kind.
type route struct {
	path string
	// streamUsage: usage in a stream must be asked for.
	streamUsage bool
}

// routes are the surfaces that such providers serve in the caller's own format.
var routes = map[catalog.Surface]route{
	catalog.Chat:        {path: "/chat/completions", streamUsage: true},
	catalog.Completions: {path: "/completions", streamUsage: true},
}

// Translator writes upstream requests and makes the codecs that read the
// answers. It has no state.
type Translator struct{}

// New returns a Translator.
func New() *Translator { return &Translator{} }

// Request writes the request for one candidate. A failure means that the
// candidate cannot carry it.
func (t *Translator) Request(c call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure) {
	r, ok := routes[c.Surface]
	if !ok || !speaksOpenAI(to.Provider.Type) {
		return upstream.Request{}, upstream.Fail(upstream.CannotCarry, nil)
	}
	body, err := edit(c.Body, edits{
		model:    to.Endpoint.UpstreamModel,
		provider: to.Provider.Slug,
		usage:    c.Request.Stream && r.streamUsage,
	})
	if err != nil {
		f := upstream.Fail(upstream.Rejected, err)
		f.Fault.Message = "The body is not a JSON object that can be sent on."
		f.Fault.Status = http.StatusBadRequest
		return upstream.Request{}, f
	}
	return upstream.Request{
		Provider: to.Provider, Path: r.path, Header: c.Header, Body: upstream.Bytes(body), Stream: c.Request.Stream,
	}, nil
}

// Codec returns a reader for the answer to a request made for to. model is the
// canonical id that the caller is told.
func (t *Translator) Codec(c call.Call, model string, _ decide.Candidate) upstream.Codec {
	return newCodec(c, model)
}

func speaksOpenAI(t catalog.ProviderType) bool {
	return t == catalog.OpenAI || t == catalog.OpenAICompatible
}
