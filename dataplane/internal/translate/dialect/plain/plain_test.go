package plain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/plain"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// TestUsageOfEachSurface has replies as the providers write them.
func TestUsageOfEachSurface(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		speech bool
		want   meter.Usage
	}{
		"embeddings":              {body: `{"object":"list","data":[],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}`, want: meter.Usage{Input: 8}},
		"rerank with a total":     {body: `{"results":[],"usage":{"total_tokens":15}}`, want: meter.Usage{Input: 15}},
		"rerank at Cohere":        {body: `{"results":[],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1},"tokens":{"input_tokens":77,"output_tokens":1}}}`, want: meter.Usage{Input: 77, Output: 1}},
		"rerank by search units":  {body: `{"results":[],"meta":{"billed_units":{"search_units":1}}}`},
		"image":                   {body: `{"created":1,"data":[],"usage":{"total_tokens":1100,"input_tokens":50,"output_tokens":1050,"input_tokens_details":{"text_tokens":10,"image_tokens":40}}}`, want: meter.Usage{Input: 10, Image: 40, Output: 1050}},
		"transcription":           {body: `{"text":"hi","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":2,"audio_tokens":12},"output_tokens":3,"total_tokens":17}}`, want: meter.Usage{Input: 2, AudioInput: 12, Output: 3}},
		"transcription by second": {body: `{"text":"hi","usage":{"type":"duration","seconds":9}}`},
		"moderation":              {body: `{"id":"m","model":"x","results":[]}`},
		"more details than input": {body: `{"usage":{"input_tokens":5,"input_tokens_details":{"image_tokens":4,"audio_tokens":4}}}`, want: meter.Usage{Image: 4, AudioInput: 1}},
		"beyond belief":           {body: `{"usage":{"input_tokens":100000001}}`},
		"zeros":                   {body: `{"usage":{"input_tokens":0,"output_tokens":0}}`},
		"null":                    {body: `{"usage":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			o := plain.Observe(c.speech)
			sight, err := o.Whole([]byte(c.body))
			require.NoError(t, err)
			require.Nil(t, sight.Failure)
			seen := o.Seen()
			require.Equal(t, c.want, seen.Usage.Usage)
			require.Equal(t, !c.want.IsZero(), seen.Usage.Known)
			require.True(t, seen.Output, "an answer is worth its price")
			require.True(t, seen.Finished)
		})
	}
}

func TestStreams(t *testing.T) {
	for name, c := range map[string]struct {
		events   []string
		speech   bool
		want     meter.Usage
		complete bool
	}{
		"image": {events: []string{
			`{"type":"image_generation.partial_image","b64_json":"aaaa","partial_image_index":0}`,
			`{"type":"image_generation.completed","b64_json":"bbbb","usage":{"input_tokens":5,"output_tokens":100}}`,
		}, want: meter.Usage{Input: 5, Output: 100}, complete: true},
		"speech": {events: []string{
			`{"type":"speech.audio.delta","audio":"aaaa"}`,
			`{"type":"speech.audio.done","usage":{"input_tokens":5,"output_tokens":30,"total_tokens":35}}`,
		}, speech: true, want: meter.Usage{Input: 5, AudioOutput: 30}, complete: true},
		"cut": {events: []string{`{"type":"transcript.text.delta","delta":"he"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			o := plain.Observe(c.speech)
			for _, e := range c.events {
				sight, err := o.Event(nil, []byte(e))
				require.NoError(t, err)
				require.True(t, sight.Content)
			}
			_, complete := o.Terminal()
			require.Equal(t, c.complete, complete)
			require.Equal(t, c.want, o.Seen().Usage.Usage)
		})
	}
}

func TestModelsAreFound(t *testing.T) {
	body := `{"model":"a","data":[{"model":"not this"}],"model":"b"}`
	o := plain.Observe(false)
	sight, err := o.Whole([]byte(body))
	require.NoError(t, err)
	require.Len(t, sight.Models, 2)
	require.Equal(t, `"a"`, body[sight.Models[0].Start:sight.Models[0].End])
	require.Equal(t, `"b"`, body[sight.Models[1].Start:sight.Models[1].End])
	require.Equal(t, "a", o.Seen().ServedModel)
}

func TestErrors(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"no","code":"rate_limit_exceeded"}}`, `{"type":"error","error":{"message":"rate limit"}}`,
	} {
		sight, err := plain.Observe(false).Whole([]byte(body))
		require.NoError(t, err)
		require.Equal(t, upstream.RateLimited, sight.Failure.Class)
	}
	sight, err := plain.Observe(false).Event([]byte("error"), []byte("too many requests"))
	require.NoError(t, err)
	require.Equal(t, upstream.RateLimited, sight.Failure.Class)
	_, err = plain.Observe(false).Whole([]byte(`{"a":`))
	require.ErrorIs(t, err, dialect.ErrMalformed)
	_, err = plain.Observe(false).Event(nil, []byte(`[]`))
	require.ErrorIs(t, err, dialect.ErrMalformed)
	done, err := plain.Observe(false).Event(nil, []byte("[DONE]"))
	require.NoError(t, err)
	require.True(t, done.Last)
}

func FuzzWhole(f *testing.F) {
	f.Add([]byte(`{"model":"m","usage":{"input_tokens":1,"input_tokens_details":{"image_tokens":2}},"meta":{"tokens":{"input_tokens":1}}}`))
	f.Add([]byte(`{"type":"speech.audio.done","error":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o := plain.Observe(true)
		sight, err := o.Whole(body)
		if err == nil && sight.Failure == nil {
			for _, m := range sight.Models {
				require.Equal(t, byte('"'), body[m.Start])
			}
			u := o.Seen().Usage
			require.GreaterOrEqual(t, min(u.Input, u.Image, u.AudioInput, u.Output, u.AudioOutput), int64(0))
		}
	})
}
