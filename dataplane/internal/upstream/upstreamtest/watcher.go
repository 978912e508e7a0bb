package upstreamtest

import (
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
)

// watcher asks a meter at every step: what it has seen it does not forget.
type watcher struct {
	t    require.TestingT
	m    call.Meter
	seen call.Seen
}

func watch(t require.TestingT, m call.Meter) *watcher { return &watcher{t: t, m: m, seen: m.Seen()} }

func (w *watcher) look() {
	was, is := w.seen, w.m.Seen()
	require.Equal(w.t, is, w.m.Seen(), "asking changes nothing")
	require.True(w.t, is.Finished || !was.Finished, "finished once, finished for good")
	require.True(w.t, was.ZeroOutput || !is.ZeroOutput, "output does not vanish")
	require.GreaterOrEqual(w.t, is.Malformed, was.Malformed)
	require.True(w.t, was.ServedModel == "" || was.ServedModel == is.ServedModel)
	require.True(w.t, was.Kept == "" || was.Kept == is.Kept)
	require.True(w.t, was.Usage.Estimated || !is.Usage.Estimated, "what was reported is not estimated any more")
	if was.Usage.Estimated && is.Usage.Estimated {
		require.GreaterOrEqual(w.t, is.Usage.Output, was.Usage.Output)
	}
	w.seen = is
}
