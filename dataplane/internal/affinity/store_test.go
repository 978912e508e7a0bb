package affinity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity/affinitytest"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

func TestNATSIsAStore(t *testing.T) {
	affinitytest.Stores(t, func(t *testing.T) affinitytest.Bench {
		t.Helper()
		server := natstest.New(t)
		one, two := server.Ready(), server.Connect()
		require.Eventually(t, two.Connected, 10*time.Second, time.Millisecond)
		return affinitytest.Bench{
			Store: affinity.NewNATS(one), Other: affinity.NewNATS(two),
			Stop: server.Stop,
			Start: func() {
				server.Start()
				server.Ensure(one)
				require.Eventually(t, two.Connected, 10*time.Second, time.Millisecond)
			},
		}
	})
}

func TestMemoryIsAStore(t *testing.T) {
	affinitytest.Stores(t, func(*testing.T) affinitytest.Bench {
		m := affinitytest.NewMemory(start)
		return affinitytest.Bench{Store: m, Other: m, Pass: m.Pass, Stop: m.Stop, Start: func() { m.Start(true) }}
	})
}
