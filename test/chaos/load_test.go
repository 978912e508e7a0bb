//go:build chaos

package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// sent is one request of the load with what came of it.
type sent struct {
	gateway int
	client  string // the x-request-id that it carried
	id      string // the gateway's id; "" when no head came
	status  int
	err     error
}

// steady is a load that runs beside a fault and keeps account of itself.
type steady struct {
	workspace client.Workspace
	key       string
	keyID     string
	cancel    context.CancelFunc
	done      sync.WaitGroup

	mu   sync.Mutex
	sent []sent
}

const (
	workersPerGateway = 4
	every             = 10 * time.Millisecond // of each worker
)

// begin makes a tenant of its own and loads every gateway with plain and
// streamed requests until the test ends it.
func begin(t *testing.T, p client.Platform, slug string) *steady {
	t.Helper()
	w, err := p.CreateWorkspace(t.Context(), slug)
	require.NoError(t, err)
	key, publication, err := w.CreateKey(t.Context(), client.NewKey{Name: "load"}, 10*time.Second)
	require.NoError(t, err)
	require.Zero(t, publication.Pending)
	ctx, cancel := context.WithCancel(t.Context())
	s := &steady{workspace: w, key: key.Secret, keyID: key.ID, cancel: cancel}
	t.Cleanup(s.end)
	for g := range p.Gateways {
		warm := s.one(ctx, g, fmt.Sprintf("warm-%d", g), client.ChatBody(upstream.Small, "warm", false))
		require.NoError(t, warm.err)
		require.Equal(t, http.StatusOK, warm.status) // the gateway holds the key from here on
		s.add(warm)
		for n := range workersPerGateway {
			s.done.Go(func() { s.work(ctx, g, n) })
		}
	}
	return s
}

// end stops the load and lets what is in flight finish.
func (s *steady) end() {
	s.cancel()
	s.done.Wait()
}

func (s *steady) work(ctx context.Context, gateway, worker int) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		model, stream := upstream.Small, n%4 == 1
		if worker == 0 { // a paced stream is in flight whenever something is killed
			model, stream = upstream.Model("tps-50"), true
		}
		got := s.one(context.WithoutCancel(ctx), gateway, fmt.Sprintf("c-%d-%d-%d", gateway, worker, n), client.ChatBody(model, "Say hello", stream))
		s.add(got)
	}
}

func (s *steady) add(one sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, one)
}

func (s *steady) one(ctx context.Context, gateway int, clientID string, body []byte) sent {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out := sent{gateway: gateway, client: clientID}
	resp, err := s.workspace.Open(ctx, client.Call{
		Method: http.MethodPost, URL: s.workspace.Gateways[gateway] + "/v1/chat/completions", Bearer: s.key,
		Body: body, Header: http.Header{"X-Request-Id": {clientID}},
	})
	if err != nil {
		out.err = err
		return out
	}
	defer resp.Body.Close()
	out.id, out.status = resp.Header.Get(client.HeaderRequestID), resp.StatusCode
	_, out.err = io.Copy(io.Discard, resp.Body)
	return out
}

// count is how many requests were sent so far.
func (s *steady) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sent)
}

// more waits until the load has sent n further requests.
func (s *steady) more(t *testing.T, n int) {
	t.Helper()
	from := s.count()
	require.Eventually(t, func() bool { return s.count() >= from+n }, time.Minute, 10*time.Millisecond)
}

// unharmed asserts that no gateway but the excepted one failed a request.
func (s *steady) unharmed(t *testing.T, except int) {
	t.Helper()
	failed := 0
	var first error
	for _, r := range s.sent {
		if r.gateway == except || (r.err == nil && r.status == http.StatusOK) {
			continue
		}
		failed++
		first = errors.Join(first, fmt.Errorf("%s: status %d: %w", r.client, r.status, errors.Join(r.err)))
		if failed > 5 {
			break
		}
	}
	require.NoError(t, first, "requests failed")
}

// settle waits until every answered request is in Postgres, and asserts that
// each is there once, that none was invented, and that the totals agree.
func (s *steady) settle(t *testing.T, within time.Duration) {
	t.Helper()
	s.end()
	asked, answered := map[string]sent{}, map[string]bool{}
	for _, r := range s.sent {
		asked[r.client] = r
		if r.id != "" {
			answered[r.id] = true
		}
	}
	require.NotEmpty(t, answered)
	defer s.explain(t)
	var rows []gjson.Result
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var err error
		rows, err = s.workspace.Logs(t.Context())
		require.NoError(c, err)
		missing := len(answered)
		for _, row := range rows {
			if answered[row.Get("id").Str] {
				missing--
			}
		}
		require.LessOrEqual(c, missing, 0, "%d of %d answered requests are missing", missing, len(answered))
	}, within, 500*time.Millisecond)

	seen := map[string]bool{}
	for _, row := range rows {
		id, from := row.Get("id").Str, row.Get("client_request_id").Str
		require.False(t, seen[id] || seen[from], "%s of %s is there twice", id, from)
		seen[id], seen[from] = true, true
		r, ok := asked[from]
		require.True(t, ok, "%s was invented", row.Raw)
		if r.id != "" {
			require.Equal(t, r.id, id, "the account of %s", from)
		}
	}
	require.Eventually(t, func() bool {
		usage, err := s.workspace.Usage(t.Context())
		return err == nil && usage.Get("totals.requests").Int() == int64(len(rows))
	}, within, 200*time.Millisecond, "the totals do not agree with the log")
	t.Logf("%d requests, %d answered, %d rows", len(s.sent), len(answered), len(rows))
}

// explain adds to a failed test what the gateways say of themselves.
func (s *steady) explain(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, g := range s.workspace.Gateways {
		answer, err := s.workspace.Do(context.WithoutCancel(t.Context()), client.Call{Method: http.MethodGet, URL: g + "/readyz?verbose"})
		t.Logf("%s: %v\n%s", g, err, answer.Body)
	}
}
