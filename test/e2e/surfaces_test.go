//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// form is how a surface's errors look.
type form int

const (
	openAIForm form = iota
	anthropicForm
	geminiForm
)

// served is one method and path of the inference API, with a request that it
// takes. {model} stands for the id of a model that is for it, {video} and the
// like for the id of a thing that was made.
type served struct {
	surface, method, path string
	model                 string // of the simulator's catalog
	body                  string // JSON; or, as name=value lines, a form
	form                  form
	free                  bool // nothing is used up
	upgrade               bool
}

const formMark = "form\n"

// inference is the table of the inference API, every line of it.
func inference() []served {
	const text, user = `{"model":"{model}","input":"Good morning"}`, `"messages":[{"role":"user","content":"Good morning"}]`
	const contents = `{"contents":[{"role":"user","parts":[{"text":"Good morning"}]}]}`
	post := func(surface, path, model, body string) served {
		return served{surface: surface, method: http.MethodPost, path: path, model: model, body: body}
	}
	about := func(surface, method, path string) served {
		return served{surface: surface, method: method, path: path, free: true}
	}
	messages := func(s served) served { s.form = anthropicForm; return s }
	gemini := func(path string, free bool) served {
		s := post("gemini", path, "gemini", contents)
		s.form, s.free = geminiForm, free
		return s
	}
	counted := post("messages", "/v1/messages/count_tokens", "claude", `{"model":"{model}",`+user+`}`)
	counted.free = true
	file := post("files", "/v1/files", "instruct", formMark+"purpose=user_data\nmodel={model}\n@file=a.json")
	file.free = true
	batch := post("batches", "/v1/batches", "", `{"input_file_id":"{batchfile}","endpoint":"/v1/chat/completions","completion_window":"24h"}`)
	return []served{
		post("chat", "/v1/chat/completions", "gpt", `{"model":"{model}",`+user+`}`),
		post("responses", "/v1/responses", "gpt", text),
		messages(post("messages", "/v1/messages", "claude", `{"model":"{model}","max_tokens":64,`+user+`}`)), messages(counted),
		gemini("/v1beta/models/{model}:generateContent", false), gemini("/v1beta/models/{model}:streamGenerateContent?alt=sse", false),
		gemini("/v1beta/models/{model}:countTokens", true), gemini("/v1beta/models/{escaped}:generateContent", false),
		post("completions", "/v1/completions", "instruct", `{"model":"{model}","prompt":"Good morning"}`),
		post("embeddings", "/v1/embeddings", "embed", text), post("moderations", "/v1/moderations", "moderate", text),
		post("rerank", "/v1/rerank", "rerank", `{"model":"{model}","query":"trains","documents":["a train","a ship"]}`),
		post("images", "/v1/images/generations", "image", `{"model":"{model}","prompt":"A train"}`),
		post("image_edits", "/v1/images/edits", "image", formMark+"model={model}\nprompt=A train\n@image=a.png"),
		post("speech", "/v1/audio/speech", "voice", `{"model":"{model}","input":"Good morning","voice":"alloy"}`),
		post("transcriptions", "/v1/audio/transcriptions", "scribe", formMark+"model={model}\n@file=a.wav"),
		post("translations", "/v1/audio/translations", "scribe", formMark+"@file=a.wav\nmodel={model}"),
		post("ocr", "/v1/ocr", "ocr", `{"model":"{model}","document":{"type":"document_url","document_url":"https://files.example/a.pdf"}}`),
		post("ocr", "/v1/ocr", "ocr", formMark+"model={model}\n@file=a.pdf"),
		post("parse", "/v1/parse", "ocr", text), post("parse", "/v1/parse", "ocr", formMark+"model={model}\n@file=a.pdf"),
		post("decisions", "/v1/decisions", "decide", `{"model":"{model}","input":"Go or stop?","options":["go","stop"]}`),
		post("videos", "/v1/videos", "video", `{"model":"{model}","prompt":"A train"}`),
		post("videos", "/v1/videos", "video", formMark+"prompt=A train\nmodel={model}"),
		about("videos", http.MethodGet, "/v1/videos/{video}"), about("videos", http.MethodGet, "/v1/videos/{video}/content"),
		about("videos", http.MethodDelete, "/v1/videos/{video}"),
		post("music", "/v1/music", "song", `{"model":"{model}","prompt":"A train"}`), about("music", http.MethodGet, "/v1/music/{song}"),
		file, about("files", http.MethodGet, "/v1/files"), about("files", http.MethodGet, "/v1/files/{file}"),
		about("files", http.MethodGet, "/v1/files/{file}/content"), about("files", http.MethodDelete, "/v1/files/{file}"),
		batch, about("batches", http.MethodPost, "/v1/batches/{batch}/cancel"), // before it is complete
		about("batches", http.MethodGet, "/v1/batches"), about("batches", http.MethodGet, "/v1/batches/{batch}"),
		{surface: "realtime", method: http.MethodGet, path: "/v1/realtime?model={model}", model: "realtime", upgrade: true},
	}
}

// things are ids of what was made, by the words that stand for them.
func things(t *testing.T, p *harness.Platform, key client.Key) *strings.Replacer {
	t.Helper()
	sdk := openAIOver(connect(p, key.Secret))
	song, err := p.Post(t.Context(), 0, key.Secret, "/v1/music", []byte(`{"model":"`+sim("song")+`","prompt":"A train"}`))
	require.NoError(t, err)
	input := newBatchFile(t, sdk).ID
	return strings.NewReplacer(
		"{batchfile}", input, "{file}", newBatchFile(t, sdk).ID, "{video}", newVideoDone(t, sdk), "{batch}", newBatch(t, sdk, input).ID, "{song}", song.Get("id").Str,
	)
}

// call is the request of a line.
func (s served) call(t *testing.T, p *harness.Platform, ids *strings.Replacer, model, secret string) client.Call {
	t.Helper()
	models := strings.NewReplacer("{model}", model, "{escaped}", strings.ReplaceAll(model, "/", "%2F"))
	c := client.Call{Method: s.method, URL: p.Gateways[0] + models.Replace(ids.Replace(s.path)), Bearer: secret, Header: http.Header{}}
	body := models.Replace(ids.Replace(s.body))
	if rest, ok := strings.CutPrefix(body, formMark); ok {
		c.Body, body = nil, ""
		kind := ""
		c.Body, kind = multipartOf(t, rest)
		c.Header.Set("Content-Type", kind)
	}
	if body != "" {
		c.Body = []byte(body)
	}
	if s.upgrade {
		for name, value := range map[string]string{
			"Upgrade": "websocket", "Connection": "Upgrade", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
		} {
			c.Header.Set(name, value)
		}
	}
	return c
}

// multipartOf writes lines of name=value, and of @name=filename for files.
func multipartOf(t *testing.T, lines string) (body []byte, contentType string) {
	t.Helper()
	kinds := map[string]string{"png": "image/png", "wav": "audio/wav", "pdf": "application/pdf", "json": "application/json"}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, _ := strings.Cut(line, "=")
		file, isFile := strings.CutPrefix(name, "@")
		if !isFile {
			require.NoError(t, w.WriteField(name, value))
			continue
		}
		_, ending, _ := strings.Cut(value, ".")
		part, err := w.CreatePart(map[string][]string{
			"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", file, value)}, "Content-Type": {kinds[ending]},
		})
		require.NoError(t, err)
		_, err = part.Write([]byte(`{"some":"bytes"}`))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes(), w.FormDataContentType()
}

// sendCall sends a call. A connection that was taken over is ended at once.
func sendCall(t *testing.T, p *harness.Platform, c client.Call) client.Answer {
	t.Helper()
	if c.Header.Get("Upgrade") == "" {
		answer, err := p.Do(t.Context(), c)
		require.NoError(t, err)
		return answer
	}
	resp, err := p.Open(t.Context(), c)
	require.NoError(t, err)
	answer := client.Answer{Status: resp.StatusCode, Header: resp.Header}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		var b bytes.Buffer
		_, err = b.ReadFrom(resp.Body)
		require.NoError(t, err)
		answer.Body = b.Bytes()
		require.NoError(t, resp.Body.Close())
		return answer
	}
	conversation, ok := resp.Body.(io.ReadWriteCloser)
	require.True(t, ok)
	_, err = conversation.Write(goodbye)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, conversation) // until the gateway has said goodbye too
	require.NoError(t, err)
	require.NoError(t, conversation.Close())
	return answer
}

// goodbye is a client's close frame with the status 1000 (RFC 6455, section
// 5.5.1), under a mask of zeros.
var goodbye = []byte{0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8}

// inForm asserts that an answer is an error in a surface's own words.
func (f form) inForm(t *testing.T, answer client.Answer, status int, code string) {
	t.Helper()
	require.Equal(t, status, answer.Status, "%s", answer.Body)
	own := "error.code"
	switch f {
	case anthropicForm:
		require.Equal(t, "error", answer.Get("type").Str, "%s", answer.Body)
		require.NotEmpty(t, answer.Get("error.type").Str)
		require.Equal(t, answer.Header.Get(client.HeaderRequestID), answer.Get("request_id").Str)
	case geminiForm:
		own = "error.error_code"
		require.EqualValues(t, status, answer.Get("error.code").Int(), "%s", answer.Body)
		require.NotEmpty(t, answer.Get("error.status").Str)
	default:
		require.NotEmpty(t, answer.Get("error.type").Str, "%s", answer.Body)
		require.True(t, answer.Get("error.param").Exists())
	}
	require.Equal(t, code, answer.Get(own).Str, "%s", answer.Body)
	require.NotEmpty(t, answer.Get("error.message").Str)
	require.Equal(t, answer.Header.Get(client.HeaderRequestID), answer.Get("error.request_id").Str)
	require.NotEmpty(t, answer.Get("error.origin").Str)
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
}

func TestSurfaces(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true})
	key := p.Key()
	ids := things(t, p, key)
	for _, s := range inference() {
		t.Run(s.method+" "+s.path+" "+strings.Fields(s.body + " -")[0][:1], func(t *testing.T) {
			s.form.inForm(t, sendCall(t, p, s.call(t, p, ids, sim(s.model), "sk-wrong")), http.StatusUnauthorized, "unauthorized")
			if s.model != "" {
				s.form.inForm(t, sendCall(t, p, s.call(t, p, ids, "sim/none", key.Secret)), http.StatusNotFound, "model_not_found")
			}
			if s.body != "" {
				broken := s.call(t, p, ids, sim(s.model), key.Secret)
				broken.Body = []byte(`{"model": nothing`)
				broken.Header.Set("Content-Type", "application/json")
				status, code := http.StatusBadRequest, "invalid_json"
				if strings.HasPrefix(s.body, formMark) && (s.surface == "image_edits" || s.surface == "files" || strings.HasPrefix(s.path, "/v1/audio")) {
					status, code = http.StatusUnsupportedMediaType, "unsupported_media_type" // only a form will do
				}
				s.form.inForm(t, sendCall(t, p, broken), status, code)
			}
			other := s.call(t, p, ids, sim(s.model), key.Secret)
			other.Method = http.MethodPatch
			other.Header.Del("Upgrade")
			s.form.inForm(t, sendCall(t, p, other), http.StatusMethodNotAllowed, "method_not_allowed")

			answer := sendCall(t, p, s.call(t, p, ids, sim(s.model), key.Secret))
			want := http.StatusOK
			if s.upgrade {
				want = http.StatusSwitchingProtocols
			}
			require.Equal(t, want, answer.Status, "%s", answer.Body)
			if model := answer.Get("model"); s.method == http.MethodPost && model.Exists() {
				require.Equal(t, sim(s.model), model.Str, "%s", answer.Body)
			}
			if s.path == "/v1/files" || s.path == "/v1/batches" {
				if s.method == http.MethodGet {
					return // a list is no request to a provider
				}
			}
			entry := p.On(t).Logged(answer.Header)
			require.Equal(t, s.surface, entry.Get("surface").Str)
			require.Equal(t, "success", entry.Get("outcome").Str, "%s", entry.Raw)
			if s.free {
				require.Zero(t, entry.Get("cost_nanos").Int(), "%s", entry.Raw)
				require.Empty(t, entry.Get("cost_lines").Array())
			}
		})
	}
}
