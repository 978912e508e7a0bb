package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/shared/condition"
)

// BenchmarkReplay is a replay of MaxLimit requests without reading them.
func BenchmarkReplay(b *testing.B) {
	w := newWorld(&testing.T{})
	w.version(1, to("all", "acme/small"))
	w.version(2, plan(condition.Equals, "pro", "new", "all"), to("new", "acme/new"), to("all", "acme/small"))
	w.deployed = 1
	w.ask(pays("pro"))
	for len(w.log) < replay.MaxLimit {
		w.log = append(w.log, w.log[0])
	}
	for b.Loop() {
		r, err := w.service().Replay(b.Context(), workspace, route, 2, replay.Query{Limit: replay.MaxLimit})
		require.NoError(b, err)
		require.Equal(b, replay.MaxLimit, r.Moved)
	}
}
