package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Limits and the agent of a key travel in its document, at the revision of the
// change, and nothing waits for a snapshot.
func TestKeyLimitsArePublished(t *testing.T) {
	s := openServices(t)
	of := s.create(t, "acme")
	ws, by := of.Workspace.ID, byMember(of.Owner)
	limits := policy.KeyLimits{Daily: policy.KeyWindow{Requests: 10, Cost: money.USD}, Reserve: true}
	k, _, pub, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "k", Limits: limits, Agent: "bot"})
	require.NoError(t, err)
	document := func() policy.Key {
		compiled, err := NewCompiler(s.db).Compile(t.Context(), ws)
		require.NoError(t, err)
		require.Len(t, compiled.Keys, 1)
		return compiled.Keys[0]
	}
	require.Equal(t, &limits, document().Limits)
	require.Equal(t, "bot", document().Agent)
	require.Equal(t, policy.Schema+2, document().Schema)
	require.Zero(t, document().MinRevision)
	require.Equal(t, pub.Revision, document().Revision)
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "limits.daily.cost_usd", After: "1.00"})

	k, _, err = s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Limits: &apikey.LimitsPatch{
		Daily: apikey.WindowPatch{Requests: ptr(int64(0))}, Weekly: apikey.WindowPatch{Cost: ptr(money.Nanos(5))}, SoftBlocked: ptr(true),
	}})
	require.NoError(t, err)
	want := policy.KeyLimits{Daily: policy.KeyWindow{Cost: money.USD}, Weekly: policy.KeyWindow{Cost: 5}, Reserve: true, SoftBlocked: true}
	require.Equal(t, &want, k.Limits, "what is not named stays")
	require.Equal(t, &want, document().Limits)
	require.Equal(t, []audit.Change{
		{Path: "limits.daily.requests", Before: "10"}, {Path: "limits.weekly.cost_usd", After: "0.000000005"}, {Path: "soft_blocked", Before: "false", After: "true"},
	}, s.lastEvent(t, ws).Diff)

	renamed, _, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Name: ptr("other")})
	require.NoError(t, err)
	require.Equal(t, &want, renamed.Limits)
	none := apikey.WindowPatch{Cost: ptr(money.Nanos(0))}
	_, _, err = s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Agent: ptr(""), Limits: &apikey.LimitsPatch{
		Daily: none, Weekly: none, Reserve: ptr(false), SoftBlocked: ptr(false),
	}})
	require.NoError(t, err)
	require.Nil(t, document().Limits)
	require.Equal(t, policy.Schema, document().Schema, "the old schema for the same key")
}

func TestKeysTellWhatTheyUsed(t *testing.T) {
	s := openServices(t)
	of := s.create(t, "acme")
	ws := of.Workspace.ID
	noon := time.Date(2030, 3, 13, 12, 0, 0, 0, time.UTC)
	s.clock.at.Store(noon.UnixMicro())
	limits := policy.KeyLimits{Daily: policy.KeyWindow{Requests: 3}, Weekly: policy.KeyWindow{Cost: 100}, Monthly: policy.KeyWindow{Requests: 5, Cost: 500}}
	k, _, _, err := s.keys.Create(t.Context(), ws, operator, apikey.NewKey{Name: "k", Limits: limits})
	require.NoError(t, err)
	idle := s.key(t, of, "idle")
	s.spent(t, ws, wire.KeyAccount(k.ID), noon, wire.Spend{Requests: 2, Cost: 90, BYOK: 40})
	s.spent(t, ws, wire.KeyAccount(k.ID), noon.AddDate(0, 0, -2), wire.Spend{Requests: 2, Cost: 50})
	s.spent(t, ws, wire.KeyAccount(k.ID), noon.AddDate(0, 0, -7), wire.Spend{Requests: 1, Cost: 7})
	used, err := s.keys.Used(t.Context(), ws, k, idle)
	require.NoError(t, err)
	require.Len(t, used[idle.ID], 3)
	for i, want := range []struct {
		requests int64
		counted  money.Nanos
		exceeded bool
	}{{2, 50, false}, {4, 100, true}, {5, 107, true}} {
		u := used[k.ID][i]
		require.Equal(t, want.requests, u.Requests)
		require.Equal(t, want.counted, u.Counted)
		require.Equal(t, want.exceeded, u.Exceeded())
		require.Equal(t, spending.WindowOf(u.Interval, noon), u.Window)
		require.Zero(t, used[idle.ID][i].Spend)
		require.False(t, used[idle.ID][i].Exceeded())
	}
	k.Limits.IncludeBYOK = true
	used, err = s.keys.Used(t.Context(), ws, k)
	require.NoError(t, err)
	require.Equal(t, money.Nanos(90), used[k.ID][0].Counted)
}
