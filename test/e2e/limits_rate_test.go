//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

const (
	minuteLimit   = 1000
	minuteCallers = 100 // of each gateway
	minuteWatched = 75 * time.Second
)

// Three hundred callers press against a strict policy for longer than a minute:
// the log shows 1000 requests in no 60 seconds more, and that they were had.
func TestAStrictMinuteIsNeverPassed(t *testing.T) {
	admitted := press(t, `"requests_per_minute":1000,"fail_closed":true`)
	most, inTheFirst := busiest(admitted)
	require.LessOrEqual(t, most, minuteLimit, "in some 60 seconds")
	require.GreaterOrEqual(t, inTheFirst, minuteLimit, "in the first 60 seconds")
	require.Greater(t, len(admitted), minuteLimit, "nothing is admitted after the first minute")
}

// A background policy is passed by what the gateways admit between two looks at
// each other, and by no more: see docs/limits.md.
func TestABackgroundMinuteIsPassedByItsBound(t *testing.T) {
	admitted := press(t, `"requests_per_minute":1000`)
	most, inTheFirst := busiest(admitted)
	require.LessOrEqual(t, most, minuteLimit+backgroundBound(admitted), "in some 60 seconds")
	require.GreaterOrEqual(t, inTheFirst, minuteLimit, "in the first 60 seconds")
}

// press has many callers ask as fast as they are let, and returns when the
// requests that were served began.
func press(t *testing.T, limits string) []time.Time {
	p := limited(t, harness.Options{Configure: patient})
	p.North.HandleModel("dear", answers(&meter{}, 0, upTo(10)))
	key := p.Key()
	policy := ratePolicy(p, key, limits)
	ctx, cancel := context.WithTimeout(t.Context(), minuteWatched)
	defer cancel()
	var ok atomic.Int64
	body := dearBody(10)
	err := crowd(ctx, p, minuteCallers, func(gateway int) (bool, error) {
		answer, err := post(context.WithoutCancel(ctx), p, gateway, key, body)
		switch {
		case err != nil:
			return true, err
		case answer.Status == http.StatusOK:
			ok.Add(1)
			return false, nil
		case answer.Status != http.StatusTooManyRequests || answer.Get("error.policy_id").Str != policy:
		case answer.Get("error.reason").Str == "policy_requests_per_minute" && answer.Header.Get("Retry-After") != "",
			answer.Get("error.reason").Str == "policy_unavailable": // the machine was too slow for an answer in time
			rest(ctx, 1500*time.Millisecond)
			return false, nil
		}
		return true, fmt.Errorf("gateway %d answered %d: %s", gateway, answer.Status, answer.Body)
	})
	require.NoError(t, err)
	var began []time.Time
	for _, e := range logged(t, p, ok.Load()) {
		at, err := time.Parse(time.RFC3339Nano, e.Get("started_at").Str)
		require.NoError(t, err)
		began = append(began, at)
	}
	slices.SortFunc(began, time.Time.Compare)
	return began
}

// patient has strict limits wait as long as they may: the machine has much to do.
func patient(c *dataplane.Config) { c.Limits.StrictDeadline = 2 * time.Second }

// busiest is how many of the times lie in the 60 seconds that have the most, and
// in the first 60.
func busiest(at []time.Time) (most, first int) {
	for i, from := 0, 0; i < len(at); i++ {
		for at[i].Sub(at[from]) >= time.Minute {
			from++
		}
		most = max(most, i-from+1)
		if at[i].Sub(at[0]) < time.Minute {
			first++
		}
	}
	return most, first
}

// backgroundBound is what came in the half second in which most did: between two
// looks at what the other gateways counted no more can pass.
func backgroundBound(at []time.Time) int {
	most := 0
	for i, from := 0, 0; i < len(at); i++ {
		for at[i].Sub(at[from]) >= 500*time.Millisecond {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

const (
	slots   = 10
	forever = "fault-tps-1" // a token a second
)

// Ten slots over three gateways: never an eleventh request in progress, all ten
// are used, and those of callers who leave in the middle of a stream come back.
func TestConcurrencyIsNeverPassed(t *testing.T) {
	p := limited(t, harness.Options{Models: []string{forever}, Configure: patient})
	var inProgress meter
	p.North.HandleModel("dear", answers(&inProgress, 30*time.Millisecond, upTo(10)))
	key := p.Key()
	policy := ratePolicy(p, key, fmt.Sprintf(`"concurrent_requests":%d,"on_unavailable":"deny"`, slots))
	var ok, unanswered atomic.Int64
	err := crowd(t.Context(), p, 20, func(gateway int) (bool, error) {
		answer, err := post(t.Context(), p, gateway, key, dearBody(10))
		switch {
		case err != nil:
			return true, err
		case answer.Status == http.StatusOK:
			return ok.Add(1) >= 600, nil
		case full(answer, policy):
			rest(t.Context(), 20*time.Millisecond)
			return ok.Load() >= 600, nil
		case answer.Get("error.reason").Str == "policy_unavailable": // the machine was too slow for an answer in time
			unanswered.Add(1)
			return false, nil
		}
		return true, fmt.Errorf("gateway %d answered %d: %s", gateway, answer.Status, answer.Body)
	})
	require.NoError(t, err)
	require.EqualValues(t, slots, inProgress.most.Load(), "most in progress at once")
	require.Less(t, unanswered.Load(), ok.Load(), "requests that had no answer in time")
	t.Logf("%d served, %d without an answer in time", ok.Load(), unanswered.Load())

	leave := make([]context.CancelFunc, slots)
	for i := range leave {
		ctx, cancel := context.WithCancel(t.Context())
		leave[i] = cancel
		p.Eventually(func() bool { return streams(ctx, p, i%len(p.Gateways), key) }, "stream %d gets no slot", i)
	}
	require.True(t, full(p.Say(0, key, "sim/tps-50"), policy), "all slots are held by streams")
	for i := range leave {
		leave[i]()
		p.Eventually(func() bool { return p.Say((i+1)%len(p.Gateways), key, dear).Status == http.StatusOK }, "slot %d does not come back", i)
	}
}

func full(answer client.Answer, policy string) bool {
	return answer.Status == http.StatusTooManyRequests && answer.Get("error.reason").Str == "policy_concurrent_requests" &&
		answer.Get("error.policy_id").Str == policy && answer.Header.Get("Retry-After") == "1" && answer.Header.Get("X-Ratelimit-Limit-Requests") == ""
}

// streams begins a slow stream that goes on until ctx ends, and reports whether
// it was let.
func streams(ctx context.Context, p *harness.Platform, gateway int, key client.Key) bool {
	resp, err := p.Open(ctx, client.Call{
		Method: http.MethodPost, URL: p.Gateways[gateway] + "/v1/chat/completions", Bearer: key.Secret,
		Body: client.ChatBody("sim/"+forever, "Say hello", true),
	})
	if err != nil {
		return false
	}
	if resp.StatusCode != http.StatusOK {
		drain(resp)
		_ = resp.Body.Close()
		return false
	}
	go func() {
		defer func() { _ = resp.Body.Close() }()
		drain(resp) // ends with ctx
	}()
	return true
}
