package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestEachModelOfAChainIsItsOwnEvent(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	got := g.chat(p.token, `{"model":"acme/broken-fault-status-503","models":["acme/broken-fault-status-429-retry-7","acme/small"],"messages":[{"role":"user","content":"hi"}]}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "acme/small", got.header.Get("x-signalbox-model"))
	require.Equal(t, "2", got.header.Get("x-signalbox-retry-count"))
	rid := got.header.Get("x-signalbox-request-id")
	events := p.events(rid, 3)
	slices.SortFunc(events, func(a, b wire.UsageEvent) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for i, want := range []struct {
		model   string
		outcome wire.Outcome
		status  int
		code    string
		tries   int // the decision tells of, its own and those before
	}{
		{"acme/broken-fault-status-503", wire.Failed, http.StatusBadGateway, "upstream_server_error", 1},
		{"acme/broken-fault-status-429-retry-7", wire.Failed, http.StatusTooManyRequests, "upstream_rate_limited", 2},
		{"acme/small", wire.Success, http.StatusOK, "", 3},
	} {
		e := events[i]
		require.Equal(t, rid, e.PrimaryID.String())
		require.Equal(t, i == 0, e.ID == e.PrimaryID)
		require.Equal(t, want.model, e.DecidedModel)
		require.Equal(t, []any{want.outcome, want.status, want.code, 1}, []any{e.Outcome, e.Status, e.Code, e.Attempts})
		require.Equal(t, want.outcome == wire.Success, e.Cost.Total > 0)
		require.Equal(t, want.outcome == wire.Success, !e.Usage.IsZero())
		var decision decide.Record
		require.NoError(t, json.Unmarshal(e.Decision, &decision))
		require.Equal(t, want.model, decision.DecidedModel)
		require.Len(t, decision.Attempts, want.tries)
		require.Equal(t, i > 0, decision.SwitchReason == decide.SwitchFallbackModel)
	}
}

// When every model fails the caller gets what happened last, but a rate limit
// only when there was nothing else.
func TestAChainThatFailsAnswersOnce(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	got := g.chat(p.token, `{"model":"acme/broken-fault-status-503","models":["acme/broken-fault-status-429-retry-7"],"messages":[]}`)
	require.Equal(t, http.StatusBadGateway, got.status, got.body)
	rid := got.header.Get("x-signalbox-request-id")
	require.Equal(t, rid, got.fault(t)["request_id"])
	statuses := map[string]int{}
	for _, e := range p.events(rid, 2) {
		statuses[e.DecidedModel] = e.Status
		require.Zero(t, e.Cost.Total)
	}
	require.Equal(t, map[string]int{"acme/broken-fault-status-503": 502, "acme/broken-fault-status-429-retry-7": 429}, statuses)
	require.Equal(t, "upstream_server_error", g.line(rid)["code"])
}

// What a killed gateway leaves on its disk in the middle of a chain has every
// model that was begun once: those that the chain went past as they failed, the
// one under way as unknown, and none that it had not come to.
func TestAKilledGatewayAccountsForEachModelOnce(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	body := `{"model":"acme/broken-fault-status-503","models":["acme/broken-fault-status-429-retry-7","acme/hang-fault-hang-2","acme/small"],` +
		`"stream":true,"messages":[{"role":"user","content":"one two three four"}]}`
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+p.token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	rid := response.Header.Get("x-signalbox-request-id")

	// The third model answers and does not end. What is on disk now is what a
	// process that is killed now leaves.
	left := p.config()
	for name, content := range still(t, filepath.Join(g.data, "spool")) {
		file := filepath.Join(left.DataDir, "spool", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
	p.start(left).awaitReady()
	rows := map[id.Request]wire.UsageEvent{} // as the consumer has them: one for each id
	require.Eventually(t, func() bool {
		unknown := false
		for _, e := range p.shipped(rid) {
			rows[e.ID] = e
			unknown = unknown || e.Outcome == wire.Unknown
		}
		return unknown
	}, 10*time.Second, 20*time.Millisecond)
	outcomes := map[string]wire.Outcome{}
	for _, e := range rows {
		require.NotContains(t, outcomes, e.DecidedModel, "twice")
		outcomes[e.DecidedModel] = e.Outcome
		require.Equal(t, e.ID == e.PrimaryID, e.DecidedModel == "acme/broken-fault-status-503")
	}
	require.Equal(t, map[string]wire.Outcome{
		"acme/broken-fault-status-503":         wire.Failed,
		"acme/broken-fault-status-429-retry-7": wire.Failed,
		"acme/hang-fault-hang-2":               wire.Unknown,
	}, outcomes)
}

// still reads a directory that somebody writes to until two readings agree: file
// by file, one reading could miss what moves from one file to another meanwhile,
// which a process that dies does not do.
func still(t *testing.T, dir string) (files map[string][]byte) {
	t.Helper()
	require.Eventually(t, func() bool {
		before := files
		files = map[string][]byte{}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err == nil {
				files[name], err = os.ReadFile(path)
			}
			return err
		})
		return err == nil && reflect.DeepEqual(before, files)
	}, 10*time.Second, 50*time.Millisecond)
	return files
}
