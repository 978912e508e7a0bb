package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// spent stores what an account spent on a day, and on all days.
func (s *services) spent(t *testing.T, ws id.Workspace, account wire.Account, day time.Time, sum wire.Spend) {
	t.Helper()
	require.NoError(t, s.db.System().InTx(t.Context(), func(ctx context.Context) error {
		args := []any{ws.UUID(), string(account), sum.Requests, int64(sum.Cost), int64(sum.BYOK)}
		const add = ` DO UPDATE SET requests = t.requests + EXCLUDED.requests, cost_nanos = t.cost_nanos + EXCLUDED.cost_nanos,
			byok_nanos = t.byok_nanos + EXCLUDED.byok_nanos`
		if err := system(ctx).Exec(`INSERT INTO spend_totals AS t (workspace_id, account, requests, cost_nanos, byok_nanos) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (workspace_id, account)`+add, args...).Error; err != nil {
			return err
		}
		return system(ctx).Exec(`INSERT INTO spend_days AS t (workspace_id, account, requests, cost_nanos, byok_nanos, day) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (workspace_id, account, day)`+add, append(args, day.Format(time.DateOnly))...).Error
	}))
}

func (s *services) budget(t *testing.T, ws id.Workspace, d budget.Draft) budget.Standing {
	t.Helper()
	of := s.budgets
	if !d.Target.Department.IsZero() {
		of = s.ofDepts
	}
	b, _, err := of.Create(t.Context(), ws, operator, d)
	require.NoError(t, err)
	return b
}

func TestBudgetLife(t *testing.T) {
	s := openServices(t)
	of := s.create(t, "acme")
	ws := of.Workspace.ID
	before := s.snapshot(t, ws)
	require.Nil(t, before.Limits)
	b, pub, err := s.budgets.Create(t.Context(), ws, byMember(of.Owner), budget.Draft{Interval: policy.Monthly, Limit: 100 * money.USD, Reserve: true, IncludeBYOK: true})
	require.NoError(t, err)
	require.Equal(t, of.Owner.User, b.CreatedBy)
	require.Equal(t, []string{"budget.create"}, s.stored(t, pub).Changes)
	require.Equal(t, &policy.Limits{Budgets: []policy.Budget{b.Published()}}, s.snapshot(t, ws).Limits)
	require.Greater(t, s.snapshot(t, ws).Schema, before.Schema, "not for gateways that do not know limits")
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "limit_usd", After: "100.00"})

	got, err := s.budgets.Get(t.Context(), ws, b.ID)
	require.NoError(t, err)
	require.Equal(t, b, got)
	_, _, err = s.budgets.Update(t.Context(), ws, b.ID, operator, budget.Patch{Limit: ptr(money.USD), IfMatch: ptr(int64(7))})
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, _, err = s.budgets.Update(t.Context(), ws, b.ID, operator, budget.Patch{Limit: ptr(money.Nanos(0))})
	require.True(t, fault.Is(err, fault.ValidationError))
	s.clock.advance(time.Minute)
	changed, _, err := s.budgets.Update(t.Context(), ws, b.ID, operator, budget.Patch{Limit: ptr(money.Nanos(1)), Reserve: ptr(false), IncludeBYOK: ptr(false), IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Equal(t, int64(2), changed.Version)
	require.Equal(t, []policy.Budget{{ID: b.ID, Interval: policy.Monthly, Limit: 1}}, s.snapshot(t, ws).Limits.Budgets)
	require.Equal(t, []audit.Change{
		{Path: "limit_usd", Before: "100.00", After: "0.000000001"},
		{Path: "enforcement", Before: "reserve", After: "track"},
		{Path: "include_byok", Before: "true", After: "false"},
	}, s.lastEvent(t, ws).Diff)

	_, err = s.budgets.Delete(t.Context(), ws, b.ID, operator, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, err = s.budgets.Delete(t.Context(), ws, b.ID, operator, nil)
	require.NoError(t, err)
	require.Equal(t, before.Schema, s.snapshot(t, ws).Schema, "the old schema for the same policy")
	require.Nil(t, s.snapshot(t, ws).Limits)
	_, err = s.budgets.Get(t.Context(), ws, b.ID)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.budgets.Delete(t.Context(), ws, b.ID, operator, nil)
	require.True(t, fault.Is(err, fault.NotFound))
}

// A target has one budget for an interval, whoever asks at the same time.
func TestBudgetsAreOneForATargetAndInterval(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	guard := s.guardrail(t, ws, guardrail.Draft{Name: "g"}).ID
	dept, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: "d"})
	require.NoError(t, err)
	targets := []budget.Target{{}, {Guardrail: guard}, {Agent: "bot"}, {Agent: "Bot"}, {Department: dept.ID}}
	for _, target := range targets {
		for _, i := range []policy.Interval{policy.Daily, policy.Monthly} {
			s.budget(t, ws, budget.Draft{Target: target, Interval: i, Limit: 1})
		}
		of := s.budgets
		if !target.Department.IsZero() {
			of = s.ofDepts
		}
		_, _, err := of.Create(t.Context(), ws, operator, budget.Draft{Target: target, Interval: policy.Daily, Limit: 2})
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Equal(t, "interval", fault.Of(err).Violations[0].Path)
	}
	s.budget(t, other, budget.Draft{Interval: policy.Daily, Limit: 1})
	require.Len(t, s.snapshot(t, ws).Limits.Budgets, 2*len(targets))

	_, _, err = s.budgets.Create(t.Context(), other, operator, budget.Draft{Target: budget.Target{Guardrail: guard}, Interval: policy.Daily, Limit: 1})
	require.True(t, fault.Is(err, fault.NotFound), "another workspace's guardrail")
	_, _, err = s.ofDepts.Create(t.Context(), other, operator, budget.Draft{Target: budget.Target{Department: dept.ID}, Interval: policy.Daily, Limit: 1})
	require.True(t, fault.Is(err, fault.NotFound), "another workspace's department")

	list := func(of *budget.Service, f budget.Filter) int {
		found, err := of.List(t.Context(), ws, page.Query{}, f)
		require.NoError(t, err)
		return len(found.Items)
	}
	require.Equal(t, 8, list(s.budgets, budget.Filter{}))
	require.Equal(t, 4, list(s.budgets, budget.Filter{Interval: policy.Monthly}))
	require.Equal(t, 2, list(s.budgets, budget.Filter{Target: budget.Target{Guardrail: guard}}))
	require.Equal(t, 1, list(s.budgets, budget.Filter{Target: budget.Target{Agent: "bot"}, Interval: policy.Daily}))
	require.Equal(t, 2, list(s.ofDepts, budget.Filter{}))
	require.Zero(t, list(s.ofDepts, budget.Filter{Target: budget.Target{Department: id.New[id.DepartmentKind](testIDs)}}))
}

// Each of the two services is blind for what is the other's.
func TestBudgetsOfDepartmentsAreApart(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	dept, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: "d"})
	require.NoError(t, err)
	whole := s.budget(t, ws, budget.Draft{Interval: policy.Daily, Limit: 1})
	part := s.budget(t, ws, budget.Draft{Interval: policy.Daily, Limit: 1, Target: budget.Target{Department: dept.ID}})
	for theirs, of := range map[id.Budget]*budget.Service{whole.ID: s.ofDepts, part.ID: s.budgets} {
		_, err := of.Get(t.Context(), ws, theirs)
		require.True(t, fault.Is(err, fault.NotFound))
		_, _, err = of.Update(t.Context(), ws, theirs, operator, budget.Patch{Reserve: ptr(true)})
		require.True(t, fault.Is(err, fault.NotFound))
		_, err = of.Delete(t.Context(), ws, theirs, operator, nil)
		require.True(t, fault.Is(err, fault.NotFound))
	}
}

// What the budgets are about is deleted with them, and the account names them.
func TestBudgetsGoWithWhatTheyAreAbout(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	guard := s.guardrail(t, ws, guardrail.Draft{Name: "g"}).ID
	dept, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: "d"})
	require.NoError(t, err)
	kept := s.budget(t, ws, budget.Draft{Interval: policy.Daily, Limit: 1})
	ofGuard := s.budget(t, ws, budget.Draft{Interval: policy.Daily, Limit: 1, Target: budget.Target{Guardrail: guard}})
	ofDept := s.budget(t, ws, budget.Draft{Interval: policy.Weekly, Limit: 1, Target: budget.Target{Department: dept.ID}})
	_, err = s.guardrails.Delete(t.Context(), ws, guard, operator, nil)
	require.NoError(t, err)
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "budgets", Before: ofGuard.ID.String()})
	_, err = s.departments.Delete(t.Context(), ws, dept.ID, operator, nil)
	require.NoError(t, err)
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "budgets", Before: ofDept.ID.String()})
	require.Equal(t, []policy.Budget{kept.Published()}, s.snapshot(t, ws).Limits.Budgets)
}

func TestAWorkspaceHasSoManyBudgets(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	in(t, s.db, ws, func(ctx context.Context) error {
		for i := range budget.Most {
			b := budget.Budget{
				ID: id.New[id.BudgetKind](testIDs), Workspace: ws, Target: budget.Target{Agent: fmt.Sprint("agent", i)}, Interval: policy.Daily,
				Limit: 1, Version: 1, CreatedAt: epoch, UpdatedAt: epoch,
			}
			if err := NewBudgetStore().Create(ctx, ws, b); err != nil {
				return err
			}
		}
		return nil
	})
	_, _, err := s.budgets.Create(t.Context(), ws, operator, budget.Draft{Interval: policy.Daily, Limit: 1})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// A budget stands where the days of its account and window say, at the clock's
// time, and its projection with them.
func TestBudgetsStandWhereTheirAccountsDo(t *testing.T) {
	s := openServices(t)
	of := s.create(t, "acme")
	ws, other := of.Workspace.ID, s.create(t, "other").Workspace.ID
	guard := s.guardrail(t, ws, guardrail.Draft{Name: "g"}).ID
	dept, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: "d"})
	require.NoError(t, err)
	noon := time.Date(2030, 3, 13, 12, 0, 0, 0, time.UTC) // a Wednesday
	s.clock.at.Store(noon.UnixMicro())
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	for _, account := range []wire.Account{wire.AccountWorkspace, wire.GuardrailAccount(guard), wire.AgentAccount("bot"), wire.DepartmentAccount(dept.ID)} {
		s.spent(t, ws, account, day(-60), wire.Spend{Requests: 9, Cost: 1000})
		s.spent(t, ws, account, day(-7), wire.Spend{Requests: 1, Cost: 300}) // a Wednesday of the month
		s.spent(t, ws, account, day(-1), wire.Spend{Requests: 1, Cost: 50, BYOK: 10})
		s.spent(t, ws, account, day(0), wire.Spend{Requests: 1, Cost: 20})
	}
	s.spent(t, other, wire.AccountWorkspace, day(0), wire.Spend{Cost: 7777})
	spent := map[policy.Interval]money.Nanos{policy.Daily: 20, policy.Weekly: 60, policy.Monthly: 360, policy.Lifetime: 1360}
	for interval, want := range spent {
		for _, target := range []budget.Target{{}, {Guardrail: guard}, {Agent: "bot"}, {Department: dept.ID}} {
			if interval == policy.Lifetime && !target.Department.IsZero() {
				continue
			}
			b := s.budget(t, ws, budget.Draft{Target: target, Interval: interval, Limit: 360})
			require.Equal(t, want, b.Spent, "%s %v", interval, target)
			require.Equal(t, want >= 360, b.Exceeded())
			if interval == policy.Daily {
				require.Equal(t, spending.Projection{Linear: ptr(money.Nanos(40)), Weekday: ptr(money.Nanos(20 + 150))}, b.Projection)
			}
		}
	}
	require.Zero(t, s.budget(t, ws, budget.Draft{Target: budget.Target{Agent: "x"}, Interval: policy.Weekly, Limit: 1}).Spent, "who never spent anything")
	listed, err := s.budgets.List(t.Context(), ws, page.Query{Limit: 250}, budget.Filter{Target: budget.Target{Agent: "bot"}})
	require.NoError(t, err)
	require.Len(t, listed.Items, 4)
	for _, b := range listed.Items {
		require.Equal(t, spent[b.Interval], b.Spent)
	}
	s.clock.at.Store(noon.AddDate(0, 0, 5).UnixMicro()) // the next Monday
	for _, b := range listed.Items {
		now, err := s.budgets.Get(t.Context(), ws, b.ID)
		require.NoError(t, err)
		switch b.Interval {
		case policy.Daily, policy.Weekly:
			require.Zero(t, now.Spent, b.Interval)
		case policy.Monthly, policy.Lifetime:
			require.Equal(t, b.Spent, now.Spent, b.Interval)
		}
	}
	report, err := spending.NewService(s.db.Runner(), NewSpendingStore(), s.clock.now).Of(t.Context(), ws, wire.AccountWorkspace, true)
	require.NoError(t, err)
	require.Len(t, report.Windows, 4)
	require.Len(t, report.Days, 3)
	require.Equal(t, wire.Spend{Requests: 12, Cost: 1370, BYOK: 10}, report.Windows[3].Spend)
}
