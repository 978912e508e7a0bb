package surface_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func answering(s sample) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", s.media)
		_, _ = io.WriteString(w, s.reply)
	}
}

// renamed is an upstream's answer as the caller gets it.
func renamed(text string) string { return strings.ReplaceAll(text, `"up-small"`, `"acme/small"`) }

const odd = `{"b":1e400,"a":12345678901234567890,"c":-0,"d":null,"e":"é\u00e9"}`

// T5: on every surface, what the gateway does not know passes as it was
// written, both ways; what is its own stays behind.
func TestEveryRowPassesWhatItDoesNotKnow(t *testing.T) {
	each(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		if strings.Contains(r.Path, ":stream") {
			return // see the streams
		}
		l := newLine(t, s.kind, answering(s))
		more := []string{"x_vendor", odd, "session_id", `"s"`, "provider", `{"only":["north"]}`, "routing", `{"mode":"price"}`}
		if r.Models {
			more = append(more, "models", `["acme/large"]`)
		}
		response := l.do(t, s.ask(t, r, asForm, false, more...))
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, 200, response.StatusCode, string(text))
		require.Equal(t, s.media, response.Header.Get("Content-Type"))
		require.Equal(t, renamed(s.reply), string(text))
		got, _ := l.last(t)
		require.Equal(t, s.path, got.path)
		c := l.world.last(t)
		if r.Surface != catalog.Batches { // the file says it
			require.Equal(t, "acme/small", c.Request.Model)
		}
		require.Equal(t, []string{"north"}, c.Request.Provider.Only)
		require.Contains(t, c.Request.Parameters, "x_vendor")
		if asForm {
			have := fields(t, got)
			if r.Surface == catalog.Files {
				require.NotContains(t, have, "model", "it was said to the gateway")
			} else {
				require.Equal(t, "up-small", have["model"])
			}
			require.Contains(t, have["x_vendor"], odd)
			for i := 0; i < len(s.form); i += 2 {
				if name := strings.TrimPrefix(s.form[i], "@"); name != "model" {
					require.Equal(t, s.form[i+1], have[name])
				}
			}
			for _, own := range []string{"models", "provider", "routing", "session_id"} {
				require.NotContains(t, have, own)
			}
			return
		}
		require.Contains(t, string(got.body), `"x_vendor":`+odd)
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got.body, &members))
		for _, own := range []string{"models", "provider", "routing", "session_id"} {
			require.NotContains(t, members, own)
		}
		if strings.Contains(s.json, "model") {
			require.Equal(t, `"up-small"`, string(members["model"]))
		}
	})
}

// S8, S5: each event is with the caller before the upstream sends the next one,
// and the usage that only the gateway wanted is not.
func TestEveryStreamingRowFlushesEachEvent(t *testing.T) {
	eachStream(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		took := make(chan struct{})
		l := newLine(t, s.kind, func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i, e := range s.events {
				if i == len(s.events)-1 {
					_, _ = io.WriteString(w, s.usage)
				}
				_, _ = io.WriteString(w, e)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-took:
				case <-q.Context().Done():
					return
				}
			}
		})
		response := l.do(t, s.ask(t, r, asForm, true))
		require.Equal(t, 200, response.StatusCode)
		require.True(t, strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"))
		for _, want := range s.events {
			got := make([]byte, len(renamed(want)))
			_, err := io.ReadFull(response.Body, got)
			require.NoError(t, err)
			require.Equal(t, renamed(want), string(got), "before the next one is sent")
			took <- struct{}{}
		}
		rest, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Empty(t, string(rest))
		_, seen := l.last(t)
		require.True(t, seen.Finished)
		if s.usage != "" || strings.Contains(strings.Join(s.events, ""), "sage") {
			require.False(t, seen.Usage.Estimated)
			require.EqualValues(t, 2, seen.Usage.OutputTotal())
		}
	})
}

func eachStream(t *testing.T, test func(t *testing.T, r surface.Row, s sample, asForm bool)) {
	each(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		if r.Stream && (s.stream != "" || strings.Contains(r.Path, ":stream")) {
			require.NotEmpty(t, s.events)
			test(t, r, s, asForm)
		}
	})
}

// F1, F2, F7: an error that comes first, in whatever words, is replaced by
// another provider's answer.
func TestEveryStreamingRowFallsBackBeforeItsFirstContent(t *testing.T) {
	for name, first := range map[string]string{
		"an error event":         named("error", `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`),
		"an error object":        event(`{"error":{"message":"slow down","code":429,"type":"rate_limit_error","status":"RESOURCE_EXHAUSTED"}}`),
		"an error without JSON":  named("error", "upstream exploded"),
		"an end":                 "",
		"an end after a comment": ": hello\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			eachStream(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
				l := newLine(t, s.kind, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					w.WriteHeader(200)
					_ = http.NewResponseController(w).Flush()
					_, _ = io.WriteString(w, first)
				}, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, strings.Join(s.events, ""))
				})
				response := l.do(t, s.ask(t, r, asForm, true))
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				require.Equal(t, 200, response.StatusCode, string(text))
				require.Equal(t, renamed(strings.Join(s.events, "")), string(text))
				require.Len(t, l.got, 2)
			})
		})
	}
}

// F3, F4: a stream that breaks after its first content ends with an error in
// the surface's own form, and never as if it were whole.
func TestEveryStreamingRowSaysThatItBroke(t *testing.T) {
	eachStream(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		l := newLine(t, s.kind, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, s.events[0]+s.events[1])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		response := l.do(t, s.ask(t, r, asForm, true))
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err, "the body ends cleanly")
		rest, ok := strings.CutPrefix(string(text), renamed(s.events[0]+s.events[1]))
		require.True(t, ok, string(text))
		require.Contains(t, rest, `"upstream_server_error"`)
		require.NotContains(t, rest, s.events[len(s.events)-1])
		switch r.Envelope {
		case envelope.OpenAI:
			require.Regexp(t, `^data: \{"error":\{.*\}\}\n\n$`, rest)
		case envelope.Responses:
			require.Regexp(t, `^event: error\ndata: \{"type":"error","code":"upstream_server_error",.*"sequence_number":6,"error":\{.*\}\}\n\n$`, rest)
		case envelope.Anthropic:
			require.Regexp(t, `^event: error\ndata: \{.*"type":"error"\}\n\n$`, rest)
		case envelope.Gemini:
			require.Regexp(t, `^data: \{"error":\{.*"status":"UNAVAILABLE".*\}\}\n\n\{"error":\{.*\}\}\n$`, rest)
		}
		require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.tried) == 1 }, patience, time.Millisecond)
		require.Equal(t, "stream_cut", l.tried[0][0].Failure)
	})
}

// S7, S10: a caller who leaves ends the upstream call, and pays for what he
// saw.
func TestEveryRowEndsTheUpstreamCallOfACallerWhoLeaves(t *testing.T) {
	each(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		streams := r.Stream && len(s.events) > 0
		for _, begun := range []bool{false, true} {
			if begun && !streams {
				continue
			}
			reached, ended := make(chan struct{}), make(chan struct{})
			l := newLine(t, s.kind, func(w http.ResponseWriter, q *http.Request) {
				if begun {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, s.events[0]+s.events[1])
					_ = http.NewResponseController(w).Flush()
				}
				close(reached)
				<-q.Context().Done()
				close(ended)
			})
			ctx, leave := context.WithCancel(t.Context())
			request := s.ask(t, r, asForm, streams).WithContext(ctx)
			if begun {
				response := l.do(t, request)
				_, err := io.ReadFull(response.Body, make([]byte, len(renamed(s.events[0]))))
				require.NoError(t, err)
				leave()
			} else {
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					response, err := http.DefaultClient.Do(redirected(request, l.url))
					if err == nil {
						_ = response.Body.Close()
					}
				}()
				<-reached
				leave()
				<-gone
			}
			select {
			case <-ended:
			case <-time.After(patience):
				require.Fail(t, "the upstream call goes on")
			}
			require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.tried) == 1 }, patience, time.Millisecond)
			require.Equal(t, "caller_gone", l.tried[0][0].Failure)
			if begun {
				_, seen := l.last(t)
				require.True(t, seen.Usage.Estimated)
				require.False(t, seen.Usage.IsZero())
			}
			leave()
		}
	})
}

func redirected(r *http.Request, base string) *http.Request {
	r.URL, _ = r.URL.Parse(base + r.URL.RequestURI())
	return r
}

// bad is a body that is refused.
type bad struct {
	kind, body string
	status     int
	code       string // "" for any
}

// What is wrong with a body is said in the surface's own form, without asking
// any upstream.
func TestEveryRowRefusesWhatIsNoRequest(t *testing.T) {
	each(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		l := newLine(t, s.kind, func(http.ResponseWriter, *http.Request) {})
		send := func(kind, body string) *http.Response {
			request := s.ask(t, r, asForm, false)
			request.Body = io.NopCloser(strings.NewReader(body))
			request.ContentLength = int64(len(body))
			request.Header.Set("Content-Type", kind)
			return l.do(t, request)
		}
		sound := s.ask(t, r, asForm, false)
		own := sound.Header.Get("Content-Type")
		whole, err := io.ReadAll(sound.Body)
		require.NoError(t, err)
		cases := map[string]bad{
			"empty": {own, "", 400, ""}, // of a form or of JSON
		}
		if asForm {
			cases["cut"] = bad{own, string(whole[:len(whole)-10]), 400, "validation_error"}
			latin, kind := form(t, append(append([]string{}, s.form...), "x", "\xff")...)
			cases["not UTF-8"] = bad{kind, latin, 400, "validation_error"}
			twice, kind := form(t, append(append([]string{}, s.form...), "model", "b")...)
			cases["twice"] = bad{kind, twice, 400, "validation_error"}
			misspelled, kind := form(t, append(append([]string{}, s.form...), "Provider", `{"zdr":true}`)...)
			cases["misspelled restriction"] = bad{kind, misspelled, 400, "validation_error"}
			lifted, kind := form(t, append(append([]string{}, s.form...), "provider", `{"only":["a"],"only":[]}`)...)
			cases["lifted restriction"] = bad{kind, lifted, 400, "validation_error"}
			cases["no boundary"] = bad{"multipart/form-data", string(whole), 400, "validation_error"}
			if !r.JSON {
				cases["JSON"] = bad{"application/json", `{}`, 415, "unsupported_media_type"}
			}
		} else {
			for name, body := range map[string]string{
				"cut": string(whole[:len(whole)-1]), "an array": `[]`, "a string": `"x"`, "two": string(whole) + string(whole), "not UTF-8": strings.Replace(string(whole), "{", "{\"\xff\":1,", 1),
				"deep": strings.Replace(string(whole), "{", `{"x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+",", 1),
			} {
				cases[name] = bad{own, body, 400, "invalid_json"}
			}
			for name, members := range map[string]string{
				"misspelled restriction": `"Provider":{"zdr":true}`, "misspelled, with an escape": `"\u0052outing":{}`,
				"lifted restriction":       `"provider":{"only":["a"],"only":[]}`,
				"lifted by another member": `"provider":{"only":["a"]},"pr\u006fvider":{}`,
			} {
				cases[name] = bad{own, strings.Replace(string(whole), "{", "{"+members+",", 1), 400, "validation_error"}
			}
			cases["wrong member"] = bad{own, strings.Replace(string(whole), "{", `{"models":7,`, 1), 400, "validation_error"}
			if !r.Form {
				cases["a form"] = bad{"multipart/form-data; boundary=x", "--x--", 415, "unsupported_media_type"}
			}
		}
		for name, c := range cases {
			response := send(c.kind, c.body)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, c.status, response.StatusCode, name+": "+string(text))
			if c.code != "" {
				require.Equal(t, c.code, codeIn(t, r.Envelope, text), name)
			}
			require.NotEmpty(t, codeIn(t, r.Envelope, text), name)
		}
		require.Empty(t, l.got, "no upstream was asked")
	})
}

// codeIn is the gateway's code in an error of a form.
func codeIn(t *testing.T, form envelope.Format, text []byte) string {
	t.Helper()
	var whole struct {
		Type  string         `json:"type"`
		Error map[string]any `json:"error"`
	}
	require.NoError(t, json.Unmarshal(text, &whole), string(text))
	require.NotEmpty(t, whole.Error["message"])
	member := "code"
	switch form {
	case envelope.Anthropic:
		require.Equal(t, "error", whole.Type)
	case envelope.Gemini:
		require.NotEmpty(t, whole.Error["status"])
		member = "error_code"
	case envelope.OpenAI, envelope.Responses:
		require.Contains(t, whole.Error, "param")
	}
	code, _ := whole.Error[member].(string)
	return code
}

// A body without what the surface needs is told what that is.
func TestEveryRowNamesWhatIsMissing(t *testing.T) {
	each(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		if strings.HasPrefix(s.path, "/v1/decisions") {
			return // nothing is required
		}
		l := newLine(t, s.kind, func(http.ResponseWriter, *http.Request) {})
		request := s.ask(t, r, asForm, false)
		body, kind := `{"model":"acme/small"}`, "application/json"
		if asForm {
			body, kind = form(t, "model", "acme/small")
		}
		request.Body, request.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		request.Header.Set("Content-Type", kind)
		response := l.do(t, request)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, 400, response.StatusCode)
		require.Equal(t, "validation_error", codeIn(t, r.Envelope, text))
		require.Contains(t, string(text), "is required and must be")
		require.Empty(t, l.got)
	})
}

// H5: too much is refused unread, and too slowly is cut.
func TestEveryRowBoundsItsBody(t *testing.T) {
	each(t, func(t *testing.T, r surface.Row, s sample, asForm bool) {
		url := start(t, &world{}, func(o *surface.Options) {
			o.MaxJSON, o.MaxMultipart, o.BodyTime = 1<<10, 2<<10, 50*time.Millisecond
		})
		request := s.ask(t, r, asForm, false)
		limit := 1 << 10
		if asForm {
			limit = 2 << 10
		}
		for name, c := range map[string]struct {
			head, body string
			status     int
		}{
			"declared": {fmt.Sprintf("Content-Length: %d", limit+1), "", 413},
			"chunked":  {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", limit+1, strings.Repeat("x", limit+1)), 413},
			"slow":     {fmt.Sprintf("Content-Length: %d", limit), "{", 408},
		} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			require.NoError(t, err)
			require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
			_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: %s\r\n%s\r\n\r\n%s",
				request.URL.RequestURI(), newToken(t, secret.Inference), request.Header.Get("Content-Type"), c.head, c.body)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, c.status, response.StatusCode, name)
			require.NotEmpty(t, codeIn(t, r.Envelope, text))
			_ = conn.Close()
		}
	})
}

func rowOf(t *testing.T, name catalog.Surface) surface.Row {
	t.Helper()
	for _, r := range surface.Rows() {
		if r.Surface == name {
			return r
		}
	}
	require.Fail(t, "no such surface")
	return surface.Row{}
}
