//go:build chaos

// Package chaos_test kills, stops and wipes the parts of a platform of real
// processes under load, and counts afterwards: every answered request is in
// Postgres exactly once and none was invented.
package chaos_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/stack"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

const (
	gateways   = 2
	settleTime = 90 * time.Second
	none       = -1
	outage     = 20 * time.Second
)

func start(t *testing.T) *stack.Stack {
	t.Helper()
	providers, err := upstream.Start(simulator.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, providers.Close()) })
	bin, err := filepath.Abs(filepath.Join("..", "..", "bin"))
	require.NoError(t, err)
	for _, name := range []string{"controlplane", "gateway"} {
		_, err := os.Stat(filepath.Join(bin, name))
		require.NoError(t, err, "run make build first")
	}
	s, err := stack.Start(t.Context(), stack.Options{Bin: bin, Dir: t.TempDir(), Gateways: gateways, Catalog: providers.Catalog()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// TestChaos shares one platform: each subtest has a tenant of its own.
func TestChaos(t *testing.T) {
	s := start(t)

	t.Run("a gateway is killed", func(t *testing.T) {
		load := begin(t, s.Platform, "kill-gateway")
		for range 2 {
			load.more(t, 500)
			require.NoError(t, s.GatewayProcs[0].Kill())
			load.more(t, 200)
			require.NoError(t, s.GatewayProcs[0].Restart())
			require.NoError(t, s.AwaitGateway(t.Context(), 0))
		}
		load.more(t, 500)
		load.settle(t, settleTime)
		load.unharmed(t, 0)
	})

	t.Run("the control plane is killed", func(t *testing.T) {
		load := begin(t, s.Platform, "kill-control-plane")
		for range 2 {
			load.more(t, 500)
			require.NoError(t, s.ControlPlane.Kill())
			load.more(t, 500)
			require.NoError(t, s.ControlPlane.Restart())
			require.NoError(t, s.AwaitControlPlane(t.Context()))
		}
		load.more(t, 500)
		load.settle(t, settleTime)
		load.unharmed(t, none)
		published(t, load.workspace)
	})

	t.Run("NATS is killed", func(t *testing.T) {
		load := begin(t, s.Platform, "kill-nats")
		for range 2 {
			load.more(t, 500)
			require.NoError(t, s.NATS.Kill())
			load.more(t, 500)
			require.NoError(t, s.NATS.Restart())
		}
		load.more(t, 500)
		load.settle(t, settleTime)
		load.unharmed(t, none)
		published(t, load.workspace)
	})

	t.Run("NATS is away for a while", func(t *testing.T) {
		load := begin(t, s.Platform, "nats-away")
		load.more(t, 300)
		require.NoError(t, s.NATS.Stop(outage))
		back := time.Now().Add(outage)
		for time.Now().Before(back) {
			load.more(t, 100)
		}
		require.NoError(t, s.NATS.Restart())
		load.more(t, 300)
		load.settle(t, settleTime)
		load.unharmed(t, none)
		published(t, load.workspace)
	})

	t.Run("NATS comes back empty", func(t *testing.T) {
		load := begin(t, s.Platform, "nats-wiped")
		for _, meanwhile := range []int{300, 1, 100, 300} { // requests; also sooner than anyone looks
			load.more(t, 300)
			require.NoError(t, s.NATS.Stop(outage))
			require.NoError(t, s.WipeNATS())
			load.more(t, meanwhile)
			require.NoError(t, s.NATS.Restart())
		}
		load.more(t, 300)
		load.settle(t, settleTime)
		load.unharmed(t, none)
		published(t, load.workspace)
	})

	t.Run("Postgres is restarted", func(t *testing.T) {
		load := begin(t, s.Platform, "postgres-restart")
		load.more(t, 300)
		require.NoError(t, s.StopPostgres())
		load.more(t, 500)
		answer, err := load.workspace.Do(t.Context(), client.Call{
			Method: http.MethodGet, URL: load.workspace.Control + "/v1/keys", Bearer: load.workspace.ManagementKey,
		})
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, answer.Status, "%s", answer.Body)
		require.NoError(t, s.StartPostgres(t.Context()))
		require.NoError(t, s.AwaitControlPlane(t.Context()))
		load.more(t, 300)
		load.settle(t, settleTime)
		load.unharmed(t, none)
		published(t, load.workspace)
	})
}

// published asserts that a new key works on every gateway and a revoked one on
// none: the way from Postgres to the gateways is whole again.
func published(t *testing.T, w client.Workspace) {
	t.Helper()
	key, publication, err := w.CreateKey(t.Context(), client.NewKey{Name: "afterwards"}, 20*time.Second)
	require.NoError(t, err)
	require.Zero(t, publication.Pending)
	each := func(want int) {
		for g := range w.Gateways {
			require.Eventually(t, func() bool {
				answer, err := w.Chat(t.Context(), g, key.Secret, upstream.Small, "hi")
				return err == nil && answer.Status == want
			}, 10*time.Second, 20*time.Millisecond, "gateway %d, status %d", g, want)
		}
	}
	each(http.StatusOK)
	_, err = w.RevokeKey(t.Context(), key.ID, 20*time.Second)
	require.NoError(t, err)
	each(http.StatusUnauthorized)
}
