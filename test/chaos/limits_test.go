//go:build chaos

package chaos_test

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/stack"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

const (
	slots     = 4
	slotsBack = 45 * time.Second // the lease of a gateway's slots is 30
	awayFor   = time.Minute
	answered  = 2 * time.Second // a strict limit tells by then, also that it cannot tell
	recovered = 90 * time.Second
)

// TestLimitsOutliveEverything kills, stops and wipes what limits stand on: they
// are not passed, and what was counted is what the log has.
func TestLimitsOutliveEverything(t *testing.T) {
	s := start(t)

	t.Run("a killed gateway's slots come back", func(t *testing.T) {
		l := limit(t, s, "slots", `"concurrent_requests":4,"on_unavailable":"deny"`)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range slots {
			l.holds(ctx, t, i%gateways)
		}
		require.Equal(t, http.StatusTooManyRequests, l.ask(t, 1).Status)
		require.NoError(t, s.GatewayProcs[0].Kill())
		require.Eventually(t, func() bool { return l.ask(t, 1).Status == http.StatusOK }, slotsBack, 100*time.Millisecond, "no slot comes back")
		require.NoError(t, s.GatewayProcs[0].Restart())
		require.NoError(t, s.AwaitGateway(t.Context(), 0))
	})

	t.Run("NATS is away for a minute", func(t *testing.T) {
		strict := limit(t, s, "strict", `"requests_per_minute":100000,"fail_closed":true`)
		load := begin(t, s.Platform, "background")
		policy(t, load.workspace, load.keyID, `"requests_per_minute":1000000`)
		require.Eventually(t, func() bool { return strict.ask(t, 0).Status == http.StatusOK }, recovered, 100*time.Millisecond)
		require.NoError(t, s.NATS.Stop(outage))
		for back := time.Now().Add(awayFor); time.Now().Before(back); {
			began := time.Now()
			answer := strict.ask(t, 0)
			require.Equal(t, http.StatusTooManyRequests, answer.Status, "%s", answer.Body)
			require.Equal(t, "policy_unavailable", answer.Get("error.reason").Str)
			require.Less(t, time.Since(began), answered)
			load.more(t, 50)
		}
		require.NoError(t, s.NATS.Restart())
		require.Eventually(t, func() bool { return strict.ask(t, 0).Status == http.StatusOK }, recovered, 100*time.Millisecond, "strict limits do not come back")
		load.more(t, 200)
		load.settle(t, settleTime)
		load.unharmed(t, none)
		counted(t, s, load.workspace, load.key)
	})

	t.Run("NATS comes back empty", func(t *testing.T) {
		l := limit(t, s, "wiped", "")
		l.reserve(t, "0.05")
		l.spendFor(t, 2*time.Second)
		require.NoError(t, s.NATS.Stop(outage))
		require.NoError(t, s.WipeNATS())
		require.NoError(t, s.NATS.Restart())
		require.Eventually(t, func() bool { return l.ask(t, 1).Status == http.StatusOK }, recovered, 100*time.Millisecond, "nothing is left to spend")
		l.spendAll(t)
		l.withinBudget(t)
		counted(t, s, l.workspace, l.key.Secret)
	})

	t.Run("every process is killed", func(t *testing.T) {
		l := limit(t, s, "killed", "")
		l.reserve(t, "0.1")
		for _, kill := range []func() error{
			func() error {
				if err := s.GatewayProcs[0].Kill(); err != nil {
					return err
				}
				if err := s.GatewayProcs[0].Restart(); err != nil {
					return err
				}
				return s.AwaitGateway(t.Context(), 0)
			},
			func() error {
				if err := s.ControlPlane.Kill(); err != nil {
					return err
				}
				if err := s.ControlPlane.Restart(); err != nil {
					return err
				}
				return s.AwaitControlPlane(t.Context())
			},
			func() error {
				if err := s.NATS.Kill(); err != nil {
					return err
				}
				return s.NATS.Restart()
			},
		} {
			done := make(chan error, 1)
			go func() { done <- kill() }()
			l.spendFor(t, 2*time.Second)
			require.NoError(t, <-done)
		}
		require.Eventually(t, func() bool { return l.ask(t, 1).Status == http.StatusOK }, recovered, 100*time.Millisecond, "nothing is left to spend")
		l.spendAll(t)
		l.withinBudget(t)
		counted(t, s, l.workspace, l.key.Secret)
	})

	t.Run("the books agree", func(t *testing.T) {
		out, err := reconcile(t, s)
		require.NoError(t, err, "%s", out)
	})
}

// bounded is a workspace with a key that is limited.
type bounded struct {
	workspace client.Workspace
	key       client.Key
	held      [gateways]int64 // slots, by gateway
}

func limit(t *testing.T, s *stack.Stack, slug, limits string) *bounded {
	t.Helper()
	w, err := s.CreateWorkspace(t.Context(), slug)
	require.NoError(t, err)
	key, publication, err := w.CreateKey(t.Context(), client.NewKey{Name: "limited"}, 10*time.Second)
	require.NoError(t, err)
	require.Zero(t, publication.Pending)
	if limits != "" {
		policy(t, w, key.ID, limits)
	}
	l := &bounded{workspace: w, key: key}
	require.Eventually(t, func() bool { return l.ask(t, 0).Status == http.StatusOK }, recovered, 100*time.Millisecond)
	return l
}

// policy assigns a new rate-limit policy to a key.
func policy(t *testing.T, w client.Workspace, key, limits string) {
	t.Helper()
	made, err := w.Manage(t.Context(), http.MethodPost, "/v1/rate-limits/policies", []byte(`{"name":"p",`+limits+`}`))
	require.NoError(t, err)
	body := fmt.Sprintf(`{"policy_id":%q,"target_type":"key","target_id":%q}`, made.Get("data.id").Str, key)
	answer, err := w.Manage(t.Context(), http.MethodPost, "/v1/rate-limits/assignments?wait=10s", []byte(body))
	require.NoError(t, err)
	require.Zero(t, answer.Get("publication.pending").Int())
}

func (l *bounded) ask(t *testing.T, gateway int) client.Answer {
	t.Helper()
	answer, err := l.try(t.Context(), gateway)
	require.NoError(t, err)
	return answer
}

// try asks for up to 20 tokens.
func (l *bounded) try(ctx context.Context, gateway int) (client.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return l.workspace.Post(ctx, gateway, l.key.Secret, "/v1/chat/completions",
		[]byte(`{"model":"`+upstream.Small+`","max_tokens":20,"messages":[{"role":"user","content":"Say hello"}]}`))
}

// holds begins a request that its provider never answers, and returns when the
// provider has it.
func (l *bounded) holds(ctx context.Context, t *testing.T, gateway int) {
	t.Helper()
	require.Eventually(t, func() bool { return l.inUse(t, gateway) == l.held[gateway] }, 10*time.Second, 20*time.Millisecond)
	l.held[gateway]++
	go func() {
		_, _ = l.workspace.Post(ctx, gateway, l.key.Secret, "/v1/chat/completions", client.ChatBody(upstream.Model("hang"), "Say hello", false))
	}()
	require.Eventually(t, func() bool { return l.inUse(t, gateway) == l.held[gateway] }, 10*time.Second, 20*time.Millisecond)
}

// inUse is how many slots a gateway says to be taken.
func (l *bounded) inUse(t *testing.T, gateway int) int64 {
	t.Helper()
	answer, err := l.workspace.Do(t.Context(), client.Call{Method: http.MethodGet, URL: l.workspace.Gateways[gateway] + "/metrics"})
	require.NoError(t, err)
	var held int64
	for line := range strings.Lines(string(answer.Body)) {
		if rest, ok := strings.CutPrefix(line, "signalbox_gateway_cells_held "); ok {
			_, _ = fmt.Sscan(rest, &held)
		}
	}
	return held
}

// reserve gives the workspace a hard budget, of which each request has 0.00042 USD
// kept back and costs a fiftieth of that.
func (l *bounded) reserve(t *testing.T, usd string) {
	t.Helper()
	answer, err := l.workspace.Manage(t.Context(), http.MethodPost, "/v1/budgets?wait=10s",
		[]byte(`{"interval":"monthly","limit_usd":"`+usd+`","enforcement":"reserve"}`))
	require.NoError(t, err)
	require.Zero(t, answer.Get("publication.pending").Int())
}

// spendFor has callers of all gateways ask for a while, whatever comes of it.
func (l *bounded) spendFor(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	l.spend(ctx, func(client.Answer, error) bool { return false })
}

// spendAll has them ask until each was refused for good.
func (l *bounded) spendAll(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var over atomic.Int64
	l.spend(ctx, func(answer client.Answer, err error) bool {
		if err == nil && answer.Status == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "1" {
			over.Add(1)
			return true
		}
		return false
	})
	require.EqualValues(t, gateways*workersPerGateway, over.Load(), "callers that were refused for good")
}

func (l *bounded) spend(ctx context.Context, enough func(client.Answer, error) bool) {
	var all sync.WaitGroup
	for gateway := range gateways {
		for range workersPerGateway {
			all.Go(func() {
				for ctx.Err() == nil {
					answer, err := l.try(context.WithoutCancel(ctx), gateway)
					if enough(answer, err) {
						return
					}
					if err != nil || answer.Status != http.StatusOK {
						select {
						case <-time.After(20 * time.Millisecond):
						case <-ctx.Done():
						}
					}
				}
			})
		}
	}
	all.Wait()
}

// withinBudget asserts that what the log has cost no more than the budget, and
// that the budget was used.
func (l *bounded) withinBudget(t *testing.T) {
	t.Helper()
	budgets, err := l.workspace.Manage(t.Context(), http.MethodGet, "/v1/budgets", nil)
	require.NoError(t, err)
	most := budgets.Get("data.0.limit_nanos").Int()
	var total int64
	require.Eventually(t, func() bool {
		rows, err := l.workspace.Logs(t.Context())
		if err != nil {
			return false
		}
		before := total
		total = 0
		for _, row := range rows {
			total += row.Get("cost_nanos").Int()
		}
		return total == before && total >= most*95/100
	}, settleTime, time.Second, "the log does not come to rest at the budget")
	require.LessOrEqual(t, total, most)
}

// counted asserts that every gateway comes to know of a key's usage exactly what
// the log has.
func counted(t *testing.T, s *stack.Stack, w client.Workspace, key string) {
	t.Helper()
	var requests, cost int64
	rows, err := w.Logs(t.Context())
	require.NoError(t, err)
	for _, row := range rows {
		if row.Get("outcome").Str != "refused" {
			requests++
			cost += row.Get("cost_nanos").Int()
		}
	}
	for i, gateway := range s.Gateways {
		var got client.Answer
		require.Eventuallyf(t, func() bool {
			got, err = w.Do(t.Context(), client.Call{Method: http.MethodGet, URL: gateway + "/v1/key", Bearer: key})
			usage := got.Get("data.usage.monthly")
			return err == nil && usage.Get("requests").Int() == requests && usage.Get("cost_nanos").Int() == cost
		}, settleTime, 500*time.Millisecond, "gateway %d does not know of %d requests for %d", i, requests, cost)
	}
}

// reconcile runs the operator's proof of the books.
func reconcile(t *testing.T, s *stack.Stack) ([]byte, error) {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join("..", "..", "bin", "signalbox"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), bin, "reconcile")
	cmd.Env = append(cmd.Environ(), "SIGNALBOX_DATABASE_URL="+s.DatabaseURL())
	return cmd.CombinedOutput()
}
