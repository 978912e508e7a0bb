package postgres

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// platform is a deployment that sells: billing and allowances are on.
type platform struct {
	*services
	wallets    *wallet.Service
	allowances *allowance.Service
	ladder     allowance.Settings
	terms      wallet.Terms
}

func openPlatform(t *testing.T, terms wallet.Terms, enabled bool) *platform {
	t.Helper()
	p := &platform{services: openServices(t), terms: terms, ladder: allowance.Default()}
	p.ladder.Enabled = enabled
	p.wallets = walletsOf(p.db, p.clock.now, terms)
	p.allowances = allowance.NewService(allowance.Deps{
		Runner: p.db.Runner(), Store: NewAllowanceStore(), Mutator: p.mutator, Settings: p.ladder, Terms: terms, Now: p.clock.now,
	})
	return p
}

func (p *platform) watch() *allowance.Watch {
	return allowance.NewWatch(allowance.WatchDeps{
		System: p.db.System(), Directory: NewAllowanceDirectory(), Store: NewAllowanceStore(), Mutator: p.mutator,
		Settings: p.ladder, Terms: p.terms, Now: p.clock.now, Log: slog.New(slog.DiscardHandler),
	})
}

// limits are those that the workspace is published with, and its revision.
func (p *platform) limits(t *testing.T, ws id.Workspace) (*policy.Limits, int64) {
	t.Helper()
	compiled, err := NewCompiler(p.db).Under(p.terms, p.ladder, p.clock.now).Compile(t.Context(), ws)
	require.NoError(t, err)
	return compiled.Snapshot.Limits, compiled.Snapshot.Revision
}

func TestWhatIsPublishedOfMoney(t *testing.T) {
	p := openPlatform(t, prepaid, true)
	ws := p.create(t, "acme").Workspace.ID
	fresh := policy.Allowance{PerMinute: 10, FreePerDay: 1500}
	l, _ := p.limits(t, ws)
	require.Equal(t, &policy.Limits{Credit: prepaid.Credit(0), Allowance: fresh}, l)
	_, _, err := p.wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 70 * money.USD})
	require.NoError(t, err)
	_, _, err = p.wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.Adjustment, Amount: -10 * money.USD, Note: "why"})
	require.NoError(t, err)
	fresh.PerMinute = 25
	l, _ = p.limits(t, ws)
	require.Equal(t, &policy.Limits{Credit: prepaid.Credit(60 * money.USD), Allowance: fresh}, l)
	p.clock.advance(30 * day)
	l, _ = p.limits(t, ws)
	require.EqualValues(t, 60, l.Allowance.PerMinute)
	_, _, err = p.wallets.SetTerms(t.Context(), ws, operator, func(o *wallet.Own) { o.Billing = ptr(policy.BillingInvoice) }, nil)
	require.NoError(t, err)
	l, _ = p.limits(t, ws)
	require.EqualValues(t, 120, l.Allowance.PerMinute)
	require.Equal(t, policy.BillingInvoice, l.Credit.Billing)
}

func TestADeploymentThatDoesNotSellLimitsNothing(t *testing.T) {
	p := openPlatform(t, wallet.Default(), false)
	ws := p.create(t, "acme").Workspace.ID
	_, _, err := p.wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 70 * money.USD})
	require.NoError(t, err)
	l, before := p.limits(t, ws)
	require.Nil(t, l, "gateways of an older version read it")
	require.NoError(t, p.watch().Round(t.Context()))
	_, after := p.limits(t, ws)
	require.Equal(t, before, after)
}

func TestOverridesOfAllowances(t *testing.T) {
	p := openPlatform(t, wallet.Default(), true)
	created := p.create(t, "acme")
	ws, owner := created.Workspace.ID, created.Owner.User
	state, err := p.allowances.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, allowance.State{
		Enabled: true, Standing: allowance.New, Reason: allowance.Nothing, Facts: allowance.Facts{CreatedAt: epoch},
		Overrides: allowance.Overrides{Workspace: ws, Version: 1}, Allowance: policy.Allowance{PerMinute: 10, FreePerDay: 1500},
	}, state)

	changed, pub, err := p.allowances.Update(t.Context(), ws, operator, func(o *allowance.Overrides) {
		o.PerMinute, o.FreePerDay, o.Users[owner] = ptr(int64(300)), ptr(int64(5)), 40
	}, ptr(int64(1)))
	require.NoError(t, err)
	require.Equal(t, []string{"allowance.update"}, p.stored(t, pub).Changes)
	require.Equal(t, []audit.Change{
		{Path: "requests_per_minute", After: "300"}, {Path: "free_requests_per_day", After: "5"}, {Path: "users." + owner.String(), After: "40"},
	}, p.lastEvent(t, ws).Diff)
	state, err = p.allowances.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, changed, state)
	want := policy.Allowance{PerMinute: 300, FreePerDay: 5, Users: []policy.MemberAllowance{{User: owner, PerMinute: 40}}}
	require.Equal(t, want, state.Allowance)
	l, _ := p.limits(t, ws)
	require.Equal(t, want, l.Allowance)

	state, _, err = p.allowances.Update(t.Context(), ws, operator, func(o *allowance.Overrides) { o.PerMinute = nil; delete(o.Users, owner) }, nil)
	require.NoError(t, err)
	require.Equal(t, policy.Allowance{PerMinute: 10, FreePerDay: 5}, state.Allowance)
	require.EqualValues(t, 3, state.Overrides.Version)
	_, _, err = p.allowances.Update(t.Context(), ws, operator, func(*allowance.Overrides) {}, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed), "%v", err)

	stranger := p.create(t, "other").Owner.User
	for path, edit := range map[string]allowance.Edit{
		"requests_per_minute":   func(o *allowance.Overrides) { o.PerMinute = ptr(int64(0)) },
		"free_requests_per_day": func(o *allowance.Overrides) { o.FreePerDay = ptr(int64(allowance.MaxFreePerDay + 1)) },
		"users":                 func(o *allowance.Overrides) { o.Users[owner] = 0 },
	} {
		_, _, err = p.allowances.Update(t.Context(), ws, operator, edit, nil)
		require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
		require.Equal(t, path, fault.Of(err).Violations[0].Path)
	}
	_, _, err = p.allowances.Update(t.Context(), ws, operator, func(o *allowance.Overrides) { o.Users[stranger] = 1 }, nil)
	require.True(t, fault.Is(err, fault.ValidationError), "who is no member: %v", err)
	_, err = p.allowances.Get(t.Context(), id.New[id.WorkspaceKind](testIDs))
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

// A standing rises with time alone, and is published once.
func TestStandingsThatRiseArePublished(t *testing.T) {
	p := openPlatform(t, wallet.Default(), true)
	ws, gone := p.create(t, "acme").Workspace, p.create(t, "gone").Workspace
	_, _, err := p.workspaces.Delete(t.Context(), gone.ID, operator, workspace.Deletion{ConfirmName: gone.Name})
	require.NoError(t, err)
	round := func() int64 {
		t.Helper()
		require.NoError(t, p.watch().Round(t.Context()))
		_, revision := p.limits(t, ws.ID)
		return revision
	}
	first := round() // the deployment is not as it comes
	require.Equal(t, first, round())
	p.clock.advance(7*day - time.Second)
	require.Equal(t, first, round())
	p.clock.advance(time.Second)
	require.Equal(t, first+1, round())
	event := p.lastEvent(t, ws.ID)
	require.Equal(t, "standing.update", event.Action)
	require.Equal(t, audit.System, event.Actor.Kind)
	require.Equal(t, []audit.Change{{Path: "standing", Before: "new", After: "standard"}}, event.Diff)
	require.Equal(t, first+1, round())

	p.ladder.Standard = 26
	require.Equal(t, first+2, round(), "other settings are published to all")
	require.Equal(t, first+2, round())
	p.ladder.Enabled = false
	require.Equal(t, first+3, round())
	require.Equal(t, first+3, round())
}

// refusing is a store that fails for one workspace.
type refusing struct {
	allowance.Store
	ws id.Workspace
}

func (r refusing) SetPublished(ctx context.Context, ws id.Workspace, p allowance.Published) error {
	if ws == r.ws {
		return errBroken
	}
	return r.Store.SetPublished(ctx, ws, p)
}

// One workspace that cannot be published keeps no other from it.
func TestStandingsRiseBehindABrokenWorkspace(t *testing.T) {
	p := openPlatform(t, wallet.Default(), true)
	all := []id.Workspace{p.create(t, "acme").Workspace.ID, p.create(t, "other").Workspace.ID}
	slices.SortFunc(all, func(a, b id.Workspace) int { return strings.Compare(a.UUID().String(), b.UUID().String()) })
	_, before := p.limits(t, all[1])
	w := allowance.NewWatch(allowance.WatchDeps{
		System: p.db.System(), Directory: NewAllowanceDirectory(), Store: refusing{NewAllowanceStore(), all[0]}, Mutator: p.mutator,
		Settings: p.ladder, Terms: p.terms, Now: p.clock.now, Log: slog.New(slog.DiscardHandler),
	})
	require.ErrorIs(t, w.Round(t.Context()), errBroken)
	_, after := p.limits(t, all[1])
	require.Equal(t, before+1, after)
}

// Many workspaces are looked at in pages.
func TestEveryWorkspaceIsLookedAt(t *testing.T) {
	p := openPlatform(t, prepaid, false)
	var list []id.Workspace
	for range 3 {
		w, _ := newWorkspace(t, p.db)
		list = append(list, w.ID)
	}
	seen := map[id.Workspace]bool{}
	var after id.Workspace
	for {
		var found []allowance.Seen
		require.NoError(t, p.db.System().Read(t.Context(), func(ctx context.Context) (err error) {
			found, err = NewAllowanceDirectory().Accounts(ctx, after, "digest", false, 1)
			return err
		}))
		if len(found) == 0 {
			break
		}
		require.Len(t, found, 1)
		after = found[0].Workspace
		require.False(t, seen[after])
		seen[after] = true
	}
	for _, ws := range list {
		require.True(t, seen[ws])
	}
}
