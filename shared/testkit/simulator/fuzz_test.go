package simulator_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// fuzzed are the paths with a body, of every format.
var fuzzed = []string{
	"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/v1beta/models/m:generateContent",
	"/v1beta/models/m:streamGenerateContent", "/model/m/converse", "/model/m/converse-stream", "/v1/completions", "/v1/embeddings",
	"/v1/moderations", "/v1/rerank", "/v1/ocr", "/v1/parse", "/v1/decisions", "/v1/images/generations", "/v1/audio/speech",
	"/v1/videos", "/v1/music", "/v1/batches", "/token", "/keyless/as-openai/v1/responses", "/keyless/as-anthropic/v1/messages",
	"/keyless/as-google/v1beta/models/m:generateContent", "/keyless/as-bedrock/model/m/converse",
}

// Whatever comes, the answer is a reply or a refusal, and never a crash.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{chatAsk, responsesAsk, anthropicAsk, geminiAsk, converseAsk, `{"model":"m","input":"x","prompt":"x","voice":"v","query":"q","documents":["d"],"options":["o"]}`} {
		for i := range fuzzed {
			f.Add(uint8(i), seed)
		}
	}
	sim := simulator.New(simulator.Options{Keep: 1})
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		if strings.Contains(body, "fault-") || strings.Contains(body, `\u`) { // hangs are asked for by name
			return
		}
		path := fuzzed[int(which)%len(fuzzed)]
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if strings.Contains(path, "anthropic") {
			r.Header.Set("Anthropic-Version", "2023-06-01")
		}
		w := httptest.NewRecorder()
		sim.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		if strings.Contains(w.Header().Get("Content-Type"), "json") && !gjson.ValidBytes(w.Body.Bytes()) {
			t.Fatalf("not JSON: %s", w.Body)
		}
	})
}
