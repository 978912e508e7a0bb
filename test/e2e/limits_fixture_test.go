//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// dear is a model of which a token of output costs 0.0001 USD and one of input
// 0.000001.
const dear = "sim/dear"

const dearCatalog = "models:\n  - id: " + dear + "\n    context: 100000\n    max_output: 10000\n    endpoints:\n" +
	`      - {provider: north, upstream_model: dear, price: {input: "1", output: "100"}}` + "\n"

// limited is a platform of three gateways with the dear model.
func limited(t *testing.T, o harness.Options) *harness.Platform {
	t.Helper()
	o.Gateways = 3
	o.Catalog = func(*upstream.Upstream, *upstream.Upstream) string { return dearCatalog }
	return harness.Start(t, o)
}

// meter counts what is in progress at a provider.
type meter struct{ now, most atomic.Int64 }

func (m *meter) enter() {
	n := m.now.Add(1)
	for most := m.most.Load(); n > most && !m.most.CompareAndSwap(most, n); most = m.most.Load() {
	}
}

// answers are replies of the dear model, each of which takes a while and some
// tokens of output.
func answers(m *meter, takes time.Duration, tokens func() int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.enter()
		defer m.now.Add(-1)
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
			return
		}
		n := tokens()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","created":1,"model":"dear","choices":[{"index":0,"finish_reason":"stop",`+
			`"message":{"role":"assistant","content":"Hello"}}],"usage":{"prompt_tokens":5,"completion_tokens":%d,"total_tokens":%d}}`, n, n+5)
	})
}

// upTo draws a number of tokens from 1 to most.
func upTo(most int) func() int { return func() int { return 1 + rand.IntN(most) } }

// dearBody asks the dear model for at most so many tokens.
func dearBody(most int) []byte {
	return []byte(`{"model":"` + dear + `","max_tokens":` + strconv.Itoa(most) + `,"messages":[{"role":"user","content":"Say hello"}]}`)
}

// crowd calls do from many callers of every gateway at once, each again and
// again until it says that it has had enough or ctx ends.
func crowd(ctx context.Context, p *harness.Platform, callers int, do func(gateway int) (enough bool, err error)) error {
	var all sync.WaitGroup
	failures := make(chan error, callers*len(p.Gateways))
	for gateway := range p.Gateways {
		for range callers {
			all.Go(func() {
				for ctx.Err() == nil {
					enough, err := do(gateway)
					if err != nil && ctx.Err() == nil {
						failures <- err
					}
					if enough || err != nil {
						return
					}
				}
			})
		}
	}
	all.Wait()
	close(failures)
	return <-failures // one says enough
}

// rest is a pause that ends with ctx.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// post is a chat call whose body is read to its end.
func post(ctx context.Context, p *harness.Platform, gateway int, key client.Key, body []byte) (client.Answer, error) {
	return p.Post(ctx, gateway, key.Secret, "/v1/chat/completions", body)
}

// logged reads every request of the workspace that a provider answered, once
// the log has all of them.
func logged(t *testing.T, p *harness.Platform, want int64) []gjson.Result {
	t.Helper()
	var entries []gjson.Result
	read := func(c *assert.CollectT) {
		var found []gjson.Result
		for cursor := ""; ; {
			answer, err := p.Manage(t.Context(), http.MethodGet, "/v1/logs?limit=250&outcome=success"+cursor, nil)
			require.NoError(c, err)
			found = append(found, answer.Get("data").Array()...)
			next := answer.Get("next_cursor").Str
			if next == "" {
				break
			}
			cursor = "&cursor=" + next
		}
		has := int64(len(found))
		require.Equal(c, want, has, "requests in the log")
		entries = found
	}
	require.EventuallyWithT(t, read, time.Minute, 200*time.Millisecond)
	return entries
}

// spent is what requests cost together, in nano-USD.
func spent(entries []gjson.Result) (nanos int64) {
	for _, e := range entries {
		nanos += e.Get("cost_nanos").Int()
	}
	return nanos
}

// ratePolicy binds a new rate-limit policy to a key.
func ratePolicy(p *harness.Platform, key client.Key, limits string) string {
	made := p.Change(http.MethodPost, "/v1/rate-limits/policies", `{"name":"of `+key.ID+`",`+limits+`}`)
	policy := made.Get("data.id").Str
	p.Change(http.MethodPost, "/v1/rate-limits/assignments", `{"policy_id":"`+policy+`","target_type":"key","target_id":"`+key.ID+`"}`)
	return policy
}

func drain(resp *http.Response) { _, _ = io.Copy(io.Discard, resp.Body) }
