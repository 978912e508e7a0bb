package e2e_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// judge is the model that classifies. It is too dear to be chosen itself under
// the standard spend profile, so that its faults are only the classifier's.
const judge = "z-judge"

// saying has the classifier model answer with a text.
func saying(content string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","created":1,"model":"z-judge","choices":[{"index":0,"finish_reason":"stop",`+
			`"message":{"role":"assistant","content":`+content+`}}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`)
	})
}

// autoPlatform has a key that may use the three models, and a judge that is
// waited for as long as a slow machine needs.
func autoPlatform(t *testing.T, change func(*dataplane.Config)) (*harness.Platform, client.Key) {
	t.Helper()
	p := harness.Start(t, harness.Options{
		Models: []string{"a-pick", "b-pick"},
		Catalog: func(*upstream.Upstream, *upstream.Upstream) string {
			return "models:\n  - id: sim/" + judge + "\n    context: 100000\n    endpoints:\n" +
				"      - {provider: north, upstream_model: " + judge + `, price: {input: "9", output: "9"}}` + "\n"
		},
		Configure: func(c *dataplane.Config) {
			c.Auto.ClassifierModel, c.Auto.ClassifierTimeout = "sim/"+judge, time.Minute
			if change != nil {
				change(c)
			}
		},
	})
	key, _, err := p.CreateKey(t.Context(), client.NewKey{Name: "auto", Models: []string{"sim/a-pick", "sim/b-pick", "sim/" + judge}}, 20*time.Second)
	require.NoError(t, err)
	return p, key
}

const judgement = `"{\"workloads\":{\"translation\":1},\"complexity\":0.2,\"confidence\":0.9}"`

func TestAutoAsksItsClassifier(t *testing.T) {
	p, key := autoPlatform(t, nil)
	p.North.HandleModel(judge, saying(judgement))
	bodies := map[string]string{
		"/v1/chat/completions": `{"model":"signalbox/auto","messages":[{"role":"user","content":"Say hello"}]}`,
		"/v1/responses":        `{"model":"signalbox/auto","input":"Say hello"}`,
		"/v1/messages":         `{"model":"signalbox/auto","max_tokens":50,"messages":[{"role":"user","content":"Say hello"}]}`,
		"/v1beta/models/signalbox/auto:generateContent": `{"contents":[{"parts":[{"text":"Say hello"}]}]}`,
	}
	for path, body := range bodies {
		t.Run(path, func(t *testing.T) {
			p.North.Forget()
			got, err := p.Post(t.Context(), 0, key.Secret, path, []byte(body))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
			require.EqualValues(t, 2, p.North.Stats().Total, "the classifier, and the answer")
			entry := p.On(t).Logged(got.Header)
			auto := entry.Get("decision.auto")
			require.Equal(t, "auto", entry.Get("decision.routing_switch_reason").Str)
			require.Equal(t, []string{"model", "translation", ""}, texts(auto, "classifier", "workload", "local_reason"))
			require.Equal(t, auto.Get("candidates.0.model").Str, got.Header.Get(client.HeaderModel), "the best one answers")
			require.EqualValues(t, 2, auto.Get("eligible").Int(), "what the key may use and the profile allows")
			child := childOf(t, p, auto)
			require.Equal(t, entry.Get("id").Str, child.Get("primary_request_id").Str, "linked")
			require.Equal(t, "success", child.Get("outcome").Str)
			require.Positive(t, child.Get("cost_nanos").Int(), "on the same bill")
		})
	}
	refused, err := p.Post(t.Context(), 0, key.Secret, "/v1/embeddings", []byte(`{"model":"signalbox/auto","input":"x"}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, refused.Status)
	require.Equal(t, "auto_not_supported", refused.Get("error.reason").Str, "%s", refused.Body)
}

func TestAutoWithoutItsClassifier(t *testing.T) {
	p, key := autoPlatform(t, func(c *dataplane.Config) { c.Auto.ClassifierTimeout = 5 * time.Second })
	ask := func(t *testing.T) (entry, auto gjson.Result) {
		t.Helper()
		got := p.On(t).Ask(key, `{"model":"signalbox/auto","messages":[{"role":"user","content":"Translate to French: hello"}]}`)
		require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
		entry = p.On(t).Logged(got.Header)
		auto = entry.Get("decision.auto")
		require.Equal(t, []string{"local", "translation"}, texts(auto, "classifier", "workload"))
		return entry, auto
	}
	for name, c := range map[string]struct {
		handler http.Handler
		why     string
		outcome string
	}{
		"garbage": {saying(`"certainly: translation"`), "invalid", "success"},
		"an error": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusInternalServerError)
		}), "failed", "error"},
		"silence": {http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "timeout", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			p.North.HandleModel(judge, c.handler)
			entry, auto := ask(t)
			require.Equal(t, c.why, auto.Get("local_reason").Str)
			child := childOf(t, p, auto)
			require.Equal(t, entry.Get("id").Str, child.Get("primary_request_id").Str)
			require.Equal(t, c.outcome, child.Get("outcome").Str)
		})
	}
}

func childOf(t *testing.T, p *harness.Platform, auto gjson.Result) gjson.Result {
	t.Helper()
	require.Equal(t, "sim/"+judge, auto.Get("classifier_model").Str)
	child := p.On(t).Logged(http.Header{client.HeaderRequestID: {auto.Get("classifier_request_id").Str}})
	require.Equal(t, "auto_routing_classifier", child.Get("purpose").Str)
	require.Equal(t, "sim/"+judge, child.Get("requested_model").Str)
	return child
}

func texts(of gjson.Result, names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = of.Get(name).Str
	}
	return out
}
