package translate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

func talking() (call.Call, upstream.Speaker) {
	c := call.Call{Surface: catalog.Realtime}
	return c, translate.New(nil).Codec(&c, canonical, north).(upstream.Speaker)
}

func say(t *testing.T, codec upstream.Codec, frame string) string {
	t.Helper()
	piece, failure := codec.Event(sse.Event{Raw: []byte(frame), Data: []byte(frame)})
	require.Nil(t, failure)
	return string(piece.Bytes)
}

func TestARealtimeConversationIsOpened(t *testing.T) {
	c, _ := talking()
	r, failure := translate.New(nil).Request(&c, north)
	require.Nil(t, failure)
	require.True(t, r.Upgrade)
	require.Equal(t, "/realtime", r.Path)
	require.Equal(t, "model=small-v1", r.Query)
	require.Equal(t, "GET", r.Method)
}

func TestFramesPassButForTheModel(t *testing.T) {
	_, codec := talking()
	exactly(t, `{"type":"session.created","session":{"model":"acme/small","x":1e400}}`,
		say(t, codec, `{"type":"session.created","session":{"model":"small-v1-0613","x":1e400}}`))
	delta := `{"type":"response.output_text.delta","delta":"model \"small-v1\""}`
	require.Equal(t, delta, say(t, codec, delta))
	problem := `{"type":"error","error":{"message":"no such item"}}`
	require.Equal(t, problem, say(t, codec, problem), "an error is an answer")
	require.Empty(t, say(t, codec, `not JSON`))

	exactly(t, `{"type":"session.update","session":{"model":"small-v1"}}`,
		string(codec.Said([]byte(`{"type":"session.update","session":{"model":"acme/small"}}`))))
	for _, named := range []string{`"other"`, `5`, `null`, `"acme/small","mod\u0065l":"other"`} {
		said := string(codec.Said([]byte(`{"type":"session.update","session":{"model":` + named + `}}`)))
		require.NotContains(t, said, "other", "the conversation keeps its model")
		require.Contains(t, said, `"small-v1"`)
	}
	for _, same := range []string{`{"type":"session.update","session":{"voice":"other"}}`, `{"item":{"model":"acme/small"}}`, `{`, ``} {
		require.Equal(t, same, string(codec.Said([]byte(same))))
	}
	seen := codec.Seen()
	require.Equal(t, "small-v1-0613", seen.ServedModel)
	require.Equal(t, 1, seen.Malformed)
	require.True(t, seen.ZeroOutput)
}

// TestResponsesOfAConversationAddUp has the usage as the API writes it.
func TestResponsesOfAConversationAddUp(t *testing.T) {
	_, codec := talking()
	const first = `{"type":"response.done","response":{"id":"r","output":[{"type":"message"}],"usage":{"total_tokens":253,"input_tokens":132,"output_tokens":121,` +
		`"input_token_details":{"text_tokens":119,"audio_tokens":13,"image_tokens":0,"cached_tokens":64,"cached_tokens_details":{"text_tokens":60,"audio_tokens":4}},` +
		`"output_token_details":{"text_tokens":30,"audio_tokens":91}}}}`
	exactly(t, first, say(t, codec, first))
	want := meter.Usage{Input: 59, CachedRead: 64, AudioInput: 9, Output: 30, AudioOutput: 91}
	require.Equal(t, want, codec.Seen().Usage)
	require.EqualValues(t, 132, want.InputTotal())
	say(t, codec, `{"type":"response.done","response":{"usage":{"input_tokens":1,"output_tokens":2}}}`)
	say(t, codec, `{"type":"response.done","response":{"usage":{"input_tokens":100000001,"output_tokens":2}}}`)
	say(t, codec, `{"type":"response.done","response":{"usage":null}}`)
	want.Input, want.Output = 60, 32
	require.Equal(t, want, codec.Seen().Usage)
	require.False(t, codec.Seen().ZeroOutput)
}

// exactly compares JSON byte by byte: numbers and order must survive.
func exactly(t *testing.T, want, got string) {
	t.Helper()
	require.Equal(t, want, got)
}
