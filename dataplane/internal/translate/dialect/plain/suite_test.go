package plain_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/plain"
)

// TestObserver holds these answers, of which no codec writes any, to what must
// be true of whatever comes.
func TestObserver(t *testing.T) {
	sound := [][]byte{
		[]byte(`{"object":"list","data":[{"embedding":[0.1]}],"model":"small-v1","usage":{"prompt_tokens":3,"total_tokens":3}}`),
		[]byte(`{"id":"r","model":"small-v1","results":[{"index":0}],"meta":{"billed_units":{"input_tokens":7},"tokens":{"input_tokens":7,"output_tokens":1}}}`),
		[]byte(`{"type":"transcript.text.done","text":"hi","usage":{"input_tokens":9,"input_token_details":{"audio_tokens":8},"output_tokens":2}}`),
		[]byte(`{"type":"error","error":{"message":"no"}}`),
	}
	for name, speech := range map[string]bool{"speech": true, "other": false} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				dialecttest.Unshaken(t, func() dialect.Observer { return plain.Observe(speech) }, sound)
			})
		})
	}
}
