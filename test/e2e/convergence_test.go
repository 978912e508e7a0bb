package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

const within = 10 * time.Second

func TestThreeGatewaysAgree(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 3})

	t.Run("a new key works on all and a revoked one on none", func(t *testing.T) {
		p := p.On(t)
		key := p.Key()
		p.Works(key)
		p.Revoke(key)
		p.Refused(key, "key_revoked")
	})
	t.Run("a paused key is refused until it is resumed", func(t *testing.T) {
		p := p.On(t)
		key := p.Key()
		p.Works(key)
		_, err := p.KeyAction(t.Context(), key.ID, "pause", nil, within)
		require.NoError(t, err)
		p.Refused(key, "key_paused")
		_, err = p.KeyAction(t.Context(), key.ID, "resume", nil, within)
		require.NoError(t, err)
		p.Works(key)
	})
	t.Run("a rotated key works until its grace ends", func(t *testing.T) {
		p := p.On(t)
		key := p.Key()
		p.Works(key)
		answer, err := p.KeyAction(t.Context(), key.ID, "rotate", map[string]int{"grace_seconds": 3600}, within)
		require.NoError(t, err)
		p.Works(client.Key{ID: key.ID, Secret: answer.Get("data.key").Str})
		p.Works(key)
		fresh, err := p.KeyAction(t.Context(), key.ID, "rotate", map[string]int{"grace_seconds": 0}, within)
		require.NoError(t, err)
		p.Refused(key, "invalid_key")
		p.Works(client.Key{ID: key.ID, Secret: fresh.Get("data.key").Str})
	})
	t.Run("an expired key is refused", func(t *testing.T) {
		p := p.On(t)
		soon := time.Now().Add(1500 * time.Millisecond)
		key := p.NewKey(client.NewKey{Name: "short", ExpiresAt: &soon})
		p.Eventually(func() bool { return p.Say(0, key, upstream.Small).Get("error.reason").Str == "key_expired" }, "the key lives on")
		p.Refused(key, "key_expired")
	})
	t.Run("an unknown key and a wrong secret read alike", func(t *testing.T) {
		p := p.On(t)
		key := p.Key()
		wrong := client.Key{Secret: key.Secret[:len(key.Secret)-4] + "0000"}
		unknown := client.Key{Secret: key.Secret[:6] + "0000000000000000" + key.Secret[22:]}
		p.Refused(wrong, "invalid_key")
		p.Refused(unknown, "invalid_key")
		require.Equal(t, p.Say(0, wrong, upstream.Small).Get("error.message").Str, p.Say(0, unknown, upstream.Small).Get("error.message").Str)
	})
	t.Run("a key keeps to its models", func(t *testing.T) {
		p := p.On(t)
		key := p.NewKey(client.NewKey{Name: "scoped", Models: []string{"sim/both"}})
		require.Equal(t, http.StatusOK, p.Say(0, key, "sim/both").Status)
		require.NotEqual(t, http.StatusOK, p.Say(0, key, upstream.Small).Status)
	})
	t.Run("a setting is everywhere when the call returns", func(t *testing.T) {
		p := p.On(t)
		key := p.Key()
		p.Works(key)
		publication, err := p.PatchSettings(t.Context(), map[string]any{"default_model": upstream.Small}, within)
		require.NoError(t, err)
		require.Zero(t, publication.Pending)
		for i := range p.Gateways {
			answer, err := p.Post(t.Context(), i, key.Secret, "/v1/chat/completions", []byte(`{"messages":[{"role":"user","content":"x"}]}`))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, upstream.Small, answer.Header.Get(client.HeaderModel))
		}
	})
	t.Run("the control plane sees all three", func(t *testing.T) {
		p := p.On(t)
		p.Eventually(func() bool {
			live, err := p.LiveGateways(t.Context())
			return err == nil && live == 3
		}, "three gateways are live")
	})
}

func TestWhenThingsAreDown(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2})
	key := p.Key()
	p.Works(key)

	t.Run("the control plane", func(t *testing.T) {
		p := p.On(t)
		p.StopControlPlane()
		p.Works(key)
		p.StopGateway(1)
		p.StartGateway(1) // reads what it needs from NATS
		p.Works(key)
		p.StartControlPlane()
		p.Works(p.Key())
	})

	t.Run("NATS, and a gateway that starts from its disk", func(t *testing.T) {
		p := p.On(t)
		p.StopNATS()
		p.Works(key)
		p.StopGateway(1)
		p.StartGateway(1)
		p.Works(key)

		unknown := client.Key{Secret: key.Secret[:6] + "1111111111111111" + key.Secret[22:]}
		answer := p.Say(1, unknown, upstream.Small)
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, "what cannot be looked up is not refused: %s", answer.Body)
		require.Equal(t, "upstream_undetermined", answer.Get("error.code").Str)

		verbose, err := p.Do(t.Context(), client.Call{Method: http.MethodGet, URL: p.Gateways[1] + "/readyz?verbose"})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, verbose.Status)
		policy := verbose.Get(`checks.#(name=="policy")`)
		require.Equal(t, "false", policy.Get("ok").Raw, "it says that it serves from its disk: %s", verbose.Body)

		served := p.Say(1, key, upstream.Small)
		p.StartNATS()
		require.Equal(t, "success", p.Logged(served.Header).Get("outcome").Str, "what was served meanwhile is accounted for")
		p.Works(p.Key())
		p.Revoke(key)
		p.Refused(key, "key_revoked")
	})
}

func TestTheAccountOfARequest(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	call := chatCall(p, key.Secret, string(client.ChatBody("sim/both", "Say hello", false)))
	call.Header = http.Header{"X-Request-Id": {"caller-7"}, "X-Signalbox-Session-Id": {"session-7"}, "X-Signalbox-User-Id": {"user-7"}}
	answer, err := p.Do(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	entry := p.Logged(answer.Header)
	for path, want := range map[string]any{
		"id": answer.Header.Get(client.HeaderRequestID), "primary_request_id": answer.Header.Get(client.HeaderRequestID),
		"surface": "chat", "outcome": "success", "status": float64(200), "key_id": key.ID,
		"requested_model": "sim/both", "decided_model": "sim/both", "provider": answer.Header.Get(client.HeaderProvider),
		"client_request_id": "caller-7", "session_id": "session-7", "end_user": "user-7",
		"decision.requested_model": "sim/both", "attempts.0.status": float64(200),
	} {
		require.Equal(t, want, entry.Get(path).Value(), path)
	}
	require.Equal(t, answer.Get("usage.prompt_tokens").Int(), entry.Get("usage.input").Int())
	require.Equal(t, answer.Get("usage.completion_tokens").Int(), entry.Get("usage.output").Int())
	require.Positive(t, entry.Get("cost_nanos").Int())
	require.NotContains(t, entry.Raw, "Say hello", "the account holds no content")

	own, err := p.Do(t.Context(), client.Call{
		Method: http.MethodGet, URL: p.Gateways[0] + "/v1/generations/" + answer.Header.Get(client.HeaderRequestID), Bearer: key.Secret,
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, own.Status, "%s", own.Body)

	other, err := p.CreateWorkspace(t.Context(), "globex")
	require.NoError(t, err)
	_, err = other.Log(t.Context(), answer.Header.Get(client.HeaderRequestID))
	var problem *client.Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, http.StatusNotFound, problem.Answer.Status, "another tenant's request is not there")

	p.Eventually(func() bool {
		usage, err := p.Usage(t.Context())
		return err == nil && usage.Get("totals.requests").Int() == 1
	}, "the usage totals count it")
}
