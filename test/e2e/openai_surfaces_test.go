//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// sim names a model of the simulator's own catalog.
func sim(name string) string { return "signalbox-sim/" + name }

// picture is a named file, as the SDK uploads it.
func picture(t *testing.T) io.Reader {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(pixel)
	require.NoError(t, err)
	return openai.File(bytes.NewReader(data), "a.png", "image/png")
}

func recording() io.Reader {
	return openai.File(strings.NewReader("RIFF\x00\x00\x00\x00WAVEfmt "), "a.wav", "audio/wav")
}

// accounted checks what the log says of the newest request of a connection.
func accounted(t *testing.T, p *harness.Platform, c connection, surface string, stream, used bool) {
	t.Helper()
	entry := p.On(t).Logged(c.witness.last())
	require.Equal(t, surface, entry.Get("surface").Str)
	require.Equal(t, "success", entry.Get("outcome").Str, "%s", entry.Raw)
	require.Equal(t, stream, entry.Get("stream").Bool())
	require.NotEmpty(t, entry.Get("provider").Str)
	require.NotEmpty(t, c.witness.last().Get(client.HeaderModel))
	if !used {
		require.Zero(t, entry.Get("cost_nanos").Int(), "%s", entry.Raw)
		return
	}
	require.Positive(t, entry.Get("usage.input").Int()+entry.Get("usage.image").Int()+entry.Get("usage.audio_input").Int(), "%s", entry.Raw)
	require.Positive(t, entry.Get("cost_nanos").Int())
}

func TestOpenAISurfaces(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true})
	key := p.Key()
	c := connect(p, key.Secret)
	sdk := openAIOver(c)
	for name, test := range map[string]func(*testing.T, *harness.Platform, connection, openai.Client){
		"completions": completions, "embeddings": embeddings, "moderations": moderations, "images": makeImages, "image edits": editImages,
		"speech": speech, "transcriptions": transcriptions, "translations": translations,
	} {
		t.Run(name, func(t *testing.T) { test(t, p.On(t), c, sdk) })
	}
}

func completions(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	params := openai.CompletionNewParams{
		Model: openai.CompletionNewParamsModel(sim("instruct")), Prompt: openai.CompletionNewParamsPromptUnion{OfString: param.NewOpt("Once upon")},
	}
	reply, err := sdk.Completions.New(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, sim("instruct"), reply.Model)
	require.Contains(t, reply.Choices[0].Text, "Once upon")
	require.Positive(t, reply.Usage.TotalTokens)
	accounted(t, p, c, "completions", false, true)

	stream := sdk.Completions.NewStreaming(t.Context(), params)
	var text strings.Builder
	for stream.Next() {
		require.Equal(t, sim("instruct"), stream.Current().Model)
		require.NotEmpty(t, stream.Current().Choices, "the usage was not asked for")
		text.WriteString(stream.Current().Choices[0].Text)
	}
	require.NoError(t, stream.Err())
	require.Equal(t, reply.Choices[0].Text, text.String())
	accounted(t, p, c, "completions", true, true)
}

func embeddings(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	reply, err := sdk.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: sim("embed"), Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}}, Dimensions: param.NewOpt[int64](8),
	})
	require.NoError(t, err)
	require.Equal(t, sim("embed"), reply.Model)
	require.Len(t, reply.Data, 2)
	require.Len(t, reply.Data[0].Embedding, 8)
	require.Positive(t, reply.Usage.PromptTokens)
	accounted(t, p, c, "embeddings", false, true)
}

func moderations(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	reply, err := sdk.Moderations.New(t.Context(), openai.ModerationNewParams{
		Model: sim("moderate"), Input: openai.ModerationNewParamsInputUnion{OfString: param.NewOpt("Good morning.")},
	})
	require.NoError(t, err)
	require.Equal(t, sim("moderate"), reply.Model)
	require.Len(t, reply.Results, 1)
	accounted(t, p, c, "moderations", false, true) // an estimate
}

func makeImages(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	reply, err := sdk.Images.Generate(t.Context(), openai.ImageGenerateParams{Model: sim("image"), Prompt: "A signal box"})
	require.NoError(t, err)
	require.NotEmpty(t, reply.Data[0].B64JSON)
	require.Positive(t, reply.Usage.TotalTokens)
	accounted(t, p, c, "images", false, true)

	stream := sdk.Images.GenerateStreaming(t.Context(), openai.ImageGenerateParams{
		Model: sim("image"), Prompt: "A signal box", PartialImages: param.NewOpt[int64](2),
	})
	var kinds []string
	for stream.Next() {
		kinds = append(kinds, stream.Current().Type)
		require.NotEmpty(t, stream.Current().B64JSON)
	}
	require.NoError(t, stream.Err())
	require.Equal(t, []string{"image_generation.partial_image", "image_generation.partial_image", "image_generation.completed"}, kinds)
	accounted(t, p, c, "images", true, true)
}

func editImages(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	reply, err := sdk.Images.Edit(t.Context(), openai.ImageEditParams{
		Model: sim("image"), Prompt: "Add a train", Image: openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{picture(t), picture(t)}},
		Mask: picture(t),
	})
	require.NoError(t, err)
	require.NotEmpty(t, reply.Data[0].B64JSON)
	accounted(t, p, c, "image_edits", false, true)
}

func speech(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	params := openai.AudioSpeechNewParams{
		Model: sim("voice"), Input: "Mind the gap between the train and the platform.",
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: param.NewOpt("alloy")}, ResponseFormat: openai.AudioSpeechNewParamsResponseFormatWAV,
	}
	resp, err := sdk.Audio.Speech.New(t.Context(), params)
	require.NoError(t, err)
	sound, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "audio/wav", resp.Header.Get("Content-Type"))
	require.Equal(t, "RIFFMind the gap between the train and the platform.", string(sound), "to the byte")
	require.Equal(t, "speech", p.On(t).Logged(c.witness.last()).Get("surface").Str)

	params.StreamFormat = openai.AudioSpeechNewParamsStreamFormatSSE
	resp, err = sdk.Audio.Speech.New(t.Context(), params)
	require.NoError(t, err)
	events := ssestream.NewDecoder(resp)
	var kinds []string
	for events.Next() {
		kinds = append(kinds, gjson.GetBytes(events.Event().Data, "type").Str)
	}
	require.NoError(t, events.Err())
	require.NoError(t, events.Close())
	require.Equal(t, "speech.audio.delta", kinds[0])
	require.Equal(t, "speech.audio.done", kinds[len(kinds)-1])
	accounted(t, p, c, "speech", true, true)
}

func transcriptions(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	reply, err := sdk.Audio.Transcriptions.New(t.Context(), openai.AudioTranscriptionNewParams{Model: sim("scribe"), File: recording()})
	require.NoError(t, err)
	require.NotEmpty(t, reply.Text)
	require.Equal(t, "transcriptions", p.On(t).Logged(c.witness.last()).Get("surface").Str)

	// The SDK has no method for text.
	var text string
	require.NoError(t, sdk.Post(t.Context(), "audio/transcriptions", openai.AudioTranscriptionNewParams{
		Model: sim("scribe"), File: recording(), ResponseFormat: openai.AudioResponseFormatText,
	}, &text, option.WithHeader("Accept", "text/plain")))
	require.Equal(t, reply.Text, strings.TrimSpace(text))

	stream := sdk.Audio.Transcriptions.NewStreaming(t.Context(), openai.AudioTranscriptionNewParams{Model: sim("scribe"), File: recording()})
	var deltas strings.Builder
	last := ""
	for stream.Next() {
		event := stream.Current()
		last = event.Type
		deltas.WriteString(event.Delta)
	}
	require.NoError(t, stream.Err())
	require.Equal(t, "transcript.text.done", last)
	require.Equal(t, reply.Text, deltas.String())
	require.True(t, p.On(t).Logged(c.witness.last()).Get("stream").Bool())
}

func translations(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	reply, err := sdk.Audio.Translations.New(t.Context(), openai.AudioTranslationNewParams{Model: sim("scribe"), File: recording()}) //nolint:staticcheck // callers still use it
	require.NoError(t, err)
	require.NotEmpty(t, reply.Text)
	require.Equal(t, "translations", p.On(t).Logged(c.witness.last()).Get("surface").Str)
	require.Equal(t, http.StatusOK, int(p.On(t).Logged(c.witness.last()).Get("status").Int()))
}

func openAIModels(t *testing.T, p *harness.Platform) {
	t.Helper()
	sdk := openAIOver(connect(p, p.Key().Secret))
	page, err := sdk.Models.List(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(page.Data), 10)
	one, err := sdk.Models.Get(t.Context(), sim("gpt"))
	require.NoError(t, err)
	require.Equal(t, sim("gpt"), one.ID)
	require.NotEmpty(t, one.OwnedBy)
	_, err = sdk.Models.Get(t.Context(), "sim/none")
	require.Equal(t, http.StatusNotFound, openAIFailed(t, err).status)
}
