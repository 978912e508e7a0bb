package translate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// TestWhatOnlyAnotherProviderHoldsExcludes: a part of the conversation that the
// caller only refers to is content, and content is never left out.
func TestWhatOnlyAnotherProviderHoldsExcludes(t *testing.T) {
	for _, c := range []struct {
		surface catalog.Surface
		body    string
	}{
		{catalog.Responses, `{"model":"m","input":"hi","previous_response_id":"resp_1"}`},
		{catalog.Gemini, `{"contents":[{"parts":[{"text":"hi"}]}],"cachedContent":"cachedContents/1"}`},
	} {
		to := decide.Candidate{Endpoint: north.Endpoint, Provider: &catalog.Provider{Slug: "a", Type: catalog.Anthropic, BaseURL: "http://a.example"}}
		_, failure := translate.New(nil).Request(&call.Call{Surface: c.surface, Body: []byte(c.body)}, to)
		require.NotNil(t, failure)
		require.Equal(t, upstream.CannotCarry, failure.Class)
		require.Contains(t, failure.Fault.Message, "send the whole conversation")
	}
}

func TestRequiredParametersExclude(t *testing.T) {
	c := call.Call{Surface: catalog.Chat, Body: []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":1,"logprobs":true}`)}
	to := decide.Candidate{Endpoint: north.Endpoint, Provider: &catalog.Provider{Slug: "a", Type: catalog.Anthropic, BaseURL: "http://a.example"}}
	r, failure := translate.New(nil).Request(&c, to)
	require.Nil(t, failure)
	require.Equal(t, []string{"logprobs", "seed"}, r.Degraded)
	c.Request.Provider.RequireParameters = true
	_, failure = translate.New(nil).Request(&c, to)
	require.Equal(t, upstream.CannotCarry, failure.Class)
	require.Contains(t, failure.Fault.Message, "logprobs, seed")
}

// TestNumbersAreNotNothing: a parameter of two digits says as much as any other.
func TestNumbersAreNotNothing(t *testing.T) {
	to := decide.Candidate{Endpoint: north.Endpoint, Provider: &catalog.Provider{Slug: "g", Type: catalog.Google, BaseURL: "http://g.example"}}
	for surface, body := range map[catalog.Surface]string{
		catalog.Chat:      `{"model":"m","messages":[{"role":"user","content":"hi"}],"best_of":12,"logit_bias":{},"store":false}`,
		catalog.Responses: `{"model":"m","input":"hi","best_of":12,"safety":[]}`,
		catalog.Messages:  `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"best_of":12,"container":""}`,
	} {
		r, failure := translate.New(nil).Request(&call.Call{Surface: surface, Body: []byte(body)}, to)
		require.Nil(t, failure)
		require.Equal(t, []string{"best_of"}, r.Degraded, surface)
	}
}

func TestWhatIsWrongIsNamedBeforeAnybodyIsAsked(t *testing.T) {
	c := call.Call{Surface: catalog.Chat, Body: []byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"smell"}]},{"role":5}]}`)}
	to := decide.Candidate{Endpoint: north.Endpoint, Provider: &catalog.Provider{Slug: "a", Type: catalog.Anthropic, BaseURL: "http://a.example"}}
	_, failure := translate.New(nil).Request(&c, to)
	require.Equal(t, upstream.Rejected, failure.Class)
	require.Equal(t, "messages.0.content.0.type", failure.Fault.Violations[0].Path)
	require.GreaterOrEqual(t, len(failure.Fault.Violations), 2)
}
