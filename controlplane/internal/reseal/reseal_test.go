package reseal_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring is a keyring that is changed by hand.
type ring struct {
	current atomic.Pointer[seal.Keyring]
	changed atomic.Pointer[chan struct{}]
}

func newRing(t *testing.T) *ring {
	t.Helper()
	first, err := seal.New()
	require.NoError(t, err)
	r := &ring{}
	r.current.Store(first)
	changed := make(chan struct{})
	r.changed.Store(&changed)
	return r
}

func (r *ring) Current() *seal.Keyring   { return r.current.Load() }
func (r *ring) Changed() <-chan struct{} { return *r.changed.Load() }

// tell wakes who waits for a change.
func (r *ring) tell() {
	next := make(chan struct{})
	close(*r.changed.Swap(&next))
}

func (r *ring) rotate(t *testing.T) (old *seal.Keyring) {
	t.Helper()
	old = r.Current()
	next, err := old.Rotate()
	require.NoError(t, err)
	r.current.Store(next)
	return old
}

// part is one kind of what is sealed.
type part struct {
	passes   chan *seal.Keyring
	report   reseal.Report
	err      error
	seals    reseal.Count
	sealsErr error
}

func newPart() *part { return &part{passes: make(chan *seal.Keyring, 8), seals: reseal.Count{}} }

func (p *part) Reseal(_ context.Context, ring reseal.Keyring) (reseal.Report, error) {
	p.passes <- ring.(*seal.Keyring)
	return p.report, p.err
}

func (p *part) Seals(context.Context) (reseal.Count, error) { return p.seals, p.sealsErr }

func runner(r reseal.Ring, parts ...reseal.Part) (*reseal.Runner, *bytes.Buffer) {
	var log bytes.Buffer
	return reseal.NewRunner(reseal.Deps{Ring: r, Parts: parts, Log: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

func TestAPartThatFailsKeepsNoOtherFromItsPass(t *testing.T) {
	first, second := newPart(), newPart()
	first.err = errors.New("away")
	second.report = reseal.Report{Done: 2, Unopened: []string{"moved"}}
	run, log := runner(newRing(t), first, second)
	require.ErrorContains(t, run.Pass(t.Context()), "away")
	require.Len(t, second.passes, 1)
	require.Contains(t, log.String(), "count=2")
	require.NotContains(t, log.String(), "no secret is sealed by an older key")

	first.err, second.report.Done = nil, 0
	require.NoError(t, run.Pass(t.Context()))
	require.Equal(t, 1, strings.Count(log.String(), "moved"), "told once")
	require.NotContains(t, log.String(), "no secret is sealed by an older key", "one is left")
	second.report = reseal.Report{}
	require.NoError(t, run.Pass(t.Context()))
	require.NoError(t, run.Pass(t.Context()))
	require.Equal(t, 1, strings.Count(log.String(), "no secret is sealed by an older key"))
}

func TestAPassFollowsEveryKeyring(t *testing.T) {
	r, p := newRing(t), newPart()
	run, _ := runner(r, p)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); run.Run(ctx) }()
	require.Same(t, r.Current(), <-p.passes, "after the start")
	r.rotate(t)
	next := r.Current()
	r.tell()
	require.Same(t, next, <-p.passes, "after the change")
	cancel()
	<-ended

	idle, _ := runner(nil, p)
	idle.Run(t.Context()) // without a keyring it has nothing to do, and ends
}

// source gives a catalog with the platform's keys as they were sealed at the
// start.
type source struct{ c catalog.Catalog }

func (s source) Catalog(context.Context) (catalog.Catalog, int64, error) { return s.c, 7, nil }
func (source) Published(context.Context, int64, int64, time.Time) error  { return nil }

func TestTheOfferedCatalogComesUnderThePresentKeyAndStaysTheSame(t *testing.T) {
	r := newRing(t)
	sealed, err := r.Current().Seal(secret.NewString("canary"), policy.PlatformBinding("north")...)
	require.NoError(t, err)
	s := source{catalog.Catalog{Providers: []catalog.Provider{
		{Slug: "north", Credential: sealed}, {Slug: "plain"}, {Slug: "moved", Credential: sealed},
	}}}
	offered := reseal.NewOffered(s, r)
	get := func() []catalog.Provider {
		t.Helper()
		c, version, err := offered.Catalog(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 7, version)
		return c.Providers
	}
	require.Equal(t, s.c.Providers, get(), "nothing is stale")
	r.rotate(t)
	renewed := get()
	require.NotEqual(t, sealed, renewed[0].Credential)
	fresh, err := r.Current().Drop()
	require.NoError(t, err)
	plain, err := fresh.Open(renewed[0].Credential, policy.PlatformBinding("north")...)
	require.NoError(t, err)
	require.Equal(t, "canary", plain.Reveal())
	require.Equal(t, sealed, renewed[2].Credential, "what does not open is left")
	require.Equal(t, renewed, get(), "the same again, or it would be published for ever")
	require.Equal(t, sealed, s.c.Providers[0].Credential, "the source's own is not written to")
	// The key that sealed the source's own is gone, and so is the next one: what
	// was sealed under each goes on, on a control plane that publishes and on one
	// that only makes its passes.
	idle := reseal.NewOffered(s, r)
	pass := func() reseal.Report {
		t.Helper()
		report, err := idle.Reseal(t.Context(), r.Current())
		require.NoError(t, err)
		return report
	}
	require.Equal(t, reseal.Report{Done: 1, Unopened: []string{"of the platform at moved"}}, pass())
	for range 3 {
		r.current.Store(dropped(t, r.Current()))
		r.rotate(t)
		require.Equal(t, 1, pass().Done)
		require.Zero(t, pass().Done)
		present := get()[0].Credential
		require.NotEqual(t, renewed[0].Credential, present)
		seals, err := idle.Seals(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, seals[r.Current().PrimaryID()])
		for _, sealed := range []secret.Sealed{present, served(t, idle)[0].Credential} {
			plain, err := dropped(t, r.Current()).Open(sealed, policy.PlatformBinding("north")...)
			require.NoError(t, err)
			require.Equal(t, "canary", plain.Reveal())
		}
	}

	c, _, err := reseal.NewOffered(s, nil).Catalog(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.c, c)
}

func dropped(t *testing.T, ring *seal.Keyring) *seal.Keyring {
	t.Helper()
	fresh, err := ring.Drop()
	require.NoError(t, err)
	return fresh
}

func served(t *testing.T, o *reseal.Offered) []catalog.Provider {
	t.Helper()
	c, _, err := o.Catalog(t.Context())
	require.NoError(t, err)
	return c.Providers
}

// metric is signalbox_keyring_stale_seals.
func metric(t *testing.T, run *reseal.Runner) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(run))
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "signalbox_keyring_stale_seals" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no such metric")
	return 0
}

// world is what a status looks at.
type world struct {
	unconfirmed, behind int
	published           reseal.Count
	err, deaf           error
}

func (w *world) Progress(_ context.Context, change string) (int, []wire.Position, error) {
	if change != "byok.reseal" {
		return 0, nil, errors.New("another change")
	}
	return w.unconfirmed, reach, nil
}
func (w *world) Seals(context.Context) (int64, reseal.Count, error) { return 3, w.published, w.err }
func (w *world) Lagging(_ context.Context, catalog int64, policies []wire.Position) (int, error) {
	if catalog != 3 || !slices.Equal(policies, reach) {
		return 0, errors.New("of something else")
	}
	return w.behind, w.deaf
}

var reach = []wire.Position{{Stream: 1, Sequence: 2}}

func TestWhenAnOlderKeyCanBeDropped(t *testing.T) {
	r := newRing(t)
	old := r.rotate(t)
	before, now := old.PrimaryID(), r.Current().PrimaryID()
	next, err := r.Current().Append()
	require.NoError(t, err)
	r.current.Store(next)
	newest := next.IDs()[2]
	for name, c := range map[string]struct {
		workspace, platform reseal.Count
		world               world
		droppable           bool
	}{
		"all under the new one":     {reseal.Count{now: 3, newest: 1}, reseal.Count{now: 1}, world{published: reseal.Count{now: 2}}, true},
		"a workspace's":             {reseal.Count{now: 3, before: 1}, nil, world{}, false},
		"the operator's":            {nil, reseal.Count{before: 1}, world{}, false},
		"a published one":           {nil, nil, world{published: reseal.Count{before: 1}}, false},
		"a workspace not confirmed": {reseal.Count{now: 1}, nil, world{unconfirmed: 1}, false},
		"a gateway behind":          {reseal.Count{now: 1}, nil, world{behind: 1}, false},
		"a key that is gone":        {reseal.Count{now: 1, 7: 1}, nil, world{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			workspace, platform := newPart(), newPart()
			workspace.seals, platform.seals = c.workspace, c.platform
			s, err := reseal.NewService(reseal.StatusDeps{
				Ring: r, Workspace: workspace, Platform: platform, Publications: &c.world, Catalog: &c.world, Fleet: &c.world,
			}).Status(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.droppable, s.Droppable())
			run, _ := runner(r, workspace, platform)
			require.NoError(t, run.Pass(t.Context()))
			require.InDelta(t, float64(s.Stale-c.world.published[before]), metric(t, run), 0, "the metric counts the same of what is stored")
			require.Equal(t, now, s.SealingID())
			roles := map[uint32]reseal.Role{}
			for _, k := range s.Keys {
				roles[k.ID] = k.Role
				require.Equal(t, [3]int{c.workspace[k.ID], c.platform[k.ID], c.world.published[k.ID]}, [3]int{k.Workspace, k.Platform, k.Published})
			}
			want := map[uint32]reseal.Role{before: reseal.Older, now: reseal.Sealing, newest: reseal.Newer}
			if c.workspace[7] > 0 {
				want[7] = reseal.Missing
			}
			require.Equal(t, want, roles)
		})
	}
	_, err = reseal.NewService(reseal.StatusDeps{}).Status(t.Context())
	require.True(t, fault.Is(err, fault.Conflict), "no keyring: %v", err)
	_, err = reseal.NewService(reseal.StatusDeps{
		Ring: r, Workspace: newPart(), Platform: newPart(), Publications: &world{}, Catalog: &world{err: errors.New("away")}, Fleet: &world{},
	}).Status(t.Context())
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	away := errors.New("who lives is not known")
	_, err = reseal.NewService(reseal.StatusDeps{
		Ring: r, Workspace: newPart(), Platform: newPart(), Publications: &world{}, Catalog: &world{}, Fleet: &world{deaf: away},
	}).Status(t.Context())
	require.ErrorIs(t, err, away)
}
