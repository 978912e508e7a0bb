package surface_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/stream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// arrived is what the upstream got.
type arrived struct {
	method string
	path   string
	header http.Header
	body   []byte
}

// line is a gateway without policy: the edge, the attempts, the translation and
// the transport, over HTTP to an upstream of the test's.
type line struct {
	world
	runner *attempt.Runner
	url    string

	upstreams []string // base URLs, tried in this order
	kind      catalog.ProviderType

	mu    sync.Mutex
	got   []arrived
	seen  []call.Seen
	tried [][]decide.AttemptRecord
}

type noKeys struct{}

func (noKeys) Open(secret.Sealed, ...string) (secret.String, error) {
	return secret.String{}, errors.New("no keys here")
}

// newLine starts a gateway whose upstreams are of a kind, and answer with the
// handlers, one after the other when one fails.
func newLine(t *testing.T, kind catalog.ProviderType, handlers ...http.HandlerFunc) *line {
	t.Helper()
	l := &line{kind: kind}
	for _, handle := range handlers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			l.mu.Lock()
			l.got = append(l.got, arrived{method: r.Method, path: r.URL.Path, header: r.Header, body: body})
			l.mu.Unlock()
			handle(w, r)
		}))
		t.Cleanup(server.Close)
		l.upstreams = append(l.upstreams, server.URL+"/v1")
	}
	client := provider.New(noKeys{}, provider.Options{})
	t.Cleanup(client.Close)
	l.runner = attempt.New(attempt.Deps{
		Translator: translate.New(sameNames{}), Provider: client, Health: health.New(health.Options{Now: time.Now, Seed: func() uint64 { return 1 }}),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Rand: func() float64 { return 0 },
	}, attempt.DefaultLimits())
	l.serve = l.through
	l.url = start(t, &l.world, func(o *surface.Options) { o.BodyDir = t.TempDir() })
	return l
}

// through takes a call from the edge to the upstreams and back.
func (l *line) through(ctx context.Context, c call.Call, s call.Sink) {
	if c.Malformed != nil {
		s.Fail(c.Malformed, nil)
		return
	}
	if c.Object != "" {
		c.Owned = call.Owned{Endpoint: l.upstreams[0], ID: "up-" + c.Object}
	}
	step := decide.Step{Model: &catalog.Model{ID: "acme/small"}}
	for _, url := range l.upstreams {
		step.Candidates = append(step.Candidates, decide.Candidate{
			Endpoint:    &catalog.Endpoint{ID: url, UpstreamModel: "up-small", Surfaces: []catalog.Surface{c.Surface}},
			Provider:    &catalog.Provider{Slug: "north", Type: l.kind, BaseURL: url, Keyless: true},
			Credentials: []decide.CredentialUse{{Source: decide.CredentialNone}},
		})
	}
	trial := l.runner.Open(&c, &decide.Plan{Chain: []decide.Step{step}, Timeouts: policy.Timeouts{FirstByte: c.Request.FirstByte}})
	next, _ := trial.Next(ctx)
	reply, err := trial.Try(ctx, next)
	tried := trial.Attempts()
	if err == nil {
		var seen call.Seen
		seen, err = stream.New().Deliver(ctx, reply, nil, s)
		l.mu.Lock()
		l.seen, tried = append(l.seen, seen), reply.Attempts
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.tried = append(l.tried, tried)
	l.mu.Unlock()
	if err != nil {
		s.Fail(fault.Of(err), nil)
	}
}

func (l *line) last(t *testing.T) (arrived, call.Seen) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.NotEmpty(t, l.got, "no upstream was asked")
	var seen call.Seen
	if n := len(l.seen); n > 0 {
		seen = l.seen[n-1]
	}
	return l.got[len(l.got)-1], seen
}

// sample is what the tests send on a surface, and what an upstream of the same
// format answers.
type sample struct {
	kind   catalog.ProviderType
	path   string   // of the upstream
	json   string   // the least body, with a model unless the path has it
	form   []string // the same as fields, for surfaces that take forms
	media  string   // of the reply
	reply  string
	stream string   // the member or field that makes it stream
	events []string // of the streamed reply; the last ends it
	usage  string   // an event that only those get who asked for it
}

const (
	media  = `application/json`
	sound  = "audio/mpeg"
	models = `"model":"up-small"`
)

func event(data string) string { return "data: " + data + "\n\n" }

func named(name, data string) string { return "event: " + name + "\n" + event(data) }

var samples = map[catalog.Surface]sample{
	catalog.Chat: {
		kind: catalog.OpenAI, path: "/v1/chat/completions", json: `{"model":"acme/small","messages":[{"role":"user","content":"hi"}]}`, media: media,
		reply:  `{"id":"1",` + models + `,"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2},"x_new":1e400}`,
		stream: `"stream":true`,
		events: []string{
			event(`{` + models + `,"choices":[{"index":0,"delta":{"content":"hel"}}],"x_new":1}`), event(`{` + models + `,"choices":[{"index":0,"delta":{"content":"lo"}}]}`),
			event(`{` + models + `,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`), event("[DONE]"),
		},
		usage: event(`{` + models + `,"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`),
	},
	catalog.Responses: {
		kind: catalog.OpenAI, path: "/v1/responses", json: `{"model":"acme/small","input":"hi"}`, media: media,
		reply:  `{"id":"resp_1","object":"response","status":"completed",` + models + `,"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":3,"output_tokens":2},"x_new":1}`,
		stream: `"stream":true`,
		events: []string{
			named("response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":4,"delta":"hel"}`),
			named("response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":5,"delta":"lo"}`),
			named("response.completed", `{"type":"response.completed","sequence_number":6,"response":{"id":"resp_1","status":"completed",`+models+`,"output":[],"usage":{"input_tokens":3,"output_tokens":2}}}`),
		},
	},
	catalog.Messages: {
		kind: catalog.Anthropic, path: "/v1/messages", json: `{"model":"acme/small","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, media: media,
		reply:  `{"id":"msg_1","type":"message","role":"assistant",` + models + `,"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2},"x_new":1}`,
		stream: `"stream":true`,
		events: []string{
			named("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}`),
			named("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`),
			named("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`), named("message_stop", `{"type":"message_stop"}`),
		},
	},
	catalog.Gemini: {
		kind: catalog.Google, path: "/v1/models/up-small:generateContent", json: `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, media: media,
		reply: `{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2},"modelVersion":"up-small","x_new":1}`,
		events: []string{
			event(`{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]}}],"modelVersion":"up-small"}`),
			event(`{"candidates":[{"content":{"role":"model","parts":[{"text":"l"}]}}],"modelVersion":"up-small"}`),
			event(`{"candidates":[{"content":{"role":"model","parts":[{"text":"o"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}`),
		},
	},
	catalog.Completions: {
		kind: catalog.OpenAI, path: "/v1/completions", json: `{"model":"acme/small","prompt":"hi"}`, media: media,
		reply:  `{"id":"1",` + models + `,"choices":[{"index":0,"text":"hello","finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2},"x_new":1}`,
		stream: `"stream":true`,
		events: []string{
			event(`{` + models + `,"choices":[{"index":0,"text":"hel"}]}`), event(`{` + models + `,"choices":[{"index":0,"text":"lo"}]}`),
			event(`{` + models + `,"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`), event("[DONE]"),
		},
		usage: event(`{` + models + `,"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`),
	},
	catalog.Embeddings: {
		kind: catalog.OpenAI, path: "/v1/embeddings", json: `{"model":"acme/small","input":"hi"}`, media: media,
		reply: `{"object":"list",` + models + `,"data":[{"object":"embedding","index":0,"embedding":[0.1,-0]}],"usage":{"prompt_tokens":3,"total_tokens":3}}`,
	},
	catalog.Moderations: {
		kind: catalog.OpenAI, path: "/v1/moderations", json: `{"model":"acme/small","input":"hi"}`, media: media,
		reply: `{"id":"m",` + models + `,"results":[{"flagged":false}]}`,
	},
	catalog.Rerank: {
		kind: catalog.OpenAI, path: "/v1/rerank", json: `{"model":"acme/small","query":"hi","documents":["a","b"]}`, media: media,
		reply: `{"results":[{"index":1,"relevance_score":0.9}],"meta":{"billed_units":{"search_units":1}}}`,
	},
	catalog.Images: {
		kind: catalog.OpenAI, path: "/v1/images/generations", json: `{"model":"acme/small","prompt":"hi"}`, media: media,
		reply:  `{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":3,"output_tokens":2}}`,
		stream: `"stream":true`,
		events: []string{
			named("image_generation.partial_image", `{"type":"image_generation.partial_image","b64_json":"AA==","partial_image_index":0}`),
			named("image_generation.partial_image", `{"type":"image_generation.partial_image","b64_json":"AAA=","partial_image_index":1}`),
			named("image_generation.completed", `{"type":"image_generation.completed","b64_json":"AAAA","usage":{"input_tokens":3,"output_tokens":2}}`),
		},
	},
	catalog.ImageEdits: {
		kind: catalog.OpenAI, path: "/v1/images/edits", form: []string{"@image[]", "\x89PNG\xff", "prompt", "hi", "model", "acme/small"}, media: media,
		reply: `{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":3,"output_tokens":2}}`,
	},
	catalog.Speech: {
		kind: catalog.OpenAI, path: "/v1/audio/speech", json: `{"model":"acme/small","input":"hi","voice":"v"}`, media: sound, reply: strings.Repeat("\xff\xf3sound", 20_000),
		stream: `"stream_format":"sse"`,
		events: []string{
			event(`{"type":"speech.audio.delta","audio":"AA=="}`), event(`{"type":"speech.audio.delta","audio":"AAA="}`),
			event(`{"type":"speech.audio.done","usage":{"input_tokens":3,"output_tokens":2}}`),
		},
	},
	catalog.Transcriptions: {
		kind: catalog.OpenAI, path: "/v1/audio/transcriptions", form: []string{"@file", "RIFF\xff", "model", "acme/small", "response_format", "srt"},
		media: "text/plain", reply: "1\n00:00 --> 00:01\nhi\n",
		stream: "stream",
		events: []string{
			event(`{"type":"transcript.text.delta","delta":"h"}`), event(`{"type":"transcript.text.delta","delta":"i"}`),
			event(`{"type":"transcript.text.done","text":"hi","usage":{"input_tokens":3,"output_tokens":2}}`),
		},
	},
	catalog.Translations: {
		kind: catalog.OpenAI, path: "/v1/audio/translations", form: []string{"model", "acme/small", "@file", "RIFF\xff"}, media: media, reply: `{"text":"hi"}`,
		stream: "stream",
		events: []string{
			event(`{"type":"transcript.text.delta","delta":"h"}`), event(`{"type":"transcript.text.delta","delta":"i"}`), event(`{"type":"transcript.text.done","text":"hi"}`),
		},
	},
	catalog.OCR: {
		kind: catalog.OpenAI, path: "/v1/ocr", json: `{"model":"acme/small","document":{"type":"document_url","document_url":"https://x.example/a.pdf"}}`,
		form: []string{"@file", "%PDF-\xff", "model", "acme/small"}, media: media, reply: `{"pages":[{"index":0,"markdown":"hi"}],` + models + `}`,
	},
	catalog.Parse: {
		kind: catalog.OpenAI, path: "/v1/parse", json: `{"model":"acme/small","input":"hi"}`,
		form: []string{"@file", "%PDF-\xff", "model", "acme/small"}, media: "text/markdown", reply: "# hi\n",
	},
	catalog.Decisions: {
		kind: catalog.OpenAI, path: "/v1/decisions", json: `{"model":"acme/small","input":"hi"}`,
		form: []string{"input", "hi", "model", "acme/small"}, media: media, reply: `{"decision":"yes",` + models + `}`,
	},
}

// counts are the samples of the rows that count.
var counts = map[catalog.Surface]sample{
	catalog.Messages: {
		kind: catalog.Anthropic, path: "/v1/messages/count_tokens", json: `{"model":"acme/small","messages":[{"role":"user","content":"hi"}]}`,
		media: media, reply: `{"input_tokens":3}`,
	},
	catalog.Gemini: {
		kind: catalog.Google, path: "/v1/models/up-small:countTokens", json: `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
		media: media, reply: `{"totalTokens":3}`,
	},
}

// sampleOf is the sample of a row. Every row must have one.
func sampleOf(t *testing.T, r surface.Row) sample {
	t.Helper()
	in := samples
	if r.Action == call.Count {
		in = counts
	}
	s, ok := in[r.Surface]
	require.True(t, ok, "no sample for %s", r.Path)
	return s
}

// each runs a test for every row, in each kind of body that the row takes.
func each(t *testing.T, test func(t *testing.T, r surface.Row, s sample, asForm bool)) {
	for _, r := range surface.Rows() {
		if !r.JSON && !r.Form {
			continue // nothing is sent there
		}
		s := sampleOf(t, r)
		if r.JSON {
			t.Run(r.Path, func(t *testing.T) { test(t, r, s, false) })
		}
		if r.Form {
			t.Run(r.Path+" as a form", func(t *testing.T) { test(t, r, s, true) })
		}
	}
}

// form writes fields, name by value; a name that begins with @ is a file's.
func form(t *testing.T, fields ...string) (body, contentType string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for i := 0; i+1 < len(fields); i += 2 {
		var part io.Writer
		var err error
		if name, ok := strings.CutPrefix(fields[i], "@"); ok {
			part, err = w.CreateFormFile(name, "f.bin")
		} else {
			part, err = w.CreateFormField(fields[i])
		}
		require.NoError(t, err)
		_, err = io.WriteString(part, fields[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.String(), w.FormDataContentType()
}

// ask is a request on a row; more are members or fields to add.
func (s sample) ask(t *testing.T, r surface.Row, asForm, streams bool, more ...string) *http.Request {
	t.Helper()
	path := strings.Replace(r.Path, "{model}", "acme/small", 1)
	var body, kind string
	if asForm {
		fields := append(append([]string{}, s.form...), more...)
		if streams {
			fields = append(fields, s.stream, "true")
		}
		body, kind = form(t, fields...)
	} else {
		members := strings.TrimSuffix(s.json, "}")
		if streams && s.stream != "" {
			members += "," + s.stream
		}
		for i := 0; i+1 < len(more); i += 2 {
			members += `,"` + more[i] + `":` + more[i+1]
		}
		body, kind = members+"}", "application/json"
	}
	if strings.Contains(path, ":stream") {
		path += "?alt=sse"
	}
	within, cancel := context.WithTimeout(t.Context(), patience) // what is not flushed must not hang the test
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(within, r.Method, path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", kind)
	request.Header.Set("x-api-key", newToken(t, secret.Inference))
	return request
}

// do sends a request to the gateway.
func (l *line) do(t *testing.T, r *http.Request) *http.Response {
	t.Helper()
	var err error
	r.URL, err = r.URL.Parse(l.url + r.URL.RequestURI())
	require.NoError(t, err)
	r.Host = ""
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// fields reads a form back, name by value.
func fields(t *testing.T, a arrived) map[string]string {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/form-data", kind)
	out := make(map[string]string)
	for r := multipart.NewReader(bytes.NewReader(a.body), parameters["boundary"]); ; {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		value, err := io.ReadAll(part)
		require.NoError(t, err)
		out[part.FormName()] = string(value)
	}
}
