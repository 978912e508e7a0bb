package app_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// limited publishes limits, and the platform's key as it is then.
func (p *platform) limited(l policy.Limits) {
	p.t.Helper()
	p.publishPolicy(policy.Snapshot{Revision: 2, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(), Limits: &l})
	p.key.Revision, p.key.MinRevision = 2, 2
	p.publishKey(p.key.Versioned())
}

// A rate limit reaches callers in the form of their SDK, with its headers, and the
// record of what it refused says so. All keys of a member share it.
func TestARateLimitIsTold(t *testing.T) {
	p := newPlatform(t)
	limit := id.New[id.RatePolicyKind](p.ids)
	p.key.Agent = "of the key"
	p.limited(policy.Limits{RatePolicies: []policy.RatePolicy{
		{ID: limit, Name: "two", Requests: 2, Tokens: 1_000_000, Concurrent: 1, Unavailable: policy.AllowUnavailable, Members: []id.User{p.key.CreatedBy}},
	}, Budgets: []policy.Budget{{ID: id.New[id.BudgetKind](p.ids), Interval: policy.Daily, Limit: money.USD, Agent: "of the call"}}})
	other, token := p.newKey()
	other.CreatedBy = p.key.CreatedBy
	p.publishKey(other)
	g := p.gateway()
	const body = `{"model":"acme/small","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`

	first := g.do(http.MethodPost, "/v1/chat/completions", p.token, body, "x-signalbox-agent-id", "of the call")
	require.Equal(t, 200, first.status, first.body)
	require.Equal(t, "2", first.header.Get("X-Ratelimit-Limit-Requests"))
	require.Equal(t, "1", first.header.Get("X-Ratelimit-Remaining-Requests"))
	require.Equal(t, "60s", first.header.Get("X-Ratelimit-Reset-Requests"))
	require.Equal(t, "1000000", first.header.Get("X-Ratelimit-Limit-Tokens"))
	second := g.do(http.MethodPost, "/v1/messages", token, body)
	require.Equal(t, 200, second.status, second.body)
	require.Equal(t, "0", second.header.Get("X-Ratelimit-Remaining-Requests"))

	third := g.do(http.MethodPost, "/v1/messages", p.token, body)
	require.Equal(t, 429, third.status)
	require.Regexp(t, `^[1-6]?[0-9]$`, third.header.Get("Retry-After"))
	require.Equal(t, "0", third.header.Get("X-Ratelimit-Remaining-Requests"))
	require.Empty(t, third.header.Get("X-Ratelimit-Limit-Tokens"))
	var told struct {
		Type  string         `json:"type"`
		Error map[string]any `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(third.body), &told))
	require.Equal(t, "error", told.Type)
	require.Equal(t, "rate_limit_error", told.Error["type"])
	require.Equal(t, "policy_requests_per_minute", told.Error["reason"])
	require.Equal(t, limit.String(), told.Error["policy_id"])
	require.Equal(t, "member", told.Error["limit_scope"])

	events := p.events(third.header.Get("X-Signalbox-Request-Id"), 1)
	require.Equal(t, wire.Refused, events[0].Outcome)
	require.Empty(t, p.events(second.header.Get("X-Signalbox-Request-Id"), 1)[0].Agent, "the other key has none")
	require.Equal(t, "of the call", p.events(first.header.Get("X-Signalbox-Request-Id"), 1)[0].Agent)
	var record decide.Record
	require.NoError(t, json.Unmarshal(events[0].Decision, &record))
	require.Equal(t, []decide.LimitCheck{{Scope: "member", ID: limit.String(), Metric: "requests", Window: "minute", Used: 2, Limit: 2}}, record.Limits)

	about := g.do(http.MethodGet, "/v1/key", p.token, "")
	require.Contains(t, about.body, `"scope":"member","id":"`+limit.String()+`","metric":"requests","window":"minute","limit":2,"used":2,"remaining":0`)
}

// A key that its workspace blocked is told so, and why waiting does not help.
func TestASoftBlockedKeyIsTold(t *testing.T) {
	p := newPlatform(t)
	p.key.Limits, p.key.Revision = &policy.KeyLimits{SoftBlocked: true}, 2
	p.publishKey(p.key.Versioned())
	g := p.gateway()
	a := g.do(http.MethodPost, "/v1/chat/completions", p.token, `{"model":"acme/small","messages":[{"role":"user","content":"Hello"}]}`)
	require.Equal(t, 429, a.status, a.body)
	require.Contains(t, a.body, `"reason":"key_limit_soft_blocked"`)
	require.Empty(t, a.header.Get("Retry-After"))
	require.Equal(t, 400, g.do(http.MethodPost, "/v1/chat/completions", p.token, `{"model":5}`).status, "what is malformed comes to no gate")
	require.Equal(t, 400, g.do(http.MethodPost, "/v1/chat/completions", p.token, `{"model":"acme/small","messages":[]}`, "x-signalbox-agent-id", "").status)
}
