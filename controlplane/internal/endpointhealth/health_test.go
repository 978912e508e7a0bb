package endpointhealth_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var (
	now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	ws  = id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
)

// world implements what the service reads.
type world struct {
	t        *testing.T
	snapshot policy.Snapshot
	report   wire.HealthReport
	failure  error
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, snapshot: policy.Snapshot{Schema: policy.Schema, Workspace: ws, Revision: 1, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings()},
		report: wire.HealthReport{MadeAt: now, Endpoints: []wire.ReportedHealth{
			{ID: "north:acme/small", Requests: 1000, State: "closed"},
			{ID: "south:acme/small", Requests: 100, State: "open"},
			{ID: "south:acme/beta", Requests: 100, State: "closed"},
			{ID: "off:acme/small", Requests: 100, State: "closed"},
			{ID: "theirs:acme/private", Requests: 100, State: "closed"},
		}},
	}
}

func (w *world) Read(ctx context.Context, got id.Workspace, fn func(context.Context) error) error {
	require.Equal(w.t, ws, got)
	return fn(ctx)
}

func (w *world) Policy(context.Context, id.Workspace) (policy.Snapshot, error) {
	return w.snapshot, nil
}

func (w *world) Report(context.Context) (wire.HealthReport, error) { return w.report, w.failure }

func (*world) View(context.Context) (*catalog.View, error) {
	provider := func(slug string, change func(*catalog.Provider)) catalog.Provider {
		p := catalog.Provider{Slug: slug, Type: catalog.OpenAICompatible, BaseURL: "https://x.example/v1", Keyless: true}
		if change != nil {
			change(&p)
		}
		return p
	}
	endpoint := func(slug, model string, channel catalog.Channel) catalog.Endpoint {
		return catalog.Endpoint{ID: slug + ":" + model, Provider: slug, UpstreamModel: "x", Channel: channel}
	}
	return catalog.Compile(catalog.Catalog{
		Schema: catalog.Schema, Revision: 1,
		Providers: []catalog.Provider{
			provider("north", func(p *catalog.Provider) { p.Aliases = []string{"nord"} }), provider("south", nil),
			provider("off", func(p *catalog.Provider) { p.Disabled = true }), provider("keyed", func(p *catalog.Provider) { p.Keyless = false }),
		},
		Models: []catalog.Model{
			{ID: "acme/small", Author: "acme", Aliases: []string{"tiny"}, Endpoints: []catalog.Endpoint{
				endpoint("north", "acme/small", ""), endpoint("south", "acme/small", ""), endpoint("off", "acme/small", ""), endpoint("keyed", "acme/small", ""),
			}},
			{ID: "acme/beta", Author: "acme", Endpoints: []catalog.Endpoint{endpoint("south", "acme/beta", catalog.Beta), endpoint("north", "acme/beta", catalog.Beta)}},
			{ID: "acme/quiet", Author: "acme", Endpoints: []catalog.Endpoint{endpoint("north", "acme/quiet", "")}},
		},
	})
}

// list returns the endpoints, with a ? behind those of which nothing is told.
func (w *world) list(f endpointhealth.Filter) (names []string) {
	w.t.Helper()
	found, err := endpointhealth.NewService(endpointhealth.Deps{
		Runner: w, Policies: w, Reports: w, Source: w, Now: func() time.Time { return now },
	}).List(w.t.Context(), ws, f)
	require.NoError(w.t, err)
	require.Equal(w.t, now, found.MadeAt)
	for _, e := range found.Endpoints {
		name := e.Endpoint.ID
		if e.Health == nil {
			name += "?"
		} else {
			require.Equal(w.t, e.Endpoint.ID, e.Health.ID)
		}
		names = append(names, name)
	}
	return names
}

func TestOnlyWhatTheWorkspaceMayUseIsTold(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, []string{"north:acme/small", "south:acme/small"}, w.list(endpointhealth.Filter{}), "neither what is off nor a preview nor what is not in the catalog")
	w.snapshot.Settings.BetaChannel = true
	require.Equal(t, []string{"south:acme/beta", "north:acme/small", "south:acme/small"}, w.list(endpointhealth.Filter{}))
	w.snapshot.Settings.RequireZDR = true
	require.Empty(t, w.list(endpointhealth.Filter{}), "no provider here promises it")
}

func TestFiltersShowWhatHasTooFewRequestsToo(t *testing.T) {
	w := newWorld(t)
	for f, want := range map[endpointhealth.Filter][]string{
		{Model: "acme/small"}:                     {"north:acme/small", "south:acme/small"},
		{Model: "tiny", Provider: "nord"}:         {"north:acme/small"},
		{Model: "acme/quiet"}:                     {"north:acme/quiet?"},
		{Provider: "north"}:                       {"north:acme/quiet?", "north:acme/small"},
		{Provider: "off"}:                         nil,
		{Provider: "keyed"}:                       nil,
		{Model: "acme/none"}:                      nil,
		{Model: "acme/small", Provider: "nobody"}: nil,
	} {
		require.Equal(t, want, w.list(f), "%+v", f)
	}
	w.snapshot.Credentials = []policy.Credential{{ID: id.MustParse[id.CredentialKind]("byok_01kb7n0z1v8q5r2m3t4w5x6y7z"), Provider: "keyed", Use: policy.UsePriority}}
	require.Equal(t, []string{"keyed:acme/small?"}, w.list(endpointhealth.Filter{Provider: "keyed"}), "with a key of the workspace's own it may be used")
}

func TestThatNobodyAnswersIsAFailure(t *testing.T) {
	w := newWorld(t)
	w.failure = fault.New(fault.Unavailable, "nobody")
	_, err := endpointhealth.NewService(endpointhealth.Deps{Runner: w, Policies: w, Reports: w, Source: w, Now: time.Now}).List(t.Context(), ws, endpointhealth.Filter{})
	require.True(t, fault.Is(err, fault.Unavailable))
}
