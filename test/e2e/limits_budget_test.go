//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

const dollar = 1_000_000_000 // nano-USD

// Five hundred callers of three gateways ask for what costs up to a cent, at
// once and again when they are refused: a hard budget of a dollar is not passed
// by a nano-dollar, and is used up.
func TestAHardBudgetIsNeverPassed(t *testing.T) {
	p := limited(t, harness.Options{Configure: patient})
	p.North.HandleModel("dear", answers(&meter{}, 50*time.Millisecond, upTo(100)))
	key := p.Key()
	p.Change(http.MethodPost, "/v1/budgets", `{"interval":"monthly","limit_usd":"1.00","enforcement":"reserve"}`)
	ok := spendAll(t, p, key, 167, dearBody(100), "monthly_cost_budget_reached")
	total := spent(logged(t, p, ok))
	require.LessOrEqual(t, total, int64(dollar))
	require.GreaterOrEqual(t, total, int64(dollar)*95/100)
}

// spendAll has callers ask until they are refused for good, and returns how many
// requests were served.
func spendAll(t *testing.T, p *harness.Platform, key client.Key, callers int, body []byte, reason string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var ok atomic.Int64
	err := crowd(ctx, p, callers, func(gateway int) (bool, error) {
		answer, err := post(ctx, p, gateway, key, body)
		switch {
		case err != nil:
			return true, err
		case answer.Status == http.StatusOK:
			ok.Add(1)
			return false, nil
		case answer.Status == http.StatusServiceUnavailable && answer.Get("error.code").Str == "quota_unavailable":
			rest(ctx, time.Second)
			return false, nil
		case answer.Status != http.StatusTooManyRequests || answer.Get("error.reason").Str != reason || answer.Get("error.reset_at").Str == "":
			return true, fmt.Errorf("gateway %d answered %d: %s", gateway, answer.Status, answer.Body)
		case answer.Header.Get("Retry-After") == "1": // others are in progress
			rest(ctx, time.Second)
			return false, nil
		}
		return true, nil
	})
	require.NoError(t, err)
	require.NoError(t, ctx.Err(), "the callers are never refused for good")
	return ok.Load()
}

// A budget that only looks is passed by no more than what is in progress when it
// is reached, and what takes its place before every gateway knows.
func TestASoftBudgetIsPassedByWhatIsInProgress(t *testing.T) {
	p := limited(t, harness.Options{})
	const (
		limit = dollar / 10
		one   = 10*100_000 + 5*1000 // nano-USD
	)
	var inProgress meter
	p.North.HandleModel("dear", answers(&inProgress, time.Second, func() int { return 10 }))
	key := p.Key()
	p.Change(http.MethodPost, "/v1/budgets", `{"interval":"daily","limit_usd":"0.10"}`)
	var ok atomic.Int64
	err := crowd(t.Context(), p, 10, func(gateway int) (bool, error) {
		answer, err := post(t.Context(), p, gateway, key, dearBody(10))
		switch {
		case err != nil:
			return true, err
		case answer.Status == http.StatusOK:
			ok.Add(1)
			return false, nil
		case answer.Status == http.StatusTooManyRequests && answer.Get("error.reason").Str == "daily_cost_budget_reached":
			return true, nil
		}
		return true, fmt.Errorf("gateway %d answered %d: %s", gateway, answer.Status, answer.Body)
	})
	require.NoError(t, err)
	total := spent(logged(t, p, ok.Load()))
	require.GreaterOrEqual(t, total, int64(limit))
	require.LessOrEqual(t, total, limit+2*inProgress.most.Load()*one)
}

// Windows end where UTC says, also for what is in progress meanwhile.
func TestWindowsEndInUTC(t *testing.T) {
	for name, c := range map[string]struct {
		end    time.Time
		limits string
		reason string
	}{
		"midnight":         {time.Date(2026, 12, 3, 0, 0, 0, 0, time.UTC), `{"daily":{"requests":3}}`, "daily_request_limit_reached"},
		"Monday":           {time.Date(2026, 12, 7, 0, 0, 0, 0, time.UTC), `{"weekly":{"requests":3}}`, "weekly_request_limit_reached"},
		"the 1st":          {time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), `{"monthly":{"requests":3}}`, "monthly_request_limit_reached"},
		"the 1st, in cost": {time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), `{"monthly":{"cost_usd":"0.0015"}}`, "monthly_cost_limit_reached"},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); windowEnds(t, c.end, c.limits, c.reason) })
	}
}

func windowEnds(t *testing.T, end time.Time, limits, reason string) {
	const before = time.Hour // of the window's end, when the platform starts
	var ahead atomic.Int64
	ahead.Store(int64(time.Until(end.Add(-before))))
	p := limited(t, harness.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	five := answers(&meter{}, 0, func() int { return 5 })
	p.North.HandleModel("dear", five)
	key := p.Key()
	p.Change(http.MethodPatch, "/v1/keys/"+key.ID, `{"limits":`+limits+`}`)
	three := func(window string) {
		for n := range 3 {
			answer, err := post(t.Context(), p, n, key, dearBody(10))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, answer.Status, "request %d of the %s window: %s", n, window, answer.Body)
			p.Logged(answer.Header)
		}
		var refused client.Answer
		p.Eventually(func() bool {
			refused = p.Say(1, key, dear)
			return refused.Status == http.StatusTooManyRequests
		}, "the %s window has no limit", window)
		require.Equal(t, reason, refused.Get("error.reason").Str, refused.Body)
	}

	// One begins in the old window and ends in the new one: it counts in the old.
	entered, leave := make(chan struct{}), make(chan struct{})
	p.North.HandleModel("small", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		five.ServeHTTP(w, r)
	}))
	straddles := make(chan client.Answer, 1)
	go func() {
		answer, _ := p.Chat(t.Context(), 2, key.Secret, upstream.Small, "Say hello")
		straddles <- answer
	}()
	<-entered
	three("old")
	require.Equal(t, end.Format(time.RFC3339), p.Say(1, key, dear).Get("error.reset_at").Str)
	ahead.Add(int64(before))
	close(leave)
	answer := <-straddles
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	began, err := time.Parse(time.RFC3339Nano, p.Logged(answer.Header).Get("started_at").Str)
	require.NoError(t, err)
	require.True(t, began.Before(end))
	three("new")
}
