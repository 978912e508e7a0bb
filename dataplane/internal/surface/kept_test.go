package surface_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// sameNames gives jobs and files the provider's own names.
type sameNames struct{}

func (sameNames) Name(_ id.Workspace, _ catalog.Surface, owned call.Owned) (string, error) {
	return owned.ID, nil
}

// The samples of what makes something that the provider keeps.
func init() {
	samples[catalog.Videos] = sample{
		kind: catalog.OpenAI, path: "/v1/videos", json: `{"model":"acme/small","prompt":"hi"}`,
		form:  []string{"prompt", "hi", "model", "acme/small", "@input_reference", "\x89PNG\xff"},
		media: media, reply: `{"id":"video_1","object":"video","status":"queued",` + models + `,"x_new":1e400}`,
	}
	samples[catalog.Music] = sample{
		kind: catalog.OpenAI, path: "/v1/music", json: `{"model":"acme/small","prompt":"hi"}`,
		form:  []string{"prompt", "hi", "model", "acme/small"},
		media: media, reply: `{"id":"music_1","status":"queued",` + models + `}`,
	}
	samples[catalog.Batches] = sample{
		kind: catalog.OpenAI, path: "/v1/batches", json: `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`,
		media: media, reply: `{"id":"batch_1","object":"batch","input_file_id":"file-1","output_file_id":null,"errors":null}`,
	}
	samples[catalog.Files] = sample{
		kind: catalog.OpenAI, path: "/v1/files", form: []string{"purpose", "user_data", "model", "acme/small", "@file", "%PDF-\xff"},
		media: media, reply: `{"id":"file-1","object":"file","bytes":6,"purpose":"user_data"}`,
	}
}

// TestCallsAboutWhatIsKept: each goes to the provider that keeps it, under the
// provider's own id, and comes back under the caller's.
func TestCallsAboutWhatIsKept(t *testing.T) {
	for _, c := range []struct{ method, path, wantMethod, want, reply string }{
		{"GET", "/v1/videos/video_9", "GET", "/v1/videos/up-video_9", `{"id":"up-video_9","model":"up-small","error":{"code":"x","message":"went wrong"}}`},
		{"DELETE", "/v1/videos/video_9", "DELETE", "/v1/videos/up-video_9", `{"id":"up-video_9","deleted":true}`},
		{"GET", "/v1/music/music_9", "GET", "/v1/music/up-music_9", `{"id":"up-music_9","status":"completed"}`},
		{"GET", "/v1/batches/batch_9", "GET", "/v1/batches/up-batch_9", `{"id":"up-batch_9","output_file_id":"file-7","error_file_id":"","errors":null}`},
		{"POST", "/v1/batches/batch_9/cancel", "POST", "/v1/batches/up-batch_9/cancel", `{"id":"up-batch_9","status":"canceling"}`},
		{"GET", "/v1/files/file-9", "GET", "/v1/files/up-file-9", `{"id":"up-file-9","bytes":9007199254740993}`},
		{"DELETE", "/v1/files/file-9", "DELETE", "/v1/files/up-file-9", `{"id":"up-file-9","deleted":true}`},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", media)
				_, _ = io.WriteString(w, c.reply)
			})
			got := send(t, c.method, l.url+c.path, nil, "x-api-key", newToken(t, secret.Inference))
			require.Equal(t, 200, got.status, got.body)
			name := strings.Split(c.path, "/")[3]
			want := strings.NewReplacer("up-small", "acme/small", "up-"+name, name).Replace(c.reply)
			require.Equal(t, want, got.body)
			up, _ := l.last(t)
			require.Equal(t, c.wantMethod, up.method)
			require.Equal(t, c.want, up.path)
			require.Empty(t, up.body)
			asked := l.world.last(t)
			require.Equal(t, name, asked.Object)
			require.Equal(t, asked.Surface, asked.Kept)
		})
	}
}

func TestContentPassesAsItComes(t *testing.T) {
	film := strings.Repeat("\x00\xffmovie", 30_000)
	for _, path := range []string{"/v1/videos/video_9/content?variant=thumbnail", "/v1/files/file-9/content"} {
		l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "video/mp4")
			w.Header().Set("Content-Disposition", `attachment; filename="a.mp4"`)
			_, _ = io.WriteString(w, film+r.URL.RawQuery)
		})
		got := send(t, http.MethodGet, l.url+path, nil, "x-api-key", newToken(t, secret.Inference))
		require.Equal(t, 200, got.status)
		_, query, _ := strings.Cut(path, "?")
		require.Equal(t, film+query, got.body)
		require.Equal(t, "video/mp4", got.header.Get("Content-Type"))
		require.NotEmpty(t, got.header.Get("Content-Disposition"))
	}
}

// A file is its owner's: whatever is in it, it is neither read nor replaced.
func TestFilesPassAsTheyAre(t *testing.T) {
	for _, path := range []string{"/v1/videos/video_9/content", "/v1/files/file-9/content"} {
		for _, c := range []struct{ media, text string }{
			{media, `{"id":"up-file-9","model":"up-small","error":{"message":"mine"}}`},
			{media, `[1,2`},
			{"application/geo+json", ` {"no":"id"}`},
			{"text/event-stream", "data: x\n\n"},
			{"text/plain", ""},
			{media, ""},
		} {
			l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				_, _ = io.WriteString(w, c.text)
			})
			got := send(t, http.MethodGet, l.url+path, nil, "x-api-key", newToken(t, secret.Inference))
			require.Equal(t, 200, got.status, got.body)
			require.Equal(t, c.text, got.body)
			require.Equal(t, c.media, got.header.Get("Content-Type"))
		}
	}
}

// Some providers say with an empty answer that a thing was deleted; SDKs want
// to read it.
func TestADeletionThatIsToldWithoutABody(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/files/file-9":   `{"id":"file-9","object":"file","deleted":true}`,
		"/v1/videos/video_9": `{"id":"video_9","object":"video.deleted","deleted":true}`,
	} {
		for _, status := range []int{200, 202, 204} {
			l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			key := newToken(t, secret.Inference)
			got := send(t, http.MethodDelete, l.url+path, nil, "x-api-key", key)
			require.Equal(t, 200, got.status, got.body)
			exactly(t, want, got.body)
			require.Equal(t, media, got.header.Get("Content-Type"))
			got = send(t, http.MethodGet, l.url+path, nil, "x-api-key", key)
			require.Equal(t, 502, got.status, "elsewhere nothing is no answer")
		}
	}
}

// Names are made only of what can be asked about later.
func TestIDsThatCannotBeAskedAbout(t *testing.T) {
	for _, upstreamID := range []string{``, `.`, `..`, `a\u0000b`, `a\nb`, strings.Repeat("x", 513)} {
		l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = io.WriteString(w, `{"id":"`+upstreamID+`"}`)
		})
		got := send(t, http.MethodPost, l.url+"/v1/videos", strings.NewReader(samples[catalog.Videos].json), "x-api-key", newToken(t, secret.Inference))
		require.Equal(t, 502, got.status, got.body)
		require.Equal(t, "submission_unknown", got.fault(t)["code"])
	}
}

// A provider that compares names without case would believe the second one.
func TestABatchNamesOneFile(t *testing.T) {
	l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, samples[catalog.Batches].reply)
	})
	body := `{"input_file_id":"file-1","Input_File_ID":"file-theirs","endpoint":"/v1/chat/completions","completion_window":"24h"}`
	got := send(t, http.MethodPost, l.url+"/v1/batches", strings.NewReader(body), "x-api-key", newToken(t, secret.Inference))
	require.Equal(t, 200, got.status, got.body)
	up, _ := l.last(t)
	exactly(t, `{"input_file_id":"up-file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`, string(up.body))
}

// listed is a list in memory.
type listed []string

func (l listed) List(_ context.Context, _ id.Workspace, s catalog.Surface) ([]string, error) {
	if s != catalog.Files {
		return nil, fault.New(fault.UpstreamUndetermined, "away")
	}
	return slices.Clone(l), nil
}

func TestAListIsOfTheWorkspacesOwn(t *testing.T) {
	w := &world{kept: listed{"file-3", "file-gone", "file-barred", "file-broken", "file-1"}}
	w.serve = func(_ context.Context, c call.Call, s call.Sink) {
		switch c.Object {
		case "file-gone":
			s.Fail(fault.New(fault.NotFound, "gone"), nil)
		case "file-barred":
			s.Fail(fault.New(fault.UnsupportedModelOrEndpoint, "not yours").Because(fault.ModelNotAllowed), nil)
		case "file-broken":
			s.Fail(fault.Of(errors.New("x")), nil)
		default:
			_ = s.Start(call.Head{Status: 200})
			_ = s.Write([]byte(`{"id":"` + c.Object + `","bytes":9007199254740993}`))
		}
	}
	url := start(t, w, nil)
	get := func(path string) answer {
		return send(t, http.MethodGet, url+path, nil, "x-api-key", newToken(t, secret.Inference))
	}
	const three, broken, one = `{"id":"file-3","bytes":9007199254740993}`, `{"id":"file-broken","status":"unknown"}`, `{"id":"file-1","bytes":9007199254740993}`
	got := get("/v1/files")
	require.Equal(t, 200, got.status, got.body)
	exactly(t, `{"object":"list","data":[`+three+","+broken+","+one+`],"first_id":"file-3","last_id":"file-1","has_more":false}`, got.body)
	exactly(t, `{"object":"list","data":[`+three+`],"first_id":"file-3","last_id":"file-3","has_more":true}`, get("/v1/files?limit=1").body)
	exactly(t, `{"object":"list","data":[`+broken+`],"first_id":"file-broken","last_id":"file-broken","has_more":true}`, get("/v1/files?limit=1&after=file-3").body)
	exactly(t, `{"object":"list","data":[`+one+`],"first_id":"file-1","last_id":"file-1","has_more":false}`, get("/v1/files?limit=5&after=file-broken").body)
	for _, path := range []string{"/v1/files?limit=0", "/v1/files?limit=101", "/v1/files?limit=x", "/v1/files?after=file-other"} {
		require.Equal(t, 400, get(path).status, path)
	}
	require.Equal(t, 503, get("/v1/batches").status)
	require.Equal(t, catalog.Batches, w.identified.Surface, "the key may be for other surfaces")
}

// TestAListCountsOnce: what a list has is asked for one by one, and the caller made
// one call; a limit that refuses that refuses the list.
func TestAListCountsOnce(t *testing.T) {
	w := &world{kept: listed{"file-3", "file-2", "file-1"}}
	url := start(t, w, nil)
	get := func() answer {
		return send(t, http.MethodGet, url+"/v1/files", nil, "x-api-key", newToken(t, secret.Inference))
	}
	require.Equal(t, 200, get().status)
	require.Len(t, w.calls, 3)
	require.Equal(t, "file-3", w.calls[0].Object)
	require.Empty(t, w.calls[0].Purpose)
	require.True(t, w.calls[0].Primary.IsZero())
	for _, c := range w.calls[1:] {
		require.Equal(t, "list", c.Purpose)
		require.Equal(t, w.identified.ID, c.Primary)
	}
	w.serve = func(_ context.Context, _ call.Call, s call.Sink) {
		s.Fail(fault.New(fault.KeyLimitExceeded, "no more").Because(fault.CustomerRequests).From(fault.Gateway), nil)
	}
	w.calls = nil
	require.Equal(t, 429, get().status)
	require.Len(t, w.calls, 1)
}

// TestRealtime is a whole conversation: a caller's key in the subprotocol, as
// browsers send it, frames both ways, and a failure in a frame.
func TestRealtime(t *testing.T) {
	heads := make(chan http.Header, 1)
	l := newLine(t, catalog.OpenAI, func(w http.ResponseWriter, r *http.Request) {
		heads <- r.Header
		talk, err := socket.Accept(w, r, "realtime", 1<<20)
		if err != nil {
			return
		}
		ctx := context.WithoutCancel(r.Context())
		_ = talk.Send(ctx, call.Frame{Text: true, Data: []byte(`{"type":"session.created","session":{"model":"up-small"}}`)})
		frame, _ := talk.Receive(ctx)
		_ = talk.Send(ctx, call.Frame{Text: true, Data: []byte(`{"type":"echo","heard":` + string(frame.Data) + `}`)})
		_ = talk.Send(ctx, call.Frame{Text: true, Data: []byte(`{"type":"response.done","response":{"usage":{"input_tokens":3,"output_tokens":2}}}`)})
		talk.End(call.Broken)
	})
	key := newToken(t, secret.Inference)
	request, err := http.NewRequest(http.MethodGet, l.url+"/v1/realtime?model=acme%2Fsmall", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	talk, response, err := socket.Dial(t.Context(), transport, request, "realtime", 1<<20)
	require.NoError(t, err)
	require.NotEmpty(t, response.Header.Get("X-Signalbox-Request-Id"))
	hear := func() string {
		frame, err := talk.Receive(t.Context())
		require.NoError(t, err)
		return string(frame.Data)
	}
	exactly(t, `{"type":"session.created","session":{"model":"acme/small"}}`, hear())
	require.NoError(t, talk.Send(t.Context(), call.Frame{Text: true, Data: []byte(`{"type":"session.update","session":{"model":"acme/small"}}`)}))
	exactly(t, `{"type":"echo","heard":{"type":"session.update","session":{"model":"up-small"}}}`, hear())
	require.Contains(t, hear(), "response.done")
	problem := hear()
	require.Contains(t, problem, `"type":"error"`)
	require.Contains(t, problem, `"stream_cut"`)
	_, err = talk.Receive(t.Context())
	require.Error(t, err)

	head := <-heads
	require.NotContains(t, head.Get("Authorization"), key)
	require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.seen) == 1 }, patience, time.Millisecond)
	require.EqualValues(t, 5, l.seen[0].Usage.InputTotal()+l.seen[0].Usage.OutputTotal())
	require.Equal(t, "acme/small", l.world.last(t).Request.Model)
}

func TestRealtimeIsRefused(t *testing.T) {
	w := &world{}
	url := start(t, w, nil)
	key := newToken(t, secret.Inference)
	got := send(t, http.MethodGet, url+"/v1/realtime?model=m", nil, "x-api-key", key)
	require.Equal(t, 400, got.status, got.body)
	require.Contains(t, got.body, "WebSocket")
	sound := []string{
		"Upgrade", "websocket", "Connection", "keep-alive, Upgrade", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key." + key,
	}
	got = send(t, http.MethodGet, url+"/v1/realtime?model=m", nil, sound...)
	require.Equal(t, 200, got.status, "the key is found")
	require.Equal(t, key, w.last(t).Token.Plaintext().Reveal())
	got = send(t, http.MethodGet, url+"/v1/realtime?model=m&models=n", nil, sound...)
	require.Equal(t, 400, got.status)
	require.Contains(t, got.body, `"path":"models"`, "nobody takes a conversation over")
	// What cannot be upgraded is told before a provider is asked for its side.
	for header, wrong := range map[int][]string{1: {"h2c"}, 3: {"keep-alive", "close"}, 5: {"12", ""}, 7: {"", "AA==", "no base64"}} {
		for _, value := range wrong {
			broken := slices.Clone(sound)
			broken[header] = value
			got = send(t, http.MethodGet, url+"/v1/realtime?model=m", nil, broken...)
			require.Equal(t, 400, got.status, broken)
			require.Equal(t, "validation_error", got.fault(t)["code"])
			require.NotNil(t, w.last(t).Malformed)
		}
	}
}

// TestGeminiStreamsAsAnArray: without alt=sse the events are the elements of
// one JSON array, and so is the failure that ends it.
func TestGeminiStreamsAsAnArray(t *testing.T) {
	s := samples[catalog.Gemini]
	for name, c := range map[string]struct{ events, last string }{
		"whole": {strings.Join(s.events, ""), `"finishReason":"STOP"`},
		"cut":   {s.events[0], `"stream_cut"`},
	} {
		var asked string
		l := newLine(t, catalog.Google, func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Query().Get("alt")
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, c.events)
		})
		got := send(t, http.MethodPost, l.url+"/v1beta/models/acme/small:streamGenerateContent", strings.NewReader(s.json),
			"x-goog-api-key", newToken(t, secret.Inference))
		require.Equal(t, 200, got.status, got.body)
		require.Equal(t, "sse", asked, "of the upstream, whose events are told apart")
		require.Equal(t, media, got.header.Get("Content-Type"), name)
		elements := arrayOf(t, got.body)
		require.Contains(t, elements[len(elements)-1], c.last)
		require.Contains(t, elements[0], `"modelVersion":"acme/small"`)
	}
}

func arrayOf(t *testing.T, text string) []string {
	t.Helper()
	var elements []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &elements), text)
	require.NotEmpty(t, elements)
	out := make([]string, len(elements))
	for i, e := range elements {
		out[i] = string(e)
	}
	return out
}

// exactly compares JSON byte by byte: numbers and order must survive.
func exactly(t *testing.T, want, got string) {
	t.Helper()
	require.Equal(t, want, got)
}
