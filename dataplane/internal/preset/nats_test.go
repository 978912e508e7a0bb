package preset_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

// TestOverNATS takes a store through what happens to the real bucket.
func TestOverNATS(t *testing.T) {
	server := natstest.New(t)
	writer := document.NewWriter(server.Ready())
	write := func(key string, doc any) {
		body, err := json.Marshal(doc)
		require.NoError(t, err)
		require.NoError(t, writer.Mark(t.Context(), wire.BucketPolicy, key, body))
	}
	w := newWorld(t, nil)
	conn := server.Connect()
	require.Eventually(t, conn.Connected, 15*time.Second, 2*time.Millisecond)
	w.change = func(o *preset.Options) { o.Source = feed.NewSource(conn) }
	w.restart()

	require.Equal(t, "undetermined", w.find(bob, "team"), "the snapshot has it, the bucket not yet")
	require.Equal(t, "unknown", w.find(bob, "acme/open"))
	w.now = w.now.Add(time.Minute)

	const odd = "o.d:d-_"
	write(wire.PresetVersion(team, 3), version(ours, team, "team", 3))
	write(wire.PresetVersion(team, 2), version(theirs, team, "team", 2))
	write(wire.PresetVersion(open, 3), version(theirs, open, odd, 3))
	write(wire.PublicPreset("acme", odd), public(3, 5, 3))
	require.Equal(t, "team 3", w.find(bob, "team"))
	require.Equal(t, odd+" 3", w.find(bob, "acme/"+odd))
	require.Equal(t, "undetermined", w.find(bob, "team#2"), "another workspace's document")
	require.Equal(t, "unknown", w.find(bob, "team#99"))

	write(wire.PublicPreset("acme", odd), public(0, 6))
	require.Equal(t, odd+" 3", w.find(bob, "acme/"+odd), "read lately")
	w.now = w.now.Add(time.Minute)
	require.Equal(t, "unknown", w.find(bob, "acme/"+odd), "withdrawn")
	write(wire.PublicPreset("acme", odd), public(3, 7, 3))
	w.now = w.now.Add(time.Minute)
	require.Equal(t, odd+" 3", w.find(bob, "acme/"+odd), "and public again")

	server.Stop()
	require.Eventually(t, func() bool { return !conn.Connected() }, 15*time.Second, 2*time.Millisecond)
	w.now = w.now.Add(time.Minute)
	for range 2 { // held, then from disk alone
		require.Equal(t, "team 3", w.find(bob, "team"))
		require.Equal(t, odd+" 3", w.find(bob, "acme/"+odd))
		require.Equal(t, "undetermined", w.find(bob, "team#1"))
		require.Equal(t, "undetermined", w.find(bob, "acme/new"))
		w.restart()
	}
}

// What was saved is there for the process after the next.
func TestTheDiskIsWritten(t *testing.T) {
	w := newWorld(t, nil)
	require.Equal(t, "team 3", w.find(bob, "team"))
	require.Equal(t, "open 3", w.find(bob, "acme/open"))
	body, err := w.disk.Load(lastgood.Presets, wire.PresetVersion(team, 3))
	require.NoError(t, err)
	require.JSONEq(t, string(w.source.any[wire.PresetVersion(team, 3)]), string(body))
	require.Equal(t, 3, w.disk.Counts().Waiting, "two versions and what is public")
}
