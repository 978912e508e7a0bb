package translate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream/upstreamtest"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// TestCodecsOfConversations has every pair of formats, and those that pass.
func TestCodecsOfConversations(t *testing.T) {
	for _, name := range []string{"text", "tools", "reasoning"} {
		dir := filepath.Join("testdata", "conversations", name)
		for i := range callers {
			request, err := os.ReadFile(filepath.Join(dir, "request."+callers[i].name+".json"))
			require.NoError(t, err)
			for j := range spoken {
				t.Run(name+"/"+callers[i].name+"-"+spoken[j].name, func(t *testing.T) {
					whole, err := os.ReadFile(filepath.Join(dir, "reply."+spoken[j].name+".json"))
					require.NoError(t, err)
					_, frames := streamOf(t, dir, spoken[j].name)
					require.NotEmpty(t, frames)
					p := newJourney(i, j, request)
					upstreamtest.RunCodec(t, upstreamtest.Answers{
						New: func() upstream.Codec { return p.translator.Codec(&p.call, canonical, p.to) }, Whole: whole, Stream: frames,
						Marked: spoken[j].name != "gemini",
					})
				})
			}
		}
	}
}

// named gives what is kept the name that it has already.
type named struct{}

func (named) Name(_ id.Workspace, _ catalog.Surface, owned call.Owned) (string, error) {
	return "our-" + owned.ID, nil
}

func TestOtherCodecs(t *testing.T) {
	frame := func(text string) sse.Event { return sse.Event{Raw: []byte(text), Data: []byte(text)} }
	for name, c := range map[string]struct {
		call   call.Call
		whole  string
		stream []sse.Event
	}{
		"counted": {call: call.Call{Surface: catalog.Messages, Action: call.Count}, whole: `{"input_tokens":7}`},
		"drawn": {
			call:  call.Call{Surface: catalog.Images},
			whole: `{"created":1,"data":[{"b64_json":"AA=="}],"model":"small-v1","usage":{"input_tokens":5,"output_tokens":9}}`,
			stream: framesOf(t, "event: image_generation.partial_image\ndata: {\"type\":\"image_generation.partial_image\",\"b64_json\":\"AA==\"}\n\n"+
				"event: image_generation.completed\ndata: {\"type\":\"image_generation.completed\",\"model\":\"small-v1\",\"b64_json\":\"AA==\",\"usage\":{\"input_tokens\":5,\"output_tokens\":9}}\n\n"),
		},
		"kept":    {call: call.Call{Surface: catalog.Batches}, whole: `{"id":"b_1","model":"small-v1","input_file_id":"f_1"}`},
		"deleted": {call: call.Call{Surface: catalog.Files, Action: call.Delete, Object: "f"}, whole: `{"id":"f_1","deleted":true}`},
		"realtime": {call: call.Call{Surface: catalog.Realtime}, stream: []sse.Event{
			frame(`{"type":"session.created","session":{"model":"small-v1"}}`), frame(`{"type":"response.output_text.delta","delta":"x"}`),
			frame(`{"type":"session.updated","session":{"model":"small-v2"}}`),
			frame(`{"type":"response.done","response":{"output":[{}],"usage":{"input_tokens":3,"output_tokens":2}}}`),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := upstreamtest.Answers{
				New: func() upstream.Codec { return translate.New(named{}).Codec(&c.call, canonical, north) }, Stream: c.stream,
			}
			if c.whole != "" {
				a.Whole = []byte(c.whole)
			}
			upstreamtest.RunCodec(t, a)
		})
	}
}
