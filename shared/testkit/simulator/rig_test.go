package simulator_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// header is one request's, as name and value in turn.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// do sends one request; a body is JSON unless the header says otherwise.
func (r rig) do(method, path string, h http.Header, body string) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	for name, values := range h {
		req.Header[name] = values
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	require.NoError(r.t, resp.Body.Close())
	return resp, string(raw)
}

// good is the JSON of a 200.
func (r rig) good(method, path string, h http.Header, body string) gjson.Result {
	r.t.Helper()
	resp, text := r.do(method, path, h, body)
	require.Equal(r.t, http.StatusOK, resp.StatusCode, text)
	require.True(r.t, gjson.Valid(text), text)
	return gjson.Parse(text)
}

// refused posts what is wrong, and checks the status and the words.
func (r rig) refused(path string, h http.Header, body string, status int, words string) {
	r.t.Helper()
	resp, text := r.do(http.MethodPost, path, h, body)
	require.Equal(r.t, status, resp.StatusCode, text)
	require.Contains(r.t, text, words)
}

// streamed is the data of a stream's events.
func (r rig) streamed(path string, h http.Header, body string) []gjson.Result {
	r.t.Helper()
	resp, text := r.do(http.MethodPost, path, h, body)
	require.Equal(r.t, http.StatusOK, resp.StatusCode, text)
	require.Contains(r.t, resp.Header.Get("Content-Type"), "text/event-stream")
	var out []gjson.Result
	for line := range strings.Lines(text) {
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok && data != "[DONE]" {
			require.True(r.t, gjson.Valid(data), data)
			out = append(out, gjson.Parse(data))
		}
	}
	return out
}

// part is one part of a form; a name makes it a file.
type part struct{ field, name, kind, data string }

func form(parts ...part) (http.Header, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := `form-data; name="` + p.field + `"`
		if p.name != "" {
			disposition += `; filename="` + p.name + `"`
			h.Set("Content-Type", p.kind)
		}
		h.Set("Content-Disposition", disposition)
		out, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(out, p.data)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return header("Content-Type", w.FormDataContentType()), b.String()
}

// with replaces text in a request, so that a case names only what is wrong.
func with(body, old, changed string) string {
	if !strings.Contains(body, old) {
		panic("the request has no " + old)
	}
	return strings.Replace(body, old, changed, 1)
}
