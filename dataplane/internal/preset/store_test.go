package preset_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestWhatNamesStandFor(t *testing.T) {
	for name, c := range map[string]struct {
		owner id.User
		want  string
	}{
		"team":        {bob, "team 3"},
		"TEAM":        {id.User{}, "team 3"},
		"team#1":      {bob, "team 1"},
		"team#3":      {bob, "team 3"},
		"team#4":      {bob, "team 4"}, // published, and not deployed
		"team#99":     {bob, "unknown"},
		"secret":      {ada, "secret 1"},
		"nobody's":    {bob, "unknown"},
		"other":       {bob, "unknown"},
		"acme/open":   {bob, "open 3"},
		"Acme/Open#2": {bob, "open 2"},
		"acme/open#3": {bob, "open 3"},
		"acme/open#1": {bob, "unknown"}, // it was never public
		"acme/open#4": {bob, "unknown"},
		"acme/other":  {bob, "unknown"},
		"acme/team":   {bob, "unknown"},
		"open":        {bob, "unknown"},
		"":            {bob, "unknown"},
		"acme/>":      {bob, "unknown"},
	} {
		w := newWorld(t, nil)
		require.Equal(t, c.want, w.find(c.owner, name), name)
	}
}

func TestAPrivatePresetIsForItsOwnersKeys(t *testing.T) {
	w := newWorld(t, nil)
	require.Equal(t, "secret 1", w.find(ada, "secret"), "which has it held")
	require.Equal(t, "unknown", w.find(bob, "secret"))
	require.Equal(t, "unknown", w.find(id.User{}, "secret#1"), "a key of an operator's has no owner")
}

func TestAHeldVersionIsReadOnce(t *testing.T) {
	w := newWorld(t, nil)
	first, err := w.Find(t.Context(), w.view, bob, "team")
	require.NoError(t, err)
	second, err := w.Find(t.Context(), w.view, bob, "team#3")
	require.NoError(t, err)
	require.Same(t, first, second)
	require.Equal(t, 1, w.source.reads())
	require.Equal(t, 1, w.Status().Held)
}

func TestManyFirstUsesReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.source.waiting = make(chan struct{})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				v, err := w.Find(t.Context(), w.view, bob, "team")
				if err != nil || v.Version != 3 {
					t.Errorf("got %v, %v", v, err)
				}
			})
		}
		gone, leave := context.WithCancel(t.Context())
		left := make(chan error)
		synctest.Wait()
		go func() { _, err := w.Find(gone, w.view, bob, "team"); left <- err }()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-left, preset.ErrUndetermined, "who leaves does not wait")
		close(w.source.waiting)
		all.Wait()
		require.Equal(t, 1, w.source.reads())
	})
}

// The reader whose call made the read leaves: the others still get the version.
func TestALeavingCallerFailsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.source.waiting = make(chan struct{})
		gone, leave := context.WithCancel(t.Context())
		first := make(chan error)
		go func() { _, err := w.Find(gone, w.view, bob, "team"); first <- err }()
		synctest.Wait()
		leave()
		second := make(chan error)
		go func() { _, err := w.Find(t.Context(), w.view, bob, "team"); second <- err }()
		synctest.Wait()
		close(w.source.waiting)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
	})
}

func TestAReadHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.source.waiting = make(chan struct{})
		begin := time.Now()
		require.Equal(t, "undetermined", w.find(bob, "team"))
		require.Equal(t, 2*time.Second, time.Since(begin))
	})
}

func TestALaggingReplicaIsNotBelieved(t *testing.T) {
	w := newWorld(t, nil)
	for _, key := range []string{wire.PresetVersion(team, 4), wire.PublicPreset("acme", "open")} {
		w.source.leader[key] = w.source.any[key]
		delete(w.source.any, key)
	}
	require.Equal(t, "team 4", w.find(bob, "team#4"))
	require.Equal(t, "open 3", w.find(bob, "acme/open"))
}

func TestAbsenceIsRememberedBriefly(t *testing.T) {
	w := newWorld(t, nil)
	for range 5 {
		require.Equal(t, "unknown", w.find(bob, "team#5"))
		require.Equal(t, "unknown", w.find(bob, "acme/new"))
	}
	require.Equal(t, 4, w.source.reads(), "each once at a replica and once at the leader")
	w.source.version(version(ours, team, "team", 5))
	w.now = w.now.Add(5 * time.Second)
	require.Equal(t, "team 5", w.find(bob, "team#5"))
}

func TestWhoGuessesIsHeldBack(t *testing.T) {
	w := newWorld(t, func(o *preset.Options) { o.LookupBurst, o.LookupRate = 3, 1 })
	for n := range 3 {
		require.Equal(t, "unknown", w.find(bob, fmt.Sprintf("acme/guess-%d", n)))
	}
	reads := w.source.reads()
	require.Equal(t, "undetermined", w.find(bob, "acme/guess-3"), "nobody is told that it does not exist")
	require.Equal(t, "undetermined", w.find(bob, "team#77"))
	require.Equal(t, reads, w.source.reads())
	require.Equal(t, "team 2", w.find(bob, "team#2"), "what is known to exist is no guess")
	require.EqualValues(t, 2, w.Status().Refused)

	other, err := policy.Compile(policy.Snapshot{Workspace: theirs, Revision: 1})
	require.NoError(t, err)
	_, err = w.Find(t.Context(), other, bob, "acme/open")
	require.NoError(t, err, "another workspace has a budget of its own")
	w.now = w.now.Add(time.Second)
	require.Equal(t, "unknown", w.find(bob, "acme/guess-3"))
}

func TestWhatExistsCostsNoBudget(t *testing.T) {
	w := newWorld(t, func(o *preset.Options) { o.LookupBurst, o.LookupRate, o.Capacity = 1, 1e-9, 1 })
	for range 5 {
		require.Equal(t, "team 4", w.find(bob, "team#4"))
		require.Equal(t, "team 1", w.find(bob, "team#1"))
	}
	require.Zero(t, w.Status().Refused)
}

func TestADamagedOrForeignDocumentIsRefused(t *testing.T) {
	good := version(ours, team, "team", 3)
	key := wire.PresetVersion(team, 3)
	for name, damage := range map[string]func(*bucket){
		"no JSON":           func(b *bucket) { b.any[key] = []byte(`{"schema":1,`) },
		"a newer schema":    func(b *bucket) { v := good; v.Schema++; b.put(key, v) },
		"another workspace": func(b *bucket) { v := good; v.Workspace = theirs; b.put(key, v) },
		"another preset":    func(b *bucket) { v := good; v.Preset = secret; b.put(key, v) },
		"another version":   func(b *bucket) { v := good; v.Version = 2; b.put(key, v) },
		"another slug":      func(b *bucket) { v := good; v.Slug = "other"; b.put(key, v) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			damage(w.source)
			require.Equal(t, "undetermined", w.find(bob, "team"))
			require.EqualValues(t, 1, w.Status().Rejected)
			require.Zero(t, w.Status().Held)
			w.source.version(good)
			require.Equal(t, "team 3", w.find(bob, "team"), "nothing of it was kept")
		})
	}
}

// A public preset whose document names another workspace's preset gives nothing
// of it, held or not.
func TestAForeignVersionIsNotGivenAway(t *testing.T) {
	w := newWorld(t, nil)
	require.Equal(t, "secret 1", w.find(ada, "secret"))
	p := public(1, 9)
	p.Preset = secret
	w.source.put(wire.PublicPreset("acme", "secret"), p)
	require.Equal(t, "undetermined", w.find(bob, "acme/secret"))
}

func TestAPublishedVersionThatIsMissingIsNotUnknown(t *testing.T) {
	w := newWorld(t, nil)
	delete(w.source.any, wire.PresetVersion(team, 3))
	require.Equal(t, "undetermined", w.find(bob, "team"))
	require.Equal(t, "undetermined", w.find(bob, "team#3"))
	w.source.version(version(ours, team, "team", 3))
	require.Equal(t, "team 3", w.find(bob, "team"), "at once: that it was missing is not remembered")
}

func TestNATSAway(t *testing.T) {
	w := newWorld(t, nil)
	require.Equal(t, "team 3", w.find(bob, "team"))
	require.Equal(t, "open 3", w.find(bob, "acme/open"))
	w.source.fail(errAway)
	w.now = w.now.Add(time.Hour)
	require.Equal(t, "team 3", w.find(bob, "team"))
	require.Equal(t, "open 3", w.find(bob, "acme/open"), "held, however old")
	reads := w.source.reads()
	require.Equal(t, "open 3", w.find(bob, "acme/open"))
	require.Equal(t, reads, w.source.reads(), "not every request asks")
	require.Equal(t, "undetermined", w.find(bob, "team#2"), "never used")

	w.restart()
	require.Equal(t, "team 3", w.find(bob, "team"), "from disk")
	require.Equal(t, "open 3", w.find(bob, "acme/open"))
	require.Equal(t, "undetermined", w.find(bob, "team#2"))
	require.Equal(t, "undetermined", w.find(bob, "acme/other"))
	require.Equal(t, "unknown", w.find(bob, "other"), "the snapshot knows its own")

	w.source.fail(nil)
	w.source.put(wire.PublicPreset("acme", "open"), public(2, 6, 2))
	w.now = w.now.Add(time.Hour)
	require.Equal(t, "open 2", w.find(bob, "acme/open"))
}

func TestAPublicPresetMoves(t *testing.T) {
	w := newWorld(t, nil)
	require.Equal(t, "open 3", w.find(bob, "acme/open"))
	key := wire.PublicPreset("acme", "open")
	w.source.put(key, public(4, 6, 2, 3, 4))
	require.Equal(t, "open 3", w.find(bob, "acme/open"), "not read again yet")
	w.now = w.now.Add(3 * time.Second)
	require.Equal(t, "open 4", w.find(bob, "acme/open"))

	w.source.put(key, public(1, 5, 1))
	w.now = w.now.Add(3 * time.Second)
	require.Equal(t, "open 4", w.find(bob, "acme/open"), "a lagging replica has an older revision")

	delete(w.source.any, key)
	w.now = w.now.Add(3 * time.Second)
	require.Equal(t, "open 4", w.find(bob, "acme/open"), "NATS lost it: it was not withdrawn")

	w.source.any[key] = []byte("{")
	w.now = w.now.Add(3 * time.Second)
	require.Equal(t, "open 4", w.find(bob, "acme/open"))
	require.EqualValues(t, 1, w.Status().Rejected)

	w.source.put(key, public(0, 7))
	w.now = w.now.Add(3 * time.Second)
	require.Equal(t, "unknown", w.find(bob, "acme/open"), "it was withdrawn")
	require.Equal(t, "unknown", w.find(bob, "acme/open#2"))
}

// One caller reads a public preset again, the others do not wait for it.
func TestReadingAgainHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		require.Equal(t, "open 3", w.find(bob, "acme/open"))
		w.now = w.now.Add(time.Minute)
		w.source.waiting = make(chan struct{})
		done := make(chan struct{})
		go func() { defer close(done); _, _ = w.Find(t.Context(), w.view, bob, "acme/open") }()
		synctest.Wait()
		begin := time.Now()
		require.Equal(t, "open 3", w.find(bob, "acme/open"))
		require.Zero(t, time.Since(begin))
		close(w.source.waiting)
		<-done
	})
}

// While nobody answers, a request that names several public presets does not wait
// for each of them in turn, nor does the next one.
func TestReadingAgainIsNotTriedForEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		names := []string{"acme/open", "beta/open", "gamma/open"}
		for _, name := range names {
			handle, slug, _ := strings.Cut(name, "/")
			w.source.put(wire.PublicPreset(handle, slug), public(3, 5, 2, 3))
			require.Equal(t, "open 3", w.find(bob, name))
		}
		w.now = w.now.Add(time.Minute)
		w.source.waiting = make(chan struct{})
		begin := time.Now()
		for range 2 {
			for _, name := range names {
				require.Equal(t, "open 3", w.find(bob, name))
			}
		}
		require.Equal(t, 2*time.Second, time.Since(begin), "one look-up has been tried")
		w.now = w.now.Add(3 * time.Second)
		w.source.waiting = nil
		w.source.put(wire.PublicPreset("beta", "open"), public(4, 6, 2, 3, 4))
		require.Equal(t, "open 4", w.find(bob, "beta/open"), "it is tried again")
	})
}

func TestTheShelfIsBounded(t *testing.T) {
	for name, change := range map[string]func(*preset.Options){
		"versions": func(o *preset.Options) { o.Capacity = 2 },
		"bytes":    func(o *preset.Options) { o.Bytes = 400 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, change)
			for _, n := range []string{"team#1", "team#2", "team#1", "team#3"} {
				w.find(bob, n)
			}
			require.Equal(t, 2, w.Status().Held)
			require.LessOrEqual(t, w.Status().Bytes, int64(400))
			reads := w.source.reads()
			w.find(bob, "team#1")
			require.Equal(t, reads, w.source.reads(), "used lately")
			w.find(bob, "team#2")
			require.Equal(t, reads+1, w.source.reads(), "let go")
		})
	}
}

func BenchmarkFind(b *testing.B) {
	view, _ := policy.Compile(policy.Snapshot{Workspace: ours, Revision: 1, Presets: []policy.Preset{{ID: team, Slug: "team", Version: 3}}})
	source := &bucket{any: map[string][]byte{}}
	source.version(version(ours, team, "team", 3))
	disk, err := lastgood.Open(b.TempDir(), lastgood.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	s := preset.New(preset.Options{Source: source, Disk: disk, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Find(b.Context(), view, bob, "team"); err != nil {
			b.Fatal(err)
		}
	}
}
