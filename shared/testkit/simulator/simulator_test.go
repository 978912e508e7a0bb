package simulator_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

type rig struct {
	t   *testing.T
	sim *simulator.Server
	url string
}

func start(t *testing.T, o simulator.Options) rig {
	t.Helper()
	sim := simulator.New(o)
	ts := httptest.NewUnstartedServer(nil)
	sim.Attach(ts.Config)
	ts.Start()
	t.Cleanup(ts.Close)
	return rig{t: t, sim: sim, url: ts.URL}
}

func (r rig) post(path, body string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// ask returns the body of a good reply.
func (r rig) ask(path, body string) gjson.Result {
	r.t.Helper()
	resp := r.post(path, body)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	require.Equal(r.t, http.StatusOK, resp.StatusCode, "%s", raw)
	require.True(r.t, gjson.ValidBytes(raw), "%s", raw)
	return gjson.ParseBytes(raw)
}

// events returns the data of each event and the error that ended the stream.
func (r rig) events(path, body string) ([]string, error) {
	r.t.Helper()
	resp := r.post(path, body)
	require.Equal(r.t, http.StatusOK, resp.StatusCode)
	var out []string
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			out = append(out, data)
		}
	}
	return out, lines.Err()
}

func chat(model, text, more string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"model":"` + model + `","messages":[{"role":"user","content":` + string(raw) + `}]` + more + `}`
}

const weather = `,"tools":[
	{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}}},
	{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{}}}}]`

func TestChatQuotesThePromptAndIsDeterministic(t *testing.T) {
	r := start(t, simulator.Options{})
	one := r.ask("/v1/chat/completions", chat("small", "Say hello", ""))
	require.Contains(t, one.Get("choices.0.message.content").Str, "Say hello")
	require.Equal(t, "stop", one.Get("choices.0.finish_reason").Str)
	require.Equal(t, "small", one.Get("model").Str)
	require.Positive(t, one.Get("usage.completion_tokens").Int())
	require.Equal(t, one.Get("usage.prompt_tokens").Int()+one.Get("usage.completion_tokens").Int(), one.Get("usage.total_tokens").Int())

	two := r.ask("/v1/chat/completions", chat("small", "Say hello", ""))
	require.Equal(t, one.Get("choices").Raw, two.Get("choices").Raw)
	require.Equal(t, one.Get("id").Str, two.Get("id").Str)
}

func TestChatStreamsThePlainText(t *testing.T) {
	r := start(t, simulator.Options{})
	plain := r.ask("/v1/chat/completions", chat("small", "Say hello", ""))
	for name, tc := range map[string]struct {
		more      string
		wantUsage bool
	}{
		"without usage": {`,"stream":true`, false},
		"with usage":    {`,"stream":true,"stream_options":{"include_usage":true}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := r.events("/v1/chat/completions", chat("small", "Say hello", tc.more))
			require.NoError(t, err)
			require.Equal(t, "[DONE]", events[len(events)-1])
			var text strings.Builder
			usage, finish := false, ""
			for _, e := range events[:len(events)-1] {
				v := gjson.Parse(e)
				text.WriteString(v.Get("choices.0.delta.content").Str)
				finish += v.Get("choices.0.finish_reason").Str
				usage = usage || (len(v.Get("choices").Array()) == 0 && v.Get("usage.total_tokens").Int() > 0)
			}
			require.Equal(t, plain.Get("choices.0.message.content").Str, text.String())
			require.Equal(t, "stop", finish)
			require.Equal(t, tc.wantUsage, usage)
		})
	}
}

func TestChatCallsTheToolsThatThePromptNames(t *testing.T) {
	r := start(t, simulator.Options{})
	for name, tc := range map[string]struct {
		prompt, more string
		want         []string
	}{
		"named":           {"Use get_weather for Paris", "", []string{"get_weather"}},
		"parallel":        {"Use get_weather in parallel for “Paris” and “Rome”", "", []string{"get_weather", "get_weather"}},
		"both":            {"get weather and get time please", "", []string{"get_weather", "get_time"}},
		"serial":          {"get_weather and get_time", `,"parallel_tool_calls":false`, []string{"get_weather"}},
		"not asked":       {"Say hello", "", nil},
		"required":        {"Say hello", `,"tool_choice":"required"`, []string{"get_weather"}},
		"named by choice": {"Say hello", `,"tool_choice":{"type":"function","function":{"name":"get_time"}}`, []string{"get_time"}},
		"none":            {"get_weather", `,"tool_choice":"none"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			body := chat("small", tc.prompt, weather+tc.more)
			reply := r.ask("/v1/chat/completions", body)
			var got []string
			for _, c := range reply.Get("choices.0.message.tool_calls").Array() {
				got = append(got, c.Get("function.name").Str)
				require.True(t, gjson.Valid(c.Get("function.arguments").Str))
			}
			require.Equal(t, tc.want, got)
			if len(got) > 0 {
				require.Equal(t, gjson.Null, reply.Get("choices.0.message.content").Type)
				require.Equal(t, "tool_calls", reply.Get("choices.0.finish_reason").Str)
			}
			streamed := joinCalls(t, r, strings.TrimSuffix(body, "}")+`,"stream":true}`)
			for i, c := range reply.Get("choices.0.message.tool_calls").Array() {
				require.Equal(t, c.Get("function.arguments").Str, streamed[i])
			}
		})
	}
}

func joinCalls(t *testing.T, r rig, body string) map[int]string {
	t.Helper()
	events, err := r.events("/v1/chat/completions", body)
	require.NoError(t, err)
	args := map[int]string{}
	for _, e := range events[:len(events)-1] {
		for _, c := range gjson.Get(e, "choices.0.delta.tool_calls").Array() {
			args[int(c.Get("index").Int())] += c.Get("function.arguments").Str
		}
	}
	return args
}

func TestToolResultsAreQuoted(t *testing.T) {
	r := start(t, simulator.Options{})
	body := `{"model":"small","messages":[{"role":"user","content":"get_weather"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"21 degrees"}]` + weather + `}`
	require.Contains(t, r.ask("/v1/chat/completions", body).Get("choices.0.message.content").Str, "21 degrees")
}

func TestImagesChoicesLimitsAndStops(t *testing.T) {
	r := start(t, simulator.Options{})
	image := r.ask("/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[
		{"type":"text","text":"what is it"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`)
	require.Contains(t, image.Get("choices.0.message.content").Str, "1 image")
	require.Len(t, r.ask("/v1/chat/completions", chat("m", "x", `,"n":3`)).Get("choices").Array(), 3)
	short := r.ask("/v1/chat/completions", chat("m", "x", `,"max_tokens":2`))
	require.Equal(t, "length", short.Get("choices.0.finish_reason").Str)
	require.Equal(t, "Hello from", short.Get("choices.0.message.content").Str)
	stopped := r.ask("/v1/chat/completions", chat("m", "x", `,"stop":["the"]`))
	require.Equal(t, "Hello from ", stopped.Get("choices.0.message.content").Str)
}

func TestRefusesWhatProvidersRefuse(t *testing.T) {
	r := start(t, simulator.Options{Key: "right"})
	resp := r.post("/v1/chat/completions", chat("m", "x", ""))
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)

	r = start(t, simulator.Options{})
	for name, tc := range map[string]struct {
		path, body string
		status     int
	}{
		"not JSON":      {"/v1/chat/completions", `{"model":`, 400},
		"not an object": {"/v1/chat/completions", `[]`, 400},
		"no model":      {"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, 400},
		"no messages":   {"/v1/chat/completions", `{"model":"m"}`, 400},
		"bad role":      {"/v1/chat/completions", `{"model":"m","messages":[{"role":"x"}]}`, 400},
		"temperature":   {"/v1/chat/completions", chat("m", "x", `,"temperature":3`), 400},
		"unknown fault": {"/v1/chat/completions", chat("fault-nonsense", "x", ""), 404},
		"unknown path":  {"/v1/nothing", `{}`, 404},
		"anthropic":     {"/v1/messages", `{"model":"m"}`, 400},
		"gemini":        {"/v1beta/models/m:generateContent", `{}`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			resp := r.post(tc.path, tc.body)
			require.Equal(t, tc.status, resp.StatusCode)
			var envelope map[string]any
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&envelope))
			require.Contains(t, envelope, "error")
		})
	}
}

func TestEmbeddings(t *testing.T) {
	r := start(t, simulator.Options{})
	floats := r.ask("/v1/embeddings", `{"model":"e","input":["a","b"],"dimensions":8}`)
	require.Len(t, floats.Get("data").Array(), 2)
	require.Len(t, floats.Get("data.0.embedding").Array(), 8)
	require.NotEqual(t, floats.Get("data.0.embedding").Raw, floats.Get("data.1.embedding").Raw)
	packed := r.ask("/v1/embeddings", `{"model":"e","input":"a","encoding_format":"base64"}`)
	require.Equal(t, gjson.String, packed.Get("data.0.embedding").Type)
}

func TestModels(t *testing.T) {
	r := start(t, simulator.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/models", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NotEmpty(t, gjson.GetBytes(raw, "data.0.id").Str)
}

func TestGzipIsAnswered(t *testing.T) {
	r := start(t, simulator.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/chat/completions",
		strings.NewReader(chat("fault-gzip", "Say hello", "")))
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	z, err := gzip.NewReader(resp.Body)
	require.NoError(t, err)
	raw, err := io.ReadAll(z)
	require.NoError(t, err)
	require.True(t, gjson.ValidBytes(bytes.TrimSpace(raw)))
}

func TestPacingSpreadsTheStream(t *testing.T) {
	r := start(t, simulator.Options{TokensPerSecond: 200})
	began := time.Now()
	events, err := r.events("/v1/chat/completions", chat("m", "Say hello", `,"stream":true,"max_tokens":11`))
	require.NoError(t, err)
	require.Len(t, events, 14) // role, 11 words, finish, [DONE]
	require.GreaterOrEqual(t, time.Since(began), 50*time.Millisecond)
}

func TestADisconnectIsSeen(t *testing.T) {
	for name, body := range map[string]string{
		"before the head": chat("fault-hang", "x", ""),
		"mid stream":      chat("fault-hang-2", "x", `,"stream":true`),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, simulator.Options{})
			ctx, leave := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(body))
			require.NoError(t, err)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				resp, err := http.DefaultClient.Do(req)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}()
			require.Eventually(t, func() bool { return r.sim.Stats().Active == 1 }, 5*time.Second, time.Millisecond)
			leave()
			<-gone
			require.Eventually(t, func() bool { s := r.sim.Stats(); return s.Active == 0 && s.Aborted == 1 }, 5*time.Second, time.Millisecond)
			require.True(t, r.sim.Requests()[0].Aborted)
		})
	}
}
