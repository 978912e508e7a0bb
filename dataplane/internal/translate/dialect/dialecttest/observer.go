package dialecttest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// otherModel is what stands in the model's place after the replacement.
const otherModel = `other/"model"`

// RunObserver tests that the observer of a format sees in an answer that passes
// what the codec reads in it, and that what is to be replaced can be.
func RunObserver(t *testing.T, codec dialect.Codec, s Supports) {
	t.Run("stream", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { observedStream(t, codec, written(codec, Events(t, streamed(t, &s)))) })
	})
	t.Run("reply", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { observedReply(t, codec, codec.EncodeReply(Reply(t, &s), Told)) })
	})
	t.Run("cut", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { observedCuts(t, codec, Events(t, streamed(t, &s))) })
	})
	t.Run("garbage", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var datas [][]byte
			for _, e := range eventsOf(written(codec, Events(t, streamed(t, &s)))) {
				datas = append(datas, e.Data)
			}
			Unshaken(t, codec.Observe, append(datas, codec.EncodeReply(Reply(t, &s), Told)))
		})
	})
}

func observedStream(t *rapid.T, codec dialect.Codec, text []byte) {
	observer, decoder := codec.Observe(), codec.DecodeStream()
	var folder conversation.Folder
	var renamed []byte
	sighted, content := false, false
	for _, e := range eventsOf(text) {
		sight, err := watched(t, observer, func(data []byte) (dialect.Sight, error) { return observer.Event(e.Name, data) }, e.Data)
		require.NoError(t, err, "%s", e.Raw)
		require.Nil(t, sight.Failure, "%s", e.Raw)
		events, failure, err := decoder.Decode(e, nil)
		require.NoError(t, err)
		require.Nil(t, failure)
		for i := range events {
			content = content || events[i].IsContent()
			folder.Add(events[i])
		}
		require.True(t, observer.Seen().Output || !hasOutput(folder.Reply()), "%s", e.Raw)
		sighted = sighted || sight.Content
		require.True(t, sighted || !content, "the first content is in %s", e.Raw)
		require.False(t, sight.Content && len(events) == 1 && events[0].Kind == conversation.Began, "%s", e.Raw)
		renamed = append(append(append(renamed, "event: "...), e.Name...), "\ndata: "...)
		renamed = append(append(renamed, replaced(t, e.Data, sight)...), "\n\n"...)
	}
	events, failure := decoder.End(nil)
	require.Nil(t, failure)
	for i := range events {
		folder.Add(events[i])
	}
	missing, complete := observer.Terminal()
	require.True(t, complete, "%s", text)
	require.Empty(t, missing, "%s", text)
	reply := folder.Reply()
	agrees(t, observer.Seen(), reply, text)

	back, failure := Fold(codec, bytes.NewReader(renamed))
	require.Nil(t, failure, "%s", renamed)
	reply.Model = otherModel
	require.Equal(t, reply, back, "%s", renamed)
}

func observedReply(t *rapid.T, codec dialect.Codec, body []byte) {
	observer := codec.Observe()
	sight, err := watched(t, observer, observer.Whole, body)
	require.NoError(t, err, "%s", body)
	require.Nil(t, sight.Failure, "%s", body)
	require.True(t, sight.Content, "%s", body)
	reply, failure := codec.DecodeReply(body)
	require.Nil(t, failure)
	agrees(t, observer.Seen(), reply, body)

	renamed := replaced(t, body, sight)
	back, failure := codec.DecodeReply(renamed)
	require.Nil(t, failure, "%s", renamed)
	reply.Model = otherModel
	require.Equal(t, reply, back, "%s", renamed)
}

// observedCuts cuts a stream after each of its events: before a finish reason it
// is never complete, and a complete one is so for the decoder too, with what the
// observer says is missing.
func observedCuts(t *rapid.T, codec dialect.Codec, events []conversation.Event) {
	encoder := codec.EncodeStream(Told)
	var unfinished []byte
	for i := 0; events[i].Kind != conversation.Stopped; i++ {
		unfinished = encoder.Encode(unfinished, &events[i])
	}
	observer := codec.Observe()
	for _, e := range eventsOf(unfinished) {
		_, complete := observer.Terminal()
		require.False(t, complete, "before %s", e.Raw)
		_, _ = observer.Event(e.Name, e.Data)
	}
	_, complete := observer.Terminal()
	require.False(t, complete, "%s", unfinished)
	require.False(t, observer.Seen().Finished, "%s", unfinished)

	observer = codec.Observe()
	var text []byte
	for _, e := range eventsOf(written(codec, events)) {
		_, _ = observer.Event(e.Name, e.Data)
		text = append(text, e.Raw...)
		missing, complete := observer.Terminal()
		if complete {
			_, failure := Fold(codec, bytes.NewReader(slices.Concat(text, missing)))
			require.Nil(t, failure, "%s", text)
		}
	}
}

// watched looks at a copy of data, which is then written over: nothing that the
// observer knows may stand in it.
func watched(t *rapid.T, observer dialect.Observer, look func([]byte) (dialect.Sight, error), data []byte) (dialect.Sight, error) {
	shown := bytes.Clone(data)
	sight, err := look(shown)
	require.Equal(t, string(data), string(shown), "the data were written to")
	seen := observer.Seen()
	for i := range shown {
		shown[i] = '#'
	}
	require.Equal(t, seen, observer.Seen())
	return sight, err
}

// replaced returns data with another model's name where the observer says that
// one stands. Without what is to be cut too it is still sound.
func replaced(t *rapid.T, data []byte, sight dialect.Sight) []byte {
	name, err := json.Marshal(otherModel)
	require.NoError(t, err)
	out, done := []byte(nil), 0
	for _, m := range sight.Models {
		var model string
		require.LessOrEqual(t, done, m.Start, "in order, and apart")
		require.NoError(t, json.Unmarshal(data[m.Start:m.End], &model), "%s in %s", data[m.Start:m.End], data)
		out, done = append(append(out, data[done:m.Start]...), name...), m.End
	}
	out = append(out, data[done:]...)
	require.Equal(t, json.Valid(data), json.Valid(out), "%s", out)
	cut := slices.Concat(data[:sight.Cut.Start], data[sight.Cut.End:])
	require.Equal(t, json.Valid(data), json.Valid(cut), "%s", cut)
	return out
}

// agrees holds what the observer saw against what the codec read.
func agrees(t *rapid.T, seen dialect.Seen, reply *conversation.Reply, text []byte) {
	require.True(t, seen.Finished, "%s", text)
	require.Equal(t, reply.Model, seen.ServedModel, "%s", text)
	require.Equal(t, reply.Usage, seen.Usage, "%s", text)
	require.Equal(t, hasOutput(reply), seen.Output, "%s", text)
}

func hasOutput(reply *conversation.Reply) bool {
	return slices.ContainsFunc(reply.Choices, func(c conversation.Choice) bool {
		return slices.ContainsFunc(c.Parts, func(p conversation.Part) bool {
			return p.Call != nil || p.Media != nil || p.Kind != conversation.Thought && p.Text != ""
		})
	})
}

func eventsOf(text []byte) []sse.Event {
	var out []sse.Event
	r := sse.NewReader(bytes.NewReader(text), sse.MaxEvent)
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		if len(e.Data) > 0 {
			e.Name, e.Data, e.Raw = bytes.Clone(e.Name), bytes.Clone(e.Data), bytes.Clone(e.Raw)
			out = append(out, e)
		}
	}
	return out
}
