package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// changedAuto is the first configuration that a workspace sets.
func changedAuto() autorouting.Config {
	c := autorouting.Default()
	c.Objective, c.Spend, c.Prices = policy.ForCost, policy.SpendCustom, &policy.SpendLimit{Input: 1, Output: 0}
	c.Models, c.AllowFallbacks, c.Version, c.UpdatedAt = []string{"acme/*", `a,"b{}`}, false, c.Version+1, epoch
	return c
}

// Nothing is published of auto until it is changed, and then what was stored.
func TestAutoRoutingIsPublished(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	require.Nil(t, s.snapshot(t, ws).Auto)
	found, err := s.auto.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, autorouting.Default(), found)

	got, _, err := s.auto.Update(t.Context(), ws, operator, autorouting.Patch{Objective: ptr(policy.ForLatency)}, ptr(int64(1)))
	require.NoError(t, err)
	want := policy.DefaultAuto()
	want.Objective, want.Version = policy.ForLatency, 2
	require.Equal(t, want, got.Auto)
	require.Equal(t, &want, s.snapshot(t, ws).Auto)
	require.Equal(t, "auto_routing.update", s.lastEvent(t, ws).Action)
	require.Equal(t, "objective", s.lastEvent(t, ws).Diff[0].Path)
	require.Nil(t, s.snapshot(t, other).Auto)

	_, _, err = s.auto.Update(t.Context(), ws, operator, autorouting.Patch{AllowFallbacks: ptr(false)}, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed), "%v", err)
	require.EqualValues(t, 2, fault.Of(err).Fields["version"])
	_, _, err = s.auto.Update(t.Context(), ws, operator, autorouting.Patch{Spend: ptr(policy.SpendCustom)}, nil)
	require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
	require.Equal(t, &want, s.snapshot(t, ws).Auto, "a refused change changes nothing")

	prices := policy.SpendLimit{Input: 1, Output: 2}
	got, _, err = s.auto.Update(t.Context(), ws, operator, autorouting.Patch{Spend: ptr(policy.SpendCustom), Prices: &prices}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 3, got.Version)
	require.Equal(t, &prices, s.snapshot(t, ws).Auto.Prices)
	found, err = s.auto.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, got, found)
}

// The first change makes a row and the next ones change it, each only over the
// version that it was made for.
func TestAutoRoutingIsStored(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	update := func(c autorouting.Config) error {
		return db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error { return NewAutoRoutingStore().Update(ctx, w.ID, c) })
	}
	c := changedAuto()
	require.NoError(t, update(c))
	err := update(c)
	require.True(t, fault.Is(err, fault.PreconditionFailed), "a second first change: %v", err)
	require.EqualValues(t, 2, fault.Of(err).Fields["version"])
	c.Version = 7
	err = update(c)
	require.True(t, fault.Is(err, fault.PreconditionFailed), "%v", err)

	c.Version, c.Spend, c.Prices, c.Models = 3, policy.SpendAny, nil, nil
	require.NoError(t, update(c))
	in(t, db, w.ID, func(ctx context.Context) error {
		got, err := NewAutoRoutingStore().Get(ctx, w.ID)
		require.Equal(t, c, got)
		return err
	})
	for path, edit := range map[string]func(*autorouting.Config){
		"objective":     func(c *autorouting.Config) { c.Objective = "speed" },
		"spend_profile": func(c *autorouting.Config) { c.Spend = "lavish" },
		"prices":        func(c *autorouting.Config) { c.Spend = policy.SpendCustom },
		"prices.input":  func(c *autorouting.Config) { c.Spend, c.Prices = policy.SpendCustom, &policy.SpendLimit{Input: -1} },
		"models":        func(c *autorouting.Config) { c.Models = make([]string, policy.MaxAutoPatterns+1) },
	} {
		bad := c
		bad.Version++
		edit(&bad)
		err := update(bad)
		require.True(t, fault.Is(err, fault.ValidationError), "%s: %v", path, err)
		require.Equal(t, path, fault.Of(err).Violations[0].Path, "the database holds it too")
	}
}
