package responses_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

func seeds(f *testing.F, file string, more ...string) {
	f.Helper()
	paths, err := filepath.Glob(recorded + file)
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text)
	}
	for _, text := range more {
		f.Add([]byte(text))
	}
}

// What is read without complaint is written and read again as the same.
func FuzzRequest(f *testing.F) {
	seeds(f, "request.responses.json", `{"input":[{"id":"x"},{"role":"user","content":[{}]}]}`, `{"input":[[]],"tools":[null],"tool_choice":{"type":"allowed_tools","tools":[{"type":"x"}]}}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		r, violations := responses.New().DecodeRequest(body)
		for _, v := range violations {
			require.NotEmpty(t, v.Path)
		}
		if len(violations) > 0 {
			return
		}
		encoded, err := responses.New().EncodeRequest(r, dialect.Target{Model: "m"})
		if err != nil {
			return
		}
		require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
		_, violations = responses.New().DecodeRequest(encoded.Body)
		require.Empty(t, violations, "%s", encoded.Body)
	})
}

func FuzzReply(f *testing.F) {
	seeds(f, "reply.responses.json", `{"output":[{"type":"reasoning","content":[{}]},{"type":"message","content":[{"type":"output_text","logprobs":[1,"x"],"annotations":[{"url":"x"}]}]}]}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := responses.New().Observe().Whole(body)
		r, failure := responses.New().DecodeReply(body)
		if failure != nil {
			return
		}
		require.NoError(t, err)
		checkUsage(t, r.Usage)
		out := responses.New().EncodeReply(r, dialecttest.Told)
		require.True(t, json.Valid(out), "%q gave %q", body, out)
		if r.Choices[0].Finish == conversation.Paused {
			return
		}
		back, failure := responses.New().DecodeReply(out)
		require.Nil(t, failure)
		require.Equal(t, r.Usage, back.Usage)
		require.Equal(t, r.Choices[0].Finish, back.Choices[0].Finish)
	})
}

func checkUsage(t *testing.T, u conversation.Usage) {
	for _, n := range []int64{u.Input, u.CachedRead, u.CacheWrite5m, u.Output, u.Reasoning, u.Image, u.AudioInput, u.AudioOutput} {
		require.GreaterOrEqual(t, n, int64(0))
		require.LessOrEqual(t, n, int64(100_000_000))
	}
}

// Whatever comes, what a caller gets are sound events with rising numbers, and
// nothing is taken for whole without its last event.
func FuzzStream(f *testing.F) {
	seeds(f, "stream.responses.sse", sseOf(whole), sseOf(`{"type":"response.output_item.done","output_index":-1,"item":{"type":"reasoning","id":5,"summary":{}}}`),
		"event: response.completed\rdata: {\"response\":{\"output\":[null,{\"type\":\"message\",\"content\":\"x\"}]}}")
	f.Fuzz(func(t *testing.T, in []byte) {
		d, w, o := responses.New().DecodeStream(), responses.New().EncodeStream(dialecttest.Told), responses.New().Observe()
		var out []byte
		var events []conversation.Event
		opened := map[int]bool{}
		r := sse.NewReader(strings.NewReader(string(in)), sse.MaxEvent)
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			if len(e.Data) > 0 {
				sight, _ := o.Event(e.Name, e.Data)
				for _, m := range sight.Models {
					require.True(t, json.Valid(e.Data[m.Start:m.End]))
				}
			}
			events, _, _ = d.Decode(e, events[:0])
			for i := range events {
				switch ev := &events[i]; ev.Kind {
				case conversation.Opened:
					require.False(t, opened[ev.Index])
					opened[ev.Index] = true
				case conversation.Added, conversation.Signed, conversation.Cited, conversation.Closed:
					require.True(t, opened[ev.Index])
				case conversation.Metered:
					checkUsage(t, ev.Usage)
				default:
				}
				out = w.Encode(out, &events[i])
			}
		}
		_, failure := d.End(nil)
		require.Equal(t, d.Done(), failure == nil)
		out = w.End(out)
		number := int64(0)
		r = sse.NewReader(strings.NewReader(string(out)), sse.MaxEvent)
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			var event struct {
				Number int64 `json:"sequence_number"`
				Type   string
			}
			require.NoError(t, json.Unmarshal(e.Data, &event), "%s", e.Data)
			require.Equal(t, number, event.Number)
			require.Equal(t, string(e.Name), event.Type)
			number++
		}
	})
}
