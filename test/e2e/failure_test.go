package e2e_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

func chatCall(p *harness.Platform, key, body string) client.Call {
	return client.Call{Method: http.MethodPost, URL: p.Gateways[0] + "/v1/chat/completions", Bearer: key, Body: []byte(body)}
}

// northFirst asks for a model with North before South, so that what North
// spoils is seen.
func northFirst(model string, stream bool) string {
	body := `{"model":"` + model + `","provider":{"order":["north","south"]},"messages":[{"role":"user","content":"Say hello"}]`
	if stream {
		body += `,"stream":true`
	}
	return body + `}`
}

func TestFallback(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	for _, terms := range []string{"status-500", "status-503", "status-529", "status-429-retry-7", "status-401", "status-403", "status-404", "reset", "html", "redirect", "garbage", "cut"} {
		t.Run("plain after "+terms, func(t *testing.T) {
			answer := p.On(t).Ask(key, northFirst(upstream.Fallback(terms), false))
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, upstream.South, answer.Header.Get(client.HeaderProvider))
			require.Equal(t, upstream.North, answer.Header.Get(client.HeaderFallbacks))
			require.Equal(t, "1", answer.Header.Get(client.HeaderRetries))
		})
	}
	for _, terms := range []string{"status-500", "status-429-retry-7", "reset", "error-first", "garbage"} {
		t.Run("streamed after "+terms, func(t *testing.T) {
			got := p.On(t).AskStreamed(key, northFirst(upstream.Fallback(terms), true))
			require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
			require.Equal(t, upstream.South, got.Header.Get(client.HeaderProvider))
			require.True(t, got.Done())
			require.Contains(t, got.Text(), "Say hello")
		})
	}
	t.Run("none after a refusal of the request itself", func(t *testing.T) {
		for terms, status := range map[string]int{"status-400": 400, "status-413": 413, "status-422": 422} {
			p.South.Forget()
			answer := p.On(t).Ask(key, northFirst(upstream.Fallback(terms), false))
			require.Equal(t, status, answer.Status, "%s", answer.Body)
			require.Equal(t, "upstream_rejected", answer.Get("error.code").Str)
			require.Zero(t, p.South.Stats().Total)
		}
	})
	t.Run("none once content was sent", func(t *testing.T) {
		p.South.Forget()
		got := p.On(t).AskStreamed(key, northFirst(upstream.Fallback("error-mid"), true))
		require.False(t, got.Done())
		require.Zero(t, p.South.Stats().Total)
	})
	t.Run("the account says what happened", func(t *testing.T) {
		answer := p.On(t).Ask(key, northFirst(upstream.Fallback("status-503"), false))
		entry := p.On(t).Logged(answer.Header)
		require.Equal(t, "success", entry.Get("outcome").Str)
		require.Equal(t, upstream.South, entry.Get("provider").Str)
		require.Equal(t, int64(2), entry.Get("attempt_count").Int())
		attempts := entry.Get("attempts").Array()
		require.Len(t, attempts, 2)
		require.Equal(t, upstream.North, attempts[0].Get("provider").Str)
		require.Equal(t, int64(503), attempts[0].Get("status").Int())
		require.NotEmpty(t, attempts[0].Get("failure").Str)
		require.Equal(t, upstream.South, attempts[1].Get("provider").Str)
		require.Empty(t, attempts[1].Get("failure").Str)
		decision := entry.Get("decision")
		require.Equal(t, "fallback_provider", decision.Get("routing_switch_reason").Str)
		require.Len(t, decision.Get("candidates").Array(), 2)
		require.Positive(t, entry.Get("cost_nanos").Int())
	})
}

func TestFailuresOfTheProvider(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	for terms, want := range map[string]struct {
		status int
		code   string
	}{
		"status-400":         {400, "upstream_rejected"},
		"status-401":         {502, "upstream_credential_rejected"},
		"status-403":         {502, "upstream_credential_rejected"},
		"status-422":         {422, "upstream_rejected"},
		"status-429-retry-7": {429, "upstream_rate_limited"},
		"status-500":         {502, "upstream_server_error"},
		"status-529":         {502, "upstream_server_error"},
		"reset":              {502, "upstream_unreachable"},
		"html":               {502, "upstream_server_error"},
		"garbage":            {502, "upstream_server_error"},
	} {
		t.Run(terms, func(t *testing.T) {
			answer := p.On(t).Say(0, key, upstream.Model(terms))
			require.Equal(t, want.status, answer.Status, "%s", answer.Body)
			require.Equal(t, want.code, answer.Get("error.code").Str)
			require.Equal(t, "upstream", answer.Get("error.origin").Str)
			require.Equal(t, answer.Header.Get(client.HeaderRequestID), answer.Get("error.request_id").Str)
			require.NotContains(t, string(answer.Body), "127.0.0.1", "the upstream's address")
			require.Equal(t, want.code, p.On(t).Logged(answer.Header).Get("code").Str)
		})
	}
	t.Run("Retry-After is kept", func(t *testing.T) {
		require.Equal(t, "7", p.On(t).Say(0, key, upstream.Model("status-429-retry-7")).Header.Get("Retry-After"))
	})
	t.Run("a connection that the provider had closed is not held against it", func(t *testing.T) {
		p.On(t).Works(key) // leaves idle connections
		for range 3 {
			answer := p.On(t).Say(0, key, upstream.Model("stale"))
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		}
	})
}

func TestStreamsThatBreak(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	for _, terms := range []string{"cut-3", "error-mid"} {
		t.Run(terms, func(t *testing.T) {
			got := p.On(t).SayStreamed(key, upstream.Model(terms))
			require.Equal(t, http.StatusOK, got.Status)
			require.NoError(t, got.Err, "the body ends cleanly")
			require.False(t, got.Done(), "no terminal marker: %s", got.Body)
			require.NotEmpty(t, got.Text())
			last := client.Answer{Body: []byte(got.Data[len(got.Data)-1])}
			require.NotEmpty(t, last.Get("error.message").Str, "the last event is an error: %s", last.Body)
			entry := p.On(t).Logged(got.Header)
			require.Equal(t, "error", entry.Get("outcome").Str)
			require.Positive(t, entry.Get("usage.output").Int(), "what was seen is accounted for")
		})
	}
	t.Run("a caller that leaves", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		resp, err := p.Open(ctx, chatCall(p, key.Secret, string(client.ChatBody(upstream.Model("hang-3"), "Say hello", true))))
		require.NoError(t, err)
		_, err = io.ReadFull(resp.Body, make([]byte, 64))
		require.NoError(t, err)
		leave()
		_ = resp.Body.Close()
		p.On(t).Eventually(func() bool { return p.North.Stats().Active == 0 }, "the upstream call goes on")
		entry := p.On(t).Logged(resp.Header)
		require.Equal(t, "canceled", entry.Get("outcome").Str)
		require.Equal(t, int64(499), entry.Get("status").Int())
		require.Positive(t, entry.Get("usage.output").Int(), "what was seen is accounted for")
	})
}

func TestProvidersThatFallSilent(t *testing.T) {
	p := harness.Start(t, harness.Options{Configure: func(c *dataplane.Config) {
		c.Upstream.FirstByte, c.Upstream.Idle = 500*time.Millisecond, 500*time.Millisecond
	}})
	key := p.Key()
	t.Run("before the reply", func(t *testing.T) {
		answer := p.On(t).Say(0, key, upstream.Model("hang"))
		require.Equal(t, http.StatusGatewayTimeout, answer.Status, "%s", answer.Body)
		require.Equal(t, "upstream_timeout", answer.Get("error.code").Str)
		require.Equal(t, "first_byte_timeout", answer.Get("error.reason").Str)
	})
	t.Run("before the reply, with another provider left", func(t *testing.T) {
		answer := p.On(t).Ask(key, northFirst(upstream.Fallback("hang"), false))
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		require.Equal(t, upstream.North, answer.Header.Get(client.HeaderFallbacks))
	})
	t.Run("in the middle of a stream", func(t *testing.T) {
		got := p.On(t).SayStreamed(key, upstream.Model("hang-3"))
		require.NoError(t, got.Err)
		require.False(t, got.Done())
		require.NotEmpty(t, got.Text())
		last := client.Answer{Body: []byte(got.Data[len(got.Data)-1])}
		require.Equal(t, "stream_idle_timeout", last.Get("error.reason").Str, "%s", last.Body)
		require.Equal(t, "stream_idle_timeout", p.On(t).Logged(got.Header).Get("reason").Str)
	})
	p.Eventually(func() bool { return p.North.Stats().Active == 0 }, "an upstream call goes on")
}

func TestBadRequests(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	for name, tc := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"not JSON":         {`{"model":`, 400, "invalid_json"},
		"an array":         {`[]`, 400, "invalid_json"},
		"no model":         {`{"messages":[{"role":"user","content":"x"}]}`, 400, "no_default_model"},
		"model a number":   {`{"model":1,"messages":[]}`, 400, "validation_error"},
		"stream a string":  {`{"model":"sim/small","stream":"yes","messages":[]}`, 400, "validation_error"},
		"unknown model":    {`{"model":"sim/smal","messages":[{"role":"user","content":"x"}]}`, 404, "model_not_found"},
		"unknown provider": {`{"model":"nowhere:sim/small","messages":[{"role":"user","content":"x"}]}`, 400, "validation_error"},
		"misspelled":       {`{"model":"sim/small","provider":{"onlyy":["north"]},"messages":[{"role":"user","content":"x"}]}`, 400, "validation_error"},
		"models, no model": {`{"models":["sim/small"],"messages":[{"role":"user","content":"x"}]}`, 400, "validation_error"},
		"empty":            {``, 400, "invalid_json"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := p.On(t).Ask(key, tc.body)
			require.Equal(t, tc.status, answer.Status, "%s", answer.Body)
			require.Equal(t, tc.code, answer.Get("error.code").Str, "%s", answer.Body)
			require.Equal(t, "client", answer.Get("error.origin").Str)
			require.NotEmpty(t, answer.Get("error.message").Str)
		})
	}
	t.Run("too large", func(t *testing.T) {
		body := `{"model":"sim/small","messages":[{"role":"user","content":"` + strings.Repeat("x", 17<<20) + `"}]}`
		answer := p.On(t).Ask(key, body)
		require.Equal(t, http.StatusRequestEntityTooLarge, answer.Status)
		require.Equal(t, "payload_too_large", answer.Get("error.code").Str)
	})
	t.Run("unknown path and wrong method", func(t *testing.T) {
		for call, status := range map[string]int{"POST /v1/nothing": 404, "GET /v1/chat/completions": 405} {
			method, path, _ := strings.Cut(call, " ")
			answer, err := p.Do(t.Context(), client.Call{Method: method, URL: p.Gateways[0] + path, Bearer: key.Secret})
			require.NoError(t, err)
			require.Equal(t, status, answer.Status, call)
			require.NotEmpty(t, answer.Get("error.code").Str)
		}
	})
}
