package publish_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// BenchmarkPublicationLatency publishes 50 changes a second, spread over ten
// workspaces, to 20 gateways, and reports the time from commit to the receipt
// of each gateway. An operation is one change; run it with -benchtime 500x or
// more.
func BenchmarkPublicationLatency(b *testing.B) {
	w := newWorld(b)
	p := w.start(nil)
	var list []id.Workspace
	for range 10 {
		list = append(list, w.workspace())
	}
	for range 20 {
		w.gateway()
	}
	w.known(p, 20)
	pubs := make([]publication.Publication, 0, b.N)
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for i := 0; b.Loop(); i++ {
		<-pace.C
		pubs = append(pubs, w.touch(list[i%len(list)], fmt.Sprintf("acme/m%d", i)))
	}
	var p50, p99 []time.Duration
	for _, pub := range pubs {
		got, err := p.service.Wait(b.Context(), pub.Workspace, pub.ID, soon)
		require.NoError(b, err)
		require.Equal(b, 20, got.Receipts.Applied)
		p50, p99 = append(p50, got.Receipts.P50), append(p99, got.Receipts.P99)
	}
	slices.Sort(p50)
	slices.Sort(p99)
	report := func(name string, d time.Duration) { b.ReportMetric(float64(d)/float64(time.Millisecond), name) }
	report("ms/p50", p50[len(p50)/2])
	report("ms/p99", p99[(len(p99)*99+99)/100-1])
	report("ms/max", p99[len(p99)-1])
}

// BenchmarkHeal fills an empty NATS from the database: one operation is the
// whole of it.
func BenchmarkHeal(b *testing.B) {
	for _, keys := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			w := newWorld(b)
			ws := w.workspace()
			conn, err := w.db.Direct(b.Context())
			require.NoError(b, err)
			_, err = conn.Exec(b.Context(), `INSERT INTO api_keys
				(id, workspace_id, kid, name, suffix, status, secret_hash, models, surfaces, scopes, version, revision, min_revision, created_at, updated_at)
				SELECT gen_random_uuid(), $1, translate(left(md5(n::text), 16), 'ilou', '0000'), 'k', 'abcd', 'active', sha256(n::text::bytea),
					'{}', '{}', '{}', 1, 1, 0, now(), now() FROM generate_series(1, $2) n`, ws.UUID(), keys)
			require.NoError(b, err)
			require.NoError(b, conn.Close(b.Context()))
			for b.Loop() {
				b.StopTimer()
				w.nats.Wipe()
				b.StartTimer()
				p := w.start(nil)
				require.Eventually(b, func() bool {
					_, err := w.reader.Leader(b.Context(), wire.BucketKeys, wire.KeysComplete)
					return err == nil
				}, 5*time.Minute, 10*time.Millisecond)
				b.StopTimer()
				p.stop()
				b.StartTimer()
			}
			b.ReportMetric(float64(keys)*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
		})
	}
}
