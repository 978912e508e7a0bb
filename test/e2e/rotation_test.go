package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// owners are whose keys there are: a workspace's, the operator's by the API, and
// the operator's in a catalog file. Each has a provider of its own.
var owners = []string{"tenant", "operator", "file"}

func keyOf(owner string) string { return "key-of-the-" + owner + "-0123456789" }

// guarded has a provider for each owner, all of them North, which counts the
// calls that came with another key than the owner's.
func guarded(t *testing.T) (p *harness.Platform, wrong *atomic.Int64) {
	t.Helper()
	p = harness.Start(t, harness.Options{Gateways: 2, Catalog: func(north, _ *upstream.Upstream) string {
		providers, models := "providers:\n", "models:\n"
		for _, owner := range owners {
			key := ""
			if owner == "file" {
				key = fmt.Sprintf(", api_key: %q", keyOf(owner))
			}
			providers += fmt.Sprintf("  - {slug: %s, type: openai-compatible, base_url: %q%s}\n", owner, north.URL, key)
			models += fmt.Sprintf("  - {id: guarded/%s, context: 1000, endpoints: [{provider: %s, upstream_model: guarded-%s}]}\n", owner, owner, owner)
		}
		return providers + models
	}})
	wrong = &atomic.Int64{}
	for _, owner := range owners {
		p.North.HandleModel("guarded-"+owner, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Header.Get("Authorization") != "Bearer "+keyOf(owner) {
				wrong.Add(1)
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = w.Write([]byte(plainReply)) // the caller may have gone
		}))
	}
	bring(p, "tenant", keyOf("tenant"), "")
	_, err := p.Operate(t.Context(), http.MethodPut, "/v1/platform/catalog/providers/operator?wait=20s", fmt.Sprintf(`{"api_key":%q}`, keyOf("operator")))
	require.NoError(t, err)
	return p, wrong
}

// traffic asks every gateway for every owner's model, again and again.
type traffic struct {
	answered []atomic.Int64 // by gateway and owner
	failed   atomic.Int64
	first    atomic.Value // failure
	stop     func()
}

func startTraffic(t *testing.T, p *harness.Platform, key client.Key) *traffic {
	ctx, cancel := context.WithCancel(t.Context())
	l := &traffic{answered: make([]atomic.Int64, len(p.Gateways)*len(owners))}
	var running sync.WaitGroup
	for n := range l.answered {
		running.Go(func() {
			for ctx.Err() == nil {
				answer, err := p.Chat(ctx, n%len(p.Gateways), key.Secret, "guarded/"+owners[n/len(p.Gateways)], "x")
				switch {
				case ctx.Err() != nil:
				case err != nil || answer.Status != http.StatusOK:
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, fmt.Sprintf("%v %d %s", err, answer.Status, answer.Body))
				default:
					l.answered[n].Add(1)
				}
			}
		})
	}
	l.stop = func() { cancel(); running.Wait() }
	t.Cleanup(l.stop)
	return l
}

// flows waits until each gateway has served each owner's model some times more.
func (l *traffic) flows(p *harness.Platform) {
	want := make([]int64, len(l.answered))
	for n := range want {
		want[n] = l.answered[n].Load() + 5
	}
	p.Eventually(func() bool {
		for n := range want {
			if l.answered[n].Load() < want[n] && l.failed.Load() == 0 {
				return false
			}
		}
		return true
	}, "traffic does not flow")
}

type keyringStatus struct {
	Sealing   int64 `json:"sealing_key_id"`
	Droppable bool
	Keys      []struct {
		ID        int64
		Role      string
		Workspace int `json:"workspace_keys"`
		Platform  int `json:"platform_keys"`
		Published int `json:"published_keys"`
	}
}

func statusOf(t *testing.T, p *harness.Platform) keyringStatus {
	t.Helper()
	s, err := askStatus(t.Context(), p)
	require.NoError(t, err)
	return s
}

func askStatus(ctx context.Context, p *harness.Platform) (s keyringStatus, err error) {
	answer, err := p.Operate(ctx, http.MethodGet, "/v1/platform/keyring", "")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(answer.Get("data").Raw), &s)
}

// TestTheKeyringIsRotatedUnderTraffic: a key is added, promoted, everything is
// sealed anew, and the old key is dropped, while nothing is restarted and no
// request fails or goes out with another credential.
func TestTheKeyringIsRotatedUnderTraffic(t *testing.T) {
	p, wrong := guarded(t)
	key := p.Key()
	load := startTraffic(t, p, key)
	load.flows(p)
	first, _ := rotate(t, p, load)
	second, now := rotate(t, p, load) // by the same processes
	load.stop()
	require.Zero(t, load.failed.Load(), "requests that failed; the first: %v", load.first.Load())
	require.Zero(t, wrong.Load(), "calls with another credential")
	for _, url := range append([]string{p.Control}, p.Gateways...) {
		require.Contains(t, p.Metrics(url), "\nsignalbox_keyring_unknown_key_total 0\n", url)
	}
	nothingOpens(t, p, first, now)
	nothingOpens(t, p, second, now)

	// Nothing lives on what was opened before: who starts now has the new key alone.
	p.StopGateway(1)
	p.StartGateway(1)
	p.StopControlPlane()
	p.StartControlPlane()
	for _, owner := range owners {
		require.Equal(t, http.StatusOK, p.Say(1, key, "guarded/"+owner).Status)
	}
	require.Zero(t, wrong.Load())
}

// rotate takes the old key out of use, step by step, while traffic flows.
func rotate(t *testing.T, p *harness.Platform, load *traffic) (old, now *seal.Keyring) {
	t.Helper()
	old = p.Keyring()
	p.ChangeKeyring((*seal.Keyring).Append)
	load.flows(p)
	require.Equal(t, int64(old.PrimaryID()), statusOf(t, p).Sealing, "a new key does not seal yet")

	promoted := p.ChangeKeyring((*seal.Keyring).Promote)
	load.flows(p)
	p.Eventually(func() bool {
		s, err := askStatus(t.Context(), p)
		return err == nil && s.Droppable
	}, "the old key is needed still")
	s := statusOf(t, p)
	require.Len(t, s.Keys, 2)
	require.Equal(t, "older", s.Keys[0].Role)
	require.Zero(t, s.Keys[0].Workspace+s.Keys[0].Platform+s.Keys[0].Published, "%+v", s)
	require.Equal(t, int64(promoted.PrimaryID()), s.Keys[1].ID)
	require.Equal(t, [3]int{1, 1, 2}, [3]int{s.Keys[1].Workspace, s.Keys[1].Platform, s.Keys[1].Published}, "%+v", s)

	now = p.ChangeKeyring((*seal.Keyring).Drop)
	load.flows(p)
	return old, now
}

// nothingOpens tries the old keyring on all that is stored.
func nothingOpens(t *testing.T, p *harness.Platform, old, now *seal.Keyring) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), p.DatabaseURL())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close(context.WithoutCancel(t.Context()))) }()
	found := 0
	try := func(sealed secret.Sealed, binding []string) {
		found++
		_, err := old.Open(sealed, binding...)
		require.ErrorIs(t, err, seal.ErrUnknownKey)
		_, err = now.Open(sealed, binding...)
		require.NoError(t, err)
	}
	rows, err := db.Query(t.Context(), "SELECT workspace_id::text, provider, sealed FROM byok_credentials")
	require.NoError(t, err)
	for rows.Next() {
		var ws, provider string
		var sealed []byte
		require.NoError(t, rows.Scan(&ws, &provider, &sealed))
		owner := id.MustParse[id.WorkspaceKind](p.ID)
		require.Equal(t, owner.UUID().String(), ws)
		try(sealed, policy.CredentialBinding(owner, provider))
	}
	require.NoError(t, rows.Err())
	rows, err = db.Query(t.Context(), "SELECT keys FROM platform_catalogs")
	require.NoError(t, err)
	for rows.Next() {
		var keys map[string]secret.Sealed
		require.NoError(t, rows.Scan(&keys))
		for slug, sealed := range keys {
			if !sealed.IsZero() { // an earlier version only remembers that there was one
				try(sealed, policy.PlatformBinding(slug))
			}
		}
	}
	require.NoError(t, rows.Err())
	require.Equal(t, 2, found)
}

// A key is verified through a gateway, whether it is published or not.
func TestAProviderKeyIsVerified(t *testing.T) {
	p, asked := startTolls(t, 2, map[string]string{"mine": "good-managed-key"})
	verify := func(credential string) client.Answer {
		t.Helper()
		answer, err := p.Manage(t.Context(), http.MethodPost, "/v1/byok/"+credential+"/verify", nil)
		require.NoError(t, err)
		require.NotContains(t, string(answer.Body), "own-key")
		return answer
	}
	good := bring(p, "mine", "good-own-key-1", `,"enabled":false`)
	answer := verify(good)
	require.Equal(t, "valid", answer.Get("data.verification.status").Str, "%s", answer.Body)
	require.Equal(t, "completion", answer.Get("data.verification.call").Str)
	require.Equal(t, "toll/mine", answer.Get("data.verification.model").Str)
	require.Equal(t, []string{"good-own-key-1"}, asked.taken(), "one call, with the key of the disabled credential")

	bad := bring(p, "mine", "bad-own-key-1", "")
	answer = verify(bad)
	require.Equal(t, "invalid", answer.Get("data.verification.status").Str, "%s", answer.Body)
	require.EqualValues(t, 401, answer.Get("data.verification.http_status").Int())
	require.Equal(t, []string{"bad-own-key-1"}, asked.taken())
	listed, err := p.Manage(t.Context(), http.MethodGet, "/v1/byok", nil)
	require.NoError(t, err)
	require.Equal(t, `["invalid","valid"]`, listed.Get("data.#.verification.status").Raw, "newest first")
	events, err := p.Manage(t.Context(), http.MethodGet, "/v1/audit-events", nil)
	require.NoError(t, err)
	require.Equal(t, "byok.verify", events.Get("data.0.action").Str)

	late := bring(p, "mine", "good-own-key-2", "")
	for i := range p.Gateways {
		p.StopGateway(i)
	}
	require.Equal(t, http.StatusServiceUnavailable, verifyStatus(t, p, late), "no gateway runs")
	require.Empty(t, asked.taken())
}

func verifyStatus(t *testing.T, p *harness.Platform, credential string) int {
	t.Helper()
	_, err := p.Manage(t.Context(), http.MethodPost, "/v1/byok/"+credential+"/verify", nil)
	var refused *client.Problem
	require.ErrorAs(t, err, &refused)
	require.NotContains(t, string(refused.Answer.Body), "own-key")
	return refused.Answer.Status
}
