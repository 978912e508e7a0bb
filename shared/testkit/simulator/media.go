package simulator

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

func mediaRoutes() []route {
	both := []platform{openAI, azure}
	return []route{
		{method: http.MethodPost, path: "/images/generations", format: chatFormat{}, body: jsonBody, serve: (*exchange).images, on: both},
		{method: http.MethodPost, path: "/images/edits", format: chatFormat{}, body: formBody, serve: (*exchange).images, on: both},
		{method: http.MethodPost, path: "/audio/speech", format: chatFormat{}, body: jsonBody, serve: (*exchange).speech, on: both},
		{method: http.MethodPost, path: "/audio/transcriptions", format: chatFormat{}, body: formBody, serve: (*exchange).transcribe, on: both},
		{method: http.MethodPost, path: "/audio/translations", format: chatFormat{}, body: formBody, serve: (*exchange).transcribe, on: both},
	}
}

// setting is a parameter of a JSON body or a form.
func (x *exchange) setting(name string) string {
	if x.form != nil {
		return x.form.value(name)
	}
	return x.json.Get(name).String()
}

func (x *exchange) number(name string, otherwise, least, most int) (int, *refusal) {
	text := x.setting(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, refuse(name, "Invalid '%s': expected an integer from %d to %d.", name, least, most)
	}
	return n, nil
}

// chosen checks a parameter that takes one of some words.
func (x *exchange) chosen(name, words, otherwise string) (string, *refusal) {
	value := firstWord(x.setting(name), otherwise)
	if !set(words)[value] {
		return "", oneOf(name, value, words)
	}
	return value, nil
}

// images makes and edits pictures
// (https://platform.openai.com/docs/api-reference/images).
func (x *exchange) images() {
	job, refused := x.imageJob()
	if refused != nil {
		x.refuse(refused)
		return
	}
	about := []any{"background", "opaque", "output_format", job.format, "quality", "medium", "size", "1024x1024"}
	usage := any(omitted)
	if !x.fault.NoUsage {
		text := len(pieces(job.prompt))
		usage = obj("total_tokens", text+job.inputs+272*job.n, "input_tokens", text+job.inputs, "output_tokens", 272*job.n,
			"input_tokens_details", obj("text_tokens", text, "image_tokens", job.inputs))
	}
	created := x.server.options.Now().Unix()
	if x.setting("stream") != "true" {
		var data []json.RawMessage
		for range job.n {
			if job.url {
				data = append(data, obj("url", "https://images.example/"+hexOf(x.body)+".png", "revised_prompt", job.prompt))
			} else {
				data = append(data, obj("b64_json", pixel))
			}
		}
		x.plain(obj(append([]any{"created", created, "data", data, "usage", usage}, about...)...))
		return
	}
	var out []frame
	event := func(name string, kind frameKind, pairs ...any) {
		pairs = append(append([]any{"type", name, "b64_json", pixel, "created_at", created}, about...), pairs...)
		out = append(out, frame{event: name, data: string(obj(pairs...)), kind: kind})
	}
	for i := range job.partial {
		event(job.event+".partial_image", frameContent, "partial_image_index", i)
	}
	event(job.event+".completed", frameTerminal, "usage", usage)
	x.stream(out)
}

type imageJob struct {
	prompt, event, format string
	n, partial, inputs    int
	url                   bool
}

func (x *exchange) imageJob() (imageJob, *refusal) {
	job := imageJob{prompt: x.setting("prompt"), event: "image_generation", url: x.setting("response_format") == "url"}
	if job.prompt == "" {
		return job, missing("prompt")
	}
	var refused *refusal
	if job.n, refused = x.number("n", 1, 1, 10); refused != nil {
		return job, refused
	}
	if job.partial, refused = x.number("partial_images", 0, 0, 3); refused != nil {
		return job, refused
	}
	if job.format, refused = x.chosen("output_format", "png jpeg webp", "png"); refused != nil {
		return job, refused
	}
	if _, refused = x.chosen("response_format", "url b64_json", "b64_json"); refused != nil {
		return job, refused
	}
	if x.form == nil {
		return job, nil
	}
	job.event = "image_edit"
	for _, f := range x.form.files {
		switch {
		case f.field != "image" && f.field != "image[]" && f.field != "mask":
			return job, chatFormat{}.unknown(f.field)
		case !strings.HasPrefix(f.kind, "image/"):
			return job, &refusal{status: 400, param: f.field, code: "unsupported_file_mimetype", message: "Invalid file '" + f.field +
				"': unsupported mimetype ('" + f.kind + "'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'."}
		case len(f.data) == 0:
			return job, refuse(f.field, "The file '%s' is empty.", f.name)
		case f.field != "mask":
			job.inputs += imageTokens
		}
	}
	if job.inputs == 0 {
		return job, missing("image")
	}
	return job, nil
}

// soundKinds are the formats of speech and what begins them.
var soundKinds = map[string]struct{ media, magic string }{
	"mp3":  {"audio/mpeg", "ID3"},
	"opus": {"audio/opus", "OggS"},
	"aac":  {"audio/aac", "\xff\xf1"},
	"flac": {"audio/flac", "fLaC"},
	"wav":  {"audio/wav", "RIFF"},
	"pcm":  {"audio/pcm", "\x00\x00"},
}

// speech is https://platform.openai.com/docs/api-reference/audio/createSpeech.
func (x *exchange) speech() {
	input := x.json.Get("input").Str
	format, refused := x.chosen("response_format", "mp3 opus aac flac wav pcm", "mp3")
	stream, again := x.chosen("stream_format", "audio sse", "audio")
	switch {
	case x.model == "":
		refused = missing("model")
	case input == "":
		refused = missing("input")
	case len(input) > 4096:
		refused = &refusal{status: 400, param: "input", code: "string_too_long", message: "Invalid 'input': string too long. Expected a string with maximum length 4096."}
	case x.json.Get("voice").String() == "":
		refused = missing("voice")
	case refused == nil:
		refused = again
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	kind := soundKinds[format]
	sounds := []string{kind.magic}
	sounds = append(sounds, pieces(input)...)
	if stream != "sse" {
		x.spoken(kind.media, sounds)
		return
	}
	var out []frame
	for _, s := range sounds {
		out = append(out, frame{kind: frameContent, data: string(obj("type", "speech.audio.delta", "audio", base64Text(s)))})
	}
	usage := any(omitted)
	if !x.fault.NoUsage {
		usage = tokenUsage(len(pieces(input)), 10*len(pieces(input)))
	}
	x.stream(append(out, frame{kind: frameTerminal, data: string(obj("type", "speech.audio.done", "usage", usage))}))
}

// spoken writes binary data in chunks, as it is spoken.
func (x *exchange) spoken(media string, sounds []string) {
	if x.fault.Short || x.fault.CutAfter == 0 && x.fault.HangAfter == 0 && x.fault.TPS == 0 && len(sounds) < 3 {
		x.whole(media, []byte(strings.Join(sounds, "")))
		return
	}
	var out []frame
	for _, s := range sounds {
		out = append(out, frame{kind: frameContent, data: s})
	}
	x.streamAs(sound(media), out)
}

// sound is a body that is no events.
type sound string

func (b sound) media() string { return string(b) }

func (sound) spell(_ Fault, fr frame) []byte { return []byte(fr.data) }

func (sound) end() []byte { return nil }

// transcribe writes down and translates speech
// (https://platform.openai.com/docs/api-reference/audio/createTranscription).
func (x *exchange) transcribe() {
	translates := x.route.path == "/audio/translations"
	words := "json text srt verbose_json vtt"
	if !translates {
		words += " diarized_json"
	}
	format, refused := x.chosen("response_format", words, "json")
	file, ok := x.form.file("file")
	switch {
	case x.model == "":
		refused = missing("model")
	case !ok:
		refused = missing("file")
	case len(file.data) == 0:
		refused = refuse("file", "Audio file is too short. Minimum audio length is 0.1 seconds.")
	case !soundFile(file.name):
		refused = refuse("file", "Unrecognized file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']")
	case len(x.form.files) > 1:
		refused = refuse("file", "Only one file is accepted.")
	case x.form.value("stream") == "true" && format != "json" && format != "text":
		refused = refuse("stream", "The response format '%s' cannot be streamed.", format)
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	text := "You sent " + count(len(file.data), "byte") + " of speech in the file " + file.name + "."
	if hint := x.form.value("prompt"); hint != "" {
		text += " Your hint was: " + quote(hint) + "."
	}
	if x.form.value("stream") == "true" && !translates {
		x.streamTranscript(text, len(file.data))
		return
	}
	x.transcript(format, text, len(file.data), translates)
}

func soundFile(name string) bool {
	return set("flac m4a mp3 mp4 mpeg mpga oga ogg wav webm")[name[strings.LastIndexByte(name, '.')+1:]]
}

func transcriptUsage(text string, size int) json.RawMessage {
	audio, out := max(size/100, 1), len(pieces(text))
	return obj("type", "tokens", "input_tokens", audio, "input_token_details", obj("text_tokens", 0, "audio_tokens", audio),
		"output_tokens", out, "total_tokens", audio+out)
}

func (x *exchange) streamTranscript(text string, size int) {
	var out []frame
	for _, word := range pieces(text) {
		out = append(out, frame{kind: frameContent, data: string(obj("type", "transcript.text.delta", "delta", word))})
	}
	usage := any(omitted)
	if !x.fault.NoUsage {
		usage = transcriptUsage(text, size)
	}
	x.stream(append(out, frame{kind: frameTerminal, data: string(obj("type", "transcript.text.done", "text", text, "usage", usage))}))
}

func (x *exchange) transcript(format, text string, size int, translates bool) {
	switch format {
	case "text":
		x.whole("text/plain; charset=utf-8", []byte(text+"\n"))
	case "srt":
		x.whole("text/plain; charset=utf-8", []byte("1\n00:00:00,000 --> 00:00:03,000\n"+text+"\n\n"))
	case "vtt":
		x.whole("text/plain; charset=utf-8", []byte("WEBVTT\n\n00:00:00.000 --> 00:00:03.000\n"+text+"\n\n"))
	case "verbose_json":
		task := "transcribe"
		if translates {
			task = "translate"
		}
		segment := obj("id", 0, "seek", 0, "start", 0.0, "end", 3.0, "text", text, "tokens", list[int](), "temperature", 0.0,
			"avg_logprob", -0.2, "compression_ratio", 1.1, "no_speech_prob", 0.01)
		x.replied(obj("task", task, "language", firstWord(x.form.value("language"), "english"), "duration", 3.0, "text", text,
			"segments", list(segment), "usage", obj("type", "duration", "seconds", 3)), nil)
	default:
		usage := any(transcriptUsage(text, size))
		if translates {
			usage = omitted
		}
		x.replied(obj("text", text, "usage", usage), nil)
	}
}
