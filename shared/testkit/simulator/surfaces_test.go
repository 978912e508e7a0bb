package simulator_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

func TestCompletions(t *testing.T) {
	r := start(t, simulator.Options{})
	const ask = `{"model":"m","prompt":"Say hello"}`
	plain := r.good(http.MethodPost, "/as-openai/v1/completions", openAIHeader(), ask)
	require.Equal(t, "text_completion", plain.Get("object").Str)
	require.Contains(t, plain.Get("choices.0.text").Str, "Say hello")
	var text string
	var usage int64
	for _, e := range r.streamed("/as-openai/v1/completions", openAIHeader(), with(ask, `"prompt"`, `"stream":true,"stream_options":{"include_usage":true},"prompt"`)) {
		text += e.Get("choices.0.text").Str
		usage = e.Get("usage.total_tokens").Int()
	}
	require.Equal(t, plain.Get("choices.0.text").Str, text)
	require.Equal(t, plain.Get("usage.total_tokens").Int(), usage)
	r.refused("/as-openai/v1/completions", openAIHeader(), `{"model":"m"}`, 400, "Missing required parameter: 'prompt'")
	r.refused("/as-openai/v1/completions", openAIHeader(), `{"model":"m","prompt":{}}`, 400, "Invalid type for 'prompt'")
	r.refused("/as-openai/v1/completions", openAIHeader(), with(ask, `"prompt"`, `"messages":[],"prompt"`), 400, "Unknown parameter")
}

func TestModerationsAndRerank(t *testing.T) {
	r := start(t, simulator.Options{})
	both := r.ask("/v1/moderations", `{"model":"m","input":["hello","I kill you"]}`)
	require.False(t, both.Get("results.0.flagged").Bool())
	require.True(t, both.Get("results.1.categories.violence").Bool())
	require.Len(t, r.ask("/v1/moderations", `{"input":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://a"}}]}`).Get("results").Array(), 1)
	r.refused("/v1/moderations", nil, `{"model":"m"}`, 400, "'input'")
	r.refused("/v1/moderations", nil, `{"input":[{"type":"input_text"}]}`, 400, "Supported values are: 'text'")

	ranked := r.ask("/v1/rerank", `{"model":"m","query":"red apple","documents":["green pear",{"text":"a red apple"},"apple pie"],"top_n":2,"return_documents":true}`)
	require.Equal(t, int64(1), ranked.Get("results.0.index").Int())
	require.Equal(t, "a red apple", ranked.Get("results.0.document.text").Str)
	require.Len(t, ranked.Get("results").Array(), 2)
	require.Positive(t, ranked.Get("usage.total_tokens").Int())
	require.Positive(t, ranked.Get("meta.billed_units.search_units").Int())
	for body, words := range map[string]string{
		`{"model":"m","documents":["a"]}`: "'query'", `{"model":"m","query":"a","documents":[]}`: "must not be empty",
		`{"query":"a","documents":["a"]}`: "'model'", `{"model":"m","query":"a","documents":["a"],"top_n":0}`: "top_n", `{"model":"m","query":"a","documents":[1]}`: "documents[0]",
	} {
		r.refused("/v1/rerank", nil, body, 400, words)
	}
}

func TestDocuments(t *testing.T) {
	r := start(t, simulator.Options{})
	read := r.ask("/v1/ocr", `{"model":"m","document":{"type":"document_url","document_url":"https://a.example/a.pdf"},"pages":[0,1]}`)
	require.Contains(t, read.Get("pages.1.markdown").Str, "a.pdf")
	require.Equal(t, int64(2), read.Get("usage_info.pages_processed").Int())
	r.refused("/v1/ocr", nil, `{"model":"m","document":{"type":"pdf"}}`, 400, "Input tag 'pdf'")
	h, body := form(part{field: "model", data: "m"}, part{field: "file", name: "b.pdf", kind: "application/pdf", data: "%PDF"})
	require.Contains(t, r.good(http.MethodPost, "/v1/ocr", h, body).Get("pages.0.markdown").Str, "b.pdf")
	require.Contains(t, r.good(http.MethodPost, "/v1/parse", h, body).Get("content").Str, "b.pdf")
	require.Positive(t, r.ask("/v1/parse", `{"model":"m","document":{"url":"https://a"}}`).Get("usage.total_tokens").Int())
	r.refused("/v1/parse", nil, `{"model":"m"}`, 400, "'input'")
	h, body = form(part{field: "model", data: "m"})
	r.refused("/v1/parse", h, body, 400, "'document'")
	require.Equal(t, "billing", r.ask("/v1/decisions", `{"model":"m","input":"a billing matter","options":["support","billing"]}`).Get("decision").Str)
	r.refused("/v1/decisions", nil, `{"model":"m","input":"a"}`, 400, "'options'")
}

func TestImages(t *testing.T) {
	r := start(t, simulator.Options{})
	const path, ask = "/as-openai/v1/images/generations", `{"model":"m","prompt":"a cat","n":2}`
	made := r.good(http.MethodPost, path, openAIHeader(), ask)
	require.Len(t, made.Get("data").Array(), 2)
	raw, err := base64.StdEncoding.DecodeString(made.Get("data.0.b64_json").Str)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(raw), "\x89PNG"))
	require.Positive(t, made.Get("usage.output_tokens").Int())
	events := r.streamed(path, openAIHeader(), with(ask, `"n":2`, `"stream":true,"partial_images":2`))
	require.Len(t, events, 3)
	require.Equal(t, "image_generation.partial_image", events[1].Get("type").Str)
	require.Equal(t, "image_generation.completed", events[2].Get("type").Str)
	require.Positive(t, events[2].Get("usage.total_tokens").Int())
	for body, words := range map[string]string{
		`{"model":"m"}`: "'prompt'", `{"model":"m","prompt":"a","n":11}`: "'n'", `{"model":"m","prompt":"a","partial_images":4}`: "partial_images",
		`{"model":"m","prompt":"a","output_format":"gif"}`: "'gif'", `{"model":"m","prompt":"a","seed":1}`: "Unknown parameter: 'seed'",
	} {
		r.refused(path, openAIHeader(), body, 400, words)
	}

	edit := func(parts ...part) (http.Header, string) {
		h, body := form(append(parts, part{field: "prompt", data: "a hat"}, part{field: "model", data: "m"})...)
		h.Set("Authorization", "Bearer "+simulator.OpenAIKey)
		return h, body
	}
	png := part{field: "image[]", name: "a.png", kind: "image/png", data: "PNG"}
	h, body := edit(png, png, part{field: "mask", name: "m.png", kind: "image/png", data: "PNG"})
	edited := r.good(http.MethodPost, "/as-openai/v1/images/edits", h, body)
	require.Equal(t, int64(170), edited.Get("usage.input_tokens_details.image_tokens").Int())
	h, body = edit(png, part{field: "stream", data: "true"}, part{field: "partial_images", data: "1"})
	require.Equal(t, "image_edit.completed", r.streamed("/as-openai/v1/images/edits", h, body)[1].Get("type").Str)
	h, body = edit()
	r.refused("/as-openai/v1/images/edits", h, body, 400, "'image'")
	h, body = edit(part{field: "image", name: "a.txt", kind: "text/plain", data: "x"})
	r.refused("/as-openai/v1/images/edits", h, body, 400, "unsupported mimetype")
	h, body = edit(png, part{field: "models[]", data: "m"})
	r.refused("/as-openai/v1/images/edits", h, body, 400, "Unknown parameter: 'models[]'")
	r.refused("/as-openai/v1/images/edits", openAIHeader(), ask, 400, "multipart/form-data")
}

func TestSpeech(t *testing.T) {
	r := start(t, simulator.Options{})
	const path, ask = "/as-openai/v1/audio/speech", `{"model":"m","input":"Hello there you","voice":"alloy"}`
	for format, want := range map[string]struct{ media, magic string }{
		"mp3": {"audio/mpeg", "ID3"}, "wav": {"audio/wav", "RIFF"}, "opus": {"audio/opus", "OggS"}, "pcm": {"audio/pcm", "\x00"}, "flac": {"audio/flac", "fLaC"},
	} {
		resp, sound := r.do(http.MethodPost, path, openAIHeader(), with(ask, `"input"`, `"response_format":"`+format+`","input"`))
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, want.media, resp.Header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(sound, want.magic))
		require.Equal(t, int64(-1), resp.ContentLength, "it comes in chunks")
	}
	events := r.streamed(path, openAIHeader(), with(ask, `"input"`, `"stream_format":"sse","input"`))
	require.Equal(t, "speech.audio.delta", events[0].Get("type").Str)
	require.Positive(t, events[len(events)-1].Get("usage.output_tokens").Int())
	for _, c := range [][2]string{
		{with(ask, `,"voice":"alloy"`, ""), "'voice'"},
		{with(ask, "Hello there you", ""), "'input'"},
		{with(ask, `"input"`, `"response_format":"ogg","input"`), "'ogg'"},
		{with(ask, `"input"`, `"stream":true,"input"`), "Unknown parameter: 'stream'"},
		{with(ask, "Hello", strings.Repeat("x", 4100)), "string too long"},
	} {
		r.refused(path, openAIHeader(), c[0], 400, c[1])
	}
}

func TestTranscriptions(t *testing.T) {
	r := start(t, simulator.Options{})
	const path = "/as-openai/v1/audio/transcriptions"
	wav := part{field: "file", name: "a.wav", kind: "audio/wav", data: "RIFF1234"}
	ask := func(path string, parts ...part) (*http.Response, string) {
		h, body := form(append([]part{{field: "model", data: "m"}, wav}, parts...)...)
		h.Set("Authorization", "Bearer "+simulator.OpenAIKey)
		return r.do(http.MethodPost, path, h, body)
	}
	format := func(name string) part { return part{field: "response_format", data: name} }
	_, text := ask(path)
	plain := gjson.Get(text, "text").Str
	require.Contains(t, plain, "8 bytes of speech in the file a.wav")
	require.Positive(t, gjson.Get(text, "usage.input_token_details.audio_tokens").Int())
	for name, want := range map[string]string{"text": plain + "\n", "srt": "1\n00:00:00,000 --> ", "vtt": "WEBVTT\n\n"} {
		resp, text := ask(path, format(name))
		require.True(t, strings.HasPrefix(text, want), text)
		require.Contains(t, resp.Header.Get("Content-Type"), "text/plain")
	}
	_, text = ask(path, format("verbose_json"))
	require.Equal(t, plain, gjson.Get(text, "segments.0.text").Str)
	_, text = ask("/as-openai/v1/audio/translations", format("verbose_json"))
	require.Equal(t, "translate", gjson.Get(text, "task").Str)

	h, body := form(part{field: "model", data: "m"}, wav, part{field: "stream", data: "true"})
	h.Set("Authorization", "Bearer "+simulator.OpenAIKey)
	var said string
	events := r.streamed(path, h, body)
	for _, e := range events {
		said += e.Get("delta").Str
	}
	require.Equal(t, plain, said)
	require.Positive(t, events[len(events)-1].Get("usage.total_tokens").Int())

	for _, c := range []struct {
		parts []part
		words string
	}{
		{[]part{format("xml")}, "'xml'"},
		{[]part{{field: "stream", data: "true"}, format("srt")}, "cannot be streamed"},
		{[]part{wav}, "Only one file"},
		{[]part{{field: "session_id", data: "s"}}, "Unknown parameter: 'session_id'"},
	} {
		resp, text := ask(path, c.parts...)
		require.Equal(t, 400, resp.StatusCode)
		require.Contains(t, text, c.words)
	}
	for _, c := range []struct {
		parts []part
		words string
	}{
		{[]part{wav}, "'model'"},
		{[]part{{field: "model", data: "m"}}, "'file'"},
		{[]part{{field: "model", data: "m"}, {field: "file", name: "a.txt", kind: "text/plain", data: "x"}}, "Unrecognized file format"},
	} {
		h, body := form(c.parts...)
		h.Set("Authorization", "Bearer "+simulator.OpenAIKey)
		r.refused(path, h, body, 400, c.words)
	}
	h.Set("Content-Type", "multipart/form-data")
	r.refused(path, h, body, 400, "has no boundary")
}
