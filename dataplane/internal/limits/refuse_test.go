package limits_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// told is everything that a caller hears of a refusal.
type told struct {
	Gate      string         `json:"gate"`
	Code      fault.Code     `json:"code"`
	Reason    fault.Reason   `json:"reason,omitempty"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	After     string         `json:"retry_after,omitempty"`
	OtherOK   bool           `json:"another_model_may_pass,omitempty"`
	Fields    map[string]any `json:"fields,omitempty"`
	Headers   http.Header    `json:"headers,omitempty"`
	Asked     int64          `json:"record_asked,omitempty"`
	Held      int64          `json:"record_held,omitempty"`
}

func hears(gate string, d *call.Declined) told {
	f := d.Fault
	out := told{Gate: gate, Code: f.Code, Reason: f.Reason, Message: f.Message, Retryable: f.Retryable, OtherOK: d.Model, Fields: f.Fields, Headers: d.Header}
	if len(d.Checks) > 0 {
		last := d.Checks[len(d.Checks)-1]
		out.Asked, out.Held = last.Asked, last.Held
	}
	if f.RetryAfter > 0 {
		out.After = f.RetryAfter.String()
	}
	return out
}

// furtherRefusals are those that no reached limit is behind.
func furtherRefusals() []exhausted {
	unavailable := func(p policy.RatePolicy) func(*asking, *world) {
		p.Keys, p.Unavailable = []id.Key{theKey}, policy.DenyUnavailable
		return func(a *asking, w *world) {
			a.rate(1, p)
			w.unknown, w.away = true, true
		}
	}
	hard := func(interval policy.Interval, limit, spent money.Nanos) func(*asking, *world) {
		return func(a *asking, w *world) {
			a.budget(1, policy.Budget{Interval: interval, Limit: limit, Reserve: true})
			w.spent = spent
		}
	}
	open := func(a *asking, w *world) { w.reserved["m-all"] = worst(1) }
	return []exhausted{
		{name: "unknown allowance", set: func(a *asking, w *world) { a.limits.Allowance.PerMinute, w.unknown = 5, true }},
		{name: "unknown allowance of free models", set: func(a *asking, w *world) {
			a.limits.Allowance.FreePerDay, w.unknown = 5, true
			a.chain[0] = priced("acme/small:free", 0, managed)
		}},
		{name: "allowance of a key that nobody has", set: func(a *asking, w *world) {
			a.limits.Allowance.PerMinute, a.key.CreatedBy = 5, id.User{}
			w.minutes["a"] = rate.Minute{Used: 5, Wait: 7 * time.Second}
		}},
		{name: "requests that nobody can tell", set: unavailable(policy.RatePolicy{Requests: 5})},
		{name: "strict requests that nobody can tell", set: unavailable(policy.RatePolicy{Requests: 5, Strict: true})},
		{name: "tokens that nobody can tell", set: unavailable(policy.RatePolicy{Tokens: 5})},
		{name: "slots that nobody can tell", set: unavailable(policy.RatePolicy{Concurrent: 5})},
		{name: "a reservation beside what is spent", set: hard(policy.Monthly, 10_000, 9_000)},
		{name: "a reservation beside open ones", set: func(a *asking, w *world) {
			hard(policy.Monthly, 6_000, 1)(a, w)
			open(a, w)
		}},
		{name: "a reservation that never fits", set: hard(policy.Monthly, 100, 0)},
		{name: "a reservation of a lifetime", set: hard(policy.Lifetime, 10_000, 9_000)},
		{name: "a reservation behind a stale view", set: hard(policy.Daily, 10_000, 10_001)},
		{name: "a reservation that nobody can tell", set: func(a *asking, w *world) { hard(policy.Daily, 10_000, 0)(a, w); w.away = true }},
		{name: "no worst case", set: func(a *asking, w *world) {
			hard(policy.Daily, 10_000, 0)(a, w)
			a.call.Body = []byte(`{"tools":[{"type":"web_search"}]}`)
		}},
	}
}

// TestRefusals holds every refusal against testdata/refusals.json.
func TestRefusals(t *testing.T) {
	var got []told
	for _, gate := range append(gatesInOrder(), furtherRefusals()...) {
		a, w := ask(policy.Limits{}), newWorld()
		gate.set(&a, w)
		_, refused := a.admit(t, w)
		require.NotNil(t, refused, gate.name)
		require.Empty(t, w.held()["taken"], gate.name)
		got = append(got, hears(gate.name, refused))
	}
	text, err := json.MarshalIndent(got, "", "  ")
	require.NoError(t, err)
	path := filepath.Join("testdata", "refusals.json")
	if *update {
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(text)+"\n")
}

// Every refusal says whose limit it is, which, what is used of it and when that
// changes; and when it says that it can be tried again, after how long.
func TestEveryRefusalNamesItsLimit(t *testing.T) {
	for _, gate := range gatesInOrder() {
		a, w := ask(policy.Limits{}), newWorld()
		gate.set(&a, w)
		_, refused := a.admit(t, w)
		f := refused.Fault
		for _, member := range []string{"scope", "id", "used", "limit", "reset_at"} {
			require.Contains(t, f.Fields, member, gate.name)
		}
		require.Equal(t, f.Retryable, f.RetryAfter > 0, gate.name)
		require.Equal(t, f.RetryAfter, f.RetryAfter.Truncate(time.Second), gate.name)
		require.NotContains(t, f.Message, "support", "it repeats nothing that was submitted")
		require.Equal(t, fault.Gateway, f.Origin)
		if f.Code != fault.RateLimitExceeded {
			require.Empty(t, refused.Header, gate.name)
		}
	}
}

func TestHeadersOfWhatIsAdmitted(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.rate(1, policy.RatePolicy{Requests: 100, Tokens: 5_000, Keys: []id.Key{theKey}})
	a.rate(2, policy.RatePolicy{Requests: 20, Members: []id.User{theUser}, Strict: true})
	a.rate(3, policy.RatePolicy{Tokens: 9_000, Concurrent: 2, Members: []id.User{theUser}})
	w.minutes[subject("r", 1, theKey.String())] = rate.Minute{Used: 90}
	w.minutes[subject("t", 1, theKey.String())] = rate.Minute{Used: 100, Clears: 10 * time.Second}
	w.minutes[subject("t", 3, theUser.String())] = rate.Minute{Used: 8_900, Clears: 41500 * time.Millisecond}
	w.taken[subject("r", 2, theUser.String())] = 3
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Equal(t, http.Header{
		"X-Ratelimit-Limit-Requests": {"100"}, "X-Ratelimit-Remaining-Requests": {"9"}, "X-Ratelimit-Reset-Requests": {"60s"},
		"X-Ratelimit-Limit-Tokens": {"9000"}, "X-Ratelimit-Remaining-Tokens": {"100"}, "X-Ratelimit-Reset-Tokens": {"42s"},
	}, grant.Header(), "those that leave least")

	w.unknown = true
	grant, refused = a.admit(t, w)
	require.Nil(t, refused)
	require.Equal(t, []string{"20"}, grant.Header()["X-Ratelimit-Limit-Requests"], "nothing is said of what is not known")
	require.NotContains(t, grant.Header(), "X-Ratelimit-Limit-Tokens")

	only := ask(policy.Limits{Allowance: policy.Allowance{PerMinute: 9}})
	grant, _ = only.admit(t, newWorld())
	require.Nil(t, grant.Header(), "no policy applies")
}

// The 31st, a Sunday, a year's end: windows end where they say, and a request is
// measured by the window in which it came.
func TestWindows(t *testing.T) {
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return v
	}
	for _, c := range []struct{ received, now, daily, weekly, monthly string }{
		{"2026-03-11T12:00:00Z", "2026-03-11T12:00:00Z", "2026-03-12T00:00:00Z", "2026-03-16T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"2026-03-31T23:59:59Z", "2026-03-31T23:59:59Z", "2026-04-01T00:00:00Z", "2026-04-06T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"2026-03-15T00:00:00Z", "2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z", "2026-03-16T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"2026-03-16T00:00:00Z", "2026-03-16T00:00:00Z", "2026-03-17T00:00:00Z", "2026-03-23T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"2026-12-31T23:00:00Z", "2026-12-31T23:00:00Z", "2027-01-01T00:00:00Z", "2027-01-04T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2026-03-31T21:00:00-05:00", "2026-03-31T21:00:00-05:00", "2026-04-02T00:00:00Z", "2026-04-06T00:00:00Z", "2026-05-01T00:00:00Z"},
		// It came before midnight and asks after: its own window has ended.
		{"2026-03-31T23:59:59Z", "2026-04-01T00:00:01Z", "2026-04-01T00:00:00Z", "2026-04-06T00:00:00Z", "2026-04-01T00:00:00Z"},
	} {
		for interval, want := range map[policy.Interval]string{policy.Daily: c.daily, policy.Weekly: c.weekly, policy.Monthly: c.monthly} {
			a, w := ask(policy.Limits{}), newWorld()
			a.budget(1, policy.Budget{Interval: interval, Limit: 5})
			a.call.Received, w.now = at(c.received), at(c.now)
			w.spend(wire.AccountWorkspace, interval, wire.Spend{Cost: 5})
			_, refused := a.admit(t, w)
			require.Equal(t, want, refused.Fault.Fields["reset_at"])
			require.Equal(t, max(time.Second, at(want).Sub(w.now)), refused.Fault.RetryAfter)
		}
	}
}
