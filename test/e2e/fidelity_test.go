package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// exact is a model whose replies the tests write byte by byte.
const exact = "exact"

// reply makes the provider answer the exact model with these bytes.
func reply(p *harness.Platform, contentType string, body []byte) {
	p.North.HandleModel(exact, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body) // the caller may have gone
	}))
}

// received is the body of the newest request for the exact model.
func received(t *testing.T, p *harness.Platform) string {
	t.Helper()
	all := p.North.For(exact)
	require.NotEmpty(t, all)
	return string(all[len(all)-1].Body)
}

const plainReply = `{"id":"x","object":"chat.completion","model":"exact-2026","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

func TestRequestBytesSurvive(t *testing.T) {
	p := harness.Start(t, harness.Options{Models: []string{exact}})
	key := p.Key()
	reply(p, "application/json", []byte(plainReply))

	const turn = `"messages":[{"role":"user","content":"hi"}]`
	for name, body := range map[string]string{
		"numbers as written":     `{"model":"sim/exact","seed":12345678901234567890,"temperature":1e0,"x_huge":1e400,"x_zero":-0,"x_small":0.10,` + turn + `}`,
		"unknown fields":         `{ "x_first" : {"a":[1, 2 ,3]} , "model":"sim/exact" ,` + turn + `,"top_k":5,"x_last":null}`,
		"null content stays":     `{"model":"sim/exact","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":""}]}`,
		"escapes and characters": `{"model":"sim/exact","messages":[{"role":"user","content":"北京🙂é \u00e9 \ud83d\ude42 \/ <>&"}]}`,
		"schemas keep their order": `{"model":"sim/exact",` + turn + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"$ref":"#/$defs/a"}},` +
			`"$defs":{"a":{"enum":["b","a"]}},"additionalProperties":false}}}]}`,
		"the model at the end": `{` + turn + `,"stop":["\n"],"model":"sim/exact"}`,
	} {
		t.Run(name, func(t *testing.T) {
			answer := p.On(t).Ask(key, body)
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, strings.Replace(body, `"sim/exact"`, `"exact"`, 1), received(t, p))
		})
	}

	t.Run("the gateway's own fields stay here", func(t *testing.T) {
		body := `{"model":"sim/exact","models":["sim/small"],"provider":{"order":["north"]},"routing":{"max_attempts":2},"session_id":"s1","x_kept":1,` + turn + `}`
		answer := p.On(t).Ask(key, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		require.JSONEq(t, `{"model":"exact","x_kept":1,`+turn+`}`, received(t, p))
	})

	t.Run("a large body", func(t *testing.T) {
		body := `{"model":"sim/exact","messages":[{"role":"user","content":"` + strings.Repeat("long ", 600<<10) + `"}]}`
		answer := p.On(t).Ask(key, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		sent := strings.Replace(body, `"sim/exact"`, `"exact"`, 1)
		require.Equal(t, sent[:1<<20], received(t, p), "the part that the provider keeps")
	})
}

func TestReplyBytesSurvive(t *testing.T) {
	p := harness.Start(t, harness.Options{Models: []string{exact}})
	key := p.Key()

	for name, body := range map[string]string{
		"unknown fields":  strings.Replace(plainReply, `"id":"x"`, `"id":"x","service_tier":"flex","x_new":{"n":12345678901234567890},"system_fingerprint":null`, 1),
		"null content":    strings.Replace(plainReply, `"content":"hi"`, `"content":null,"refusal":null`, 1),
		"white space":     strings.Replace(plainReply, `,"object"`, " ,\n\t\"object\"", 1),
		"characters":      strings.Replace(plainReply, "hi", `北京🙂é\u00e9<>&`, 1),
		"several choices": strings.Replace(plainReply, `"choices":[`, `"choices":[{"index":1,"message":{"role":"assistant","content":"b"},"logprobs":{"content":[{"token":"b","logprob":-1.5e-7}]},"finish_reason":"stop"},`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			reply(p, "application/json", []byte(body))
			answer := p.On(t).Ask(key, `{"model":"sim/exact","messages":[{"role":"user","content":"hi"}]}`)
			require.Equal(t, http.StatusOK, answer.Status)
			require.Equal(t, strings.Replace(body, "exact-2026", "sim/exact", 1), string(answer.Body))
		})
	}
}

const (
	chunkHead = `{"id":"x","object":"chat.completion.chunk","model":"sim/exact","choices":[{"index":0,"delta":`
	chunkTail = `,"finish_reason":null}]}`
	finished  = `data: {"id":"x","object":"chat.completion.chunk","model":"sim/exact","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usageOnly = `data: {"id":"x","object":"chat.completion.chunk","model":"sim/exact","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}` + "\n\n"
	done      = "data: [DONE]\n\n"
)

func content(text string) string {
	return "data: " + chunkHead + `{"content":"` + text + `"}` + chunkTail + "\n\n"
}

const streamBody = `{"model":"sim/exact","stream":true,"messages":[{"role":"user","content":"hi"}]}`

func TestStreamBytesSurvive(t *testing.T) {
	p := harness.Start(t, harness.Options{Models: []string{exact}})
	key := p.Key()

	for name, tc := range map[string]struct{ sent, want string }{
		"as it is":             {content("a") + content("b") + finished + done, ""},
		"the usage chunk goes": {content("a") + finished + usageOnly + done, content("a") + finished + done},
		"characters":           {content("北京🙂é") + finished + done, ""},
		"a comment":            {": keep-alive\n\n" + content("a") + finished + done, ""},
		"CR LF":                {strings.ReplaceAll(content("a")+finished+done, "\n", "\r\n"), ""},
		"no space":             {strings.ReplaceAll(content("a")+finished+done, "data: ", "data:"), ""},
		// A client would choke on it, and the rest of the stream is good.
		"a broken event goes": {content("a") + "data: {\"id\": \n\n" + content("b") + finished + done, content("a") + content("b") + finished + done},
		"no final newline":    {content("a") + finished + "data: [DONE]", content("a") + finished + done},
		"no [DONE]":           {content("a") + finished, content("a") + finished + done},
		"200 KB in a line":    {content(strings.Repeat("x", 200<<10)) + finished + done, ""},
		"3 MB in a line":      {content(strings.Repeat("x", 3<<20)) + finished + done, ""},
		"unknown members":     {`data: {"x_new":1e400,"model":"sim/exact","choices":[{"index":3,"delta":{"content":"a","x":null},"finish_reason":null}]}` + "\n\n" + finished + done, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reply(p, "text/event-stream", []byte(tc.sent))
			got := p.On(t).AskStreamed(key, streamBody)
			require.NoError(t, got.Err)
			require.Equal(t, http.StatusOK, got.Status)
			want := tc.want
			if want == "" {
				want = tc.sent
			}
			require.Equal(t, want, string(got.Body))
			require.True(t, gjson.Get(received(t, p), "stream_options.include_usage").Bool(), "usage is always asked for")
			require.Equal(t, "success", p.On(t).Logged(got.Header).Get("outcome").Str)
		})
	}

	t.Run("one byte a write", func(t *testing.T) {
		sent := content("北京🙂é") + finished + done
		p.North.HandleModel(exact, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range len(sent) {
				_, _ = io.WriteString(w, sent[i:i+1])
				_ = http.NewResponseController(w).Flush()
			}
		}))
		require.Equal(t, sent, string(p.On(t).AskStreamed(key, streamBody).Body))
	})

	t.Run("usage that was asked for", func(t *testing.T) {
		sent := content("a") + finished + usageOnly + done
		reply(p, "text/event-stream", []byte(sent))
		got := p.On(t).AskStreamed(key, strings.Replace(streamBody, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
		require.Equal(t, sent, string(got.Body))
		usage := p.On(t).Logged(got.Header).Get("usage")
		require.Equal(t, int64(3), usage.Get("input").Int())
		require.Equal(t, int64(4), usage.Get("output").Int())
	})

	t.Run("each event when it was sent", func(t *testing.T) {
		events := []string{content("one"), content("two"), content("three"), finished, done}
		seen := make(chan struct{})
		p.North.HandleModel(exact, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, e := range events {
				_, _ = io.WriteString(w, e)
				_ = http.NewResponseController(w).Flush()
				select { // the next one only when the caller has this one: a buffer would hang
				case <-seen:
				case <-r.Context().Done():
					return
				}
			}
		}))
		resp, err := p.Open(t.Context(), chatCall(p, key.Secret, streamBody))
		require.NoError(t, err)
		defer resp.Body.Close()
		for _, e := range events {
			got := make([]byte, len(e))
			_, err := io.ReadFull(resp.Body, got)
			require.NoError(t, err)
			require.Equal(t, e, string(got))
			seen <- struct{}{}
		}
		rest, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Empty(t, bytes.TrimSpace(rest))
	})
}

func TestSpellingsAndEncodingsAreUnderstood(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	plain := p.Say(0, key, upstream.Small).Get("choices.0.message.content").Str
	for _, terms := range []string{"crlf-nospace-comments", "trickle", "gzip", "no-done", "no-usage", "malformed-2"} {
		t.Run(terms, func(t *testing.T) {
			got := p.On(t).SayStreamed(key, upstream.Model(terms))
			require.NoError(t, got.Err)
			require.True(t, got.Done())
			require.Equal(t, strings.Replace(plain, "model small", "model fault-"+terms, 1), got.Text())
			entry := p.On(t).Logged(got.Header)
			require.Equal(t, "success", entry.Get("outcome").Str)
			require.Positive(t, entry.Get("usage.output").Int())
			require.Equal(t, terms == "no-usage", entry.Get("usage.estimated").Bool())
		})
	}
	t.Run("gzip, plain", func(t *testing.T) {
		answer := p.On(t).Say(0, key, upstream.Model("gzip"))
		require.Equal(t, http.StatusOK, answer.Status)
		require.Empty(t, answer.Header.Get("Content-Encoding"))
		require.True(t, gjson.ValidBytes(answer.Body))
	})
}
