package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

func TestCredentialsStayHere(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	for name, carry := range map[string]func(*client.Call){
		"bearer":         func(c *client.Call) { c.Bearer = key.Secret },
		"x-api-key":      func(c *client.Call) { c.Header.Set("X-Api-Key", key.Secret) },
		"x-goog-api-key": func(c *client.Call) { c.Header.Set("X-Goog-Api-Key", key.Secret) },
		"?key=":          func(c *client.Call) { c.URL += "?key=" + key.Secret },
	} {
		t.Run(name, func(t *testing.T) {
			p.North.Forget()
			call := client.Call{
				Method: http.MethodPost, URL: p.Gateways[0] + "/v1/chat/completions",
				Body: client.ChatBody(upstream.Small, "hi", false),
				Header: http.Header{
					"Cookie": {"session=canary-cookie"}, "Proxy-Authorization": {"Basic canary"}, "Api-Key": {"canary-api-key"},
					"X-Forwarded-For": {"203.0.113.9"}, "X-Real-Ip": {"203.0.113.9"}, "Forwarded": {"for=203.0.113.9"},
					"X-Signalbox-Metadata": {`{"team":"canary-team"}`}, "X-Signalbox-User-Id": {"canary-user"},
					"X-Sim-Fault": {"status-418"}, "Referer": {"https://canary.example/"}, "X-Request-Id": {"canary-request"},
				},
			}
			carry(&call)
			answer, err := p.Do(t.Context(), call)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

			seen := p.North.Requests()
			require.Len(t, seen, 1)
			var all strings.Builder
			require.NoError(t, seen[0].Header.Write(&all))
			all.WriteString(seen[0].Path + "?" + seen[0].Query.Encode() + string(seen[0].Body))
			for _, canary := range []string{key.Secret, "canary", "203.0.113.9", "sb_v1_"} {
				require.NotContains(t, all.String(), canary)
			}
			for header := range seen[0].Header {
				require.False(t, strings.HasPrefix(header, "X-Signalbox"), header)
			}
			require.Empty(t, seen[0].Header.Get("Authorization"), "a provider without a key gets none")
		})
	}
}

func TestTheProvidersHeadersStayThere(t *testing.T) {
	p := harness.Start(t, harness.Options{Models: []string{exact}})
	key := p.Key()
	p.North.HandleModel(exact, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{
			"Set-Cookie": "canary=1", "Server": "canary", "X-Ratelimit-Remaining-Requests": "41", "Openai-Organization": "canary",
			"X-Request-Id": "canary", "Via": "canary", "Strict-Transport-Security": "max-age=1", "Access-Control-Allow-Origin": "canary",
			"Content-Type": "application/json",
		} {
			w.Header().Set(name, value)
		}
		_, _ = w.Write([]byte(plainReply)) // the caller may have gone
	}))
	answer := p.Ask(key, `{"model":"sim/exact","messages":[{"role":"user","content":"hi"}]}`)
	require.Equal(t, http.StatusOK, answer.Status)
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	for name, values := range answer.Header {
		require.NotContains(t, strings.Join(values, ","), "canary", name)
	}
	require.NotEqual(t, "41", answer.Header.Get("X-Ratelimit-Remaining-Requests"))
	require.NotEmpty(t, answer.Header.Get(client.HeaderRevision))
	require.Equal(t, "sim/exact", answer.Header.Get(client.HeaderModel))
	require.Equal(t, "0", answer.Header.Get(client.HeaderRetries))
	require.Empty(t, answer.Header.Values(client.HeaderFallbacks))
	require.Contains(t, answer.Header.Get("Server-Timing"), "gw;dur=")
}

func TestTwoDifferentCredentialsAreRefused(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	one, two := p.Key(), p.Key()
	call := chatCall(p, one.Secret, string(client.ChatBody(upstream.Small, "hi", false)))
	call.Header = http.Header{"X-Api-Key": {two.Secret}}
	answer, err := p.Do(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, answer.Status, "%s", answer.Body)
	require.NotContains(t, string(answer.Body), one.Secret)

	call.Header = http.Header{"X-Api-Key": {one.Secret}}
	answer, err = p.Do(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status, "the same one twice is fine")
}
