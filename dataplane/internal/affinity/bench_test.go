package affinity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

// BenchmarkFind is what affinity adds to a request before it is decided: with
// what is held, with openings of several sizes, and with a session that NATS
// has to be asked for.
func BenchmarkFind(b *testing.B) {
	server := natstest.New(b)
	conn := server.Ready()
	require.Eventually(b, conn.Connected, 10*time.Second, time.Millisecond)
	pins := affinity.New(affinity.Options{Store: affinity.NewNATS(conn), Secret: []byte("secret"), Now: time.Now, Log: natstest.Discard()}, prometheus.NewRegistry())
	b.Run("held", func(b *testing.B) {
		c := turnOf("s")
		b.ReportAllocs()
		for b.Loop() {
			pins.Find(b.Context(), c, all)
		}
	})
	for _, size := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint("opening-", size), func(b *testing.B) {
			c := turnOf("")
			c.Request.Caching.Opening = call.Opening{Turns: []byte(`[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]`)}
			b.ReportAllocs()
			for b.Loop() {
				pins.Find(b.Context(), c, all)
			}
		})
	}
	b.Run("asked", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			pins.Find(b.Context(), turnOf(fmt.Sprint(n)), all)
		}
	})
}
