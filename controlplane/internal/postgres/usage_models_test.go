package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// modelUses reads both kinds of use as a workspace.
func (b *usageBench) modelUses(ws id.Workspace, names ...string) (decided, asked []lifecycle.Use) {
	b.t.Helper()
	since := b.now.Add(-lifecycle.Window)
	require.NoError(b.t, b.db.Runner().Read(b.t.Context(), ws, func(ctx context.Context) (err error) {
		if decided, err = NewModelUseStore().Decided(ctx, ws, names, since); err != nil {
			return err
		}
		asked, err = NewModelUseStore().Asked(ctx, ws, names, since)
		return err
	}))
	return decided, asked
}

func TestUseOfModels(t *testing.T) {
	b := newUsageBench(t)
	row := func(at time.Time, asked, decided string, edit func(*usage.Entry)) usage.Entry {
		e := b.entry(at)
		e.RequestedModel, e.DecidedModel = asked, decided
		if edit != nil {
			edit(&e)
		}
		return e
	}
	hour := func(n int) time.Time { return b.now.Add(time.Duration(n) * time.Hour).Truncate(time.Millisecond) }
	refused := func(e *usage.Entry) { e.Outcome, e.Status, e.Code = wire.Refused, 410, "model_retired" }
	first := row(hour(-50), "acme/old", "acme/old", nil)
	b.write(
		first, row(hour(-3), "acme/old", "acme/old", nil), row(hour(-2), "acme/old", "acme/old", nil),
		row(hour(-1), "acme/other", "acme/other", nil),
		row(hour(-24*31), "acme/old", "acme/old", nil), row(hour(-24*31), "acme/gone", "", refused), // before the window
		row(hour(-5), "acme/gone", "", refused), row(hour(-4), "acme/gone", "", refused),
		row(hour(-6), "acme/gone", "acme/new", nil),
		row(hour(-6), "acme/gone", "acme/newer", func(e *usage.Entry) { e.PrimaryID = first.ID }), // of a chain: counted with its first
	)
	decided, asked := b.modelUses(b.ws, "acme/old", "acme/gone", "acme/unused")
	require.Equal(t, []lifecycle.Use{{Decided: "acme/old", Requests: 3, Last: hour(-2)}}, decided)
	require.Equal(t, []lifecycle.Use{
		{Asked: "acme/gone", Requests: 2, Last: hour(-4)}, {Asked: "acme/gone", Decided: "acme/new", Requests: 1, Last: hour(-6)},
	}, asked)

	decided, asked = b.modelUses(id.New[id.WorkspaceKind](id.SystemSource()), "acme/old", "acme/gone")
	require.Empty(t, decided, "another workspace sees nothing")
	require.Empty(t, asked)

	// Under another workspace's transaction the tenant in the argument is refused.
	require.Error(t, b.db.Runner().Read(t.Context(), b.ws, func(ctx context.Context) error {
		_, err := NewModelUseStore().Decided(ctx, id.New[id.WorkspaceKind](id.SystemSource()), []string{"acme/old"}, b.now)
		return err
	}))

	// Where the log is gone the hour is what is known.
	_, err := b.owner.ExecContext(t.Context(), "DELETE FROM request_log")
	require.NoError(t, err)
	decided, _ = b.modelUses(b.ws, "acme/old")
	require.Equal(t, hour(-2).Truncate(time.Hour), decided[0].Last)
}

// The look-up goes by the index that holds nothing but what was not decided as
// it was asked.
func TestUseOfModelsReadsItsIndex(t *testing.T) {
	b := newUsageBench(t)
	b.write(b.entry(b.now))
	tx, err := b.owner.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(t.Context(), "SET LOCAL enable_seqscan = off")
	require.NoError(t, err)
	rows, err := tx.QueryContext(t.Context(), `EXPLAIN SELECT requested_model, decided_model, count(*), max(started_at) FROM request_log
		WHERE workspace_id = $1 AND requested_model <> decided_model AND id = primary_id AND requested_model = ANY($2::text[])
			AND id >= $3 AND started_at >= $4 GROUP BY 1, 2`,
		b.ws.UUID(), textArray{"acme/old"}, firstID(b.now), b.now)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var plan string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		plan += line + "\n"
	}
	require.NoError(t, rows.Err())
	require.Contains(t, plan, "workspace_id_requested_model_id_idx", plan)
	require.NotContains(t, plan, "Seq Scan", plan)
}

func TestKeysThatListModels(t *testing.T) {
	db := openTest(t)
	a, owner := newWorkspace(t, db)
	listed, pattern, other, revoked := filledKey(t, owner, 1), filledKey(t, owner, 2), filledKey(t, owner, 3), filledKey(t, owner, 4)
	listed.Models, pattern.Models, other.Models, revoked.Models = []string{"acme/new", "acme/old"}, []string{"acme/*"}, []string{"acme/new"}, []string{"acme/old"}
	listed.Status, pattern.Status, other.Status, revoked.Status = policy.KeyActive, policy.KeyPaused, policy.KeyActive, policy.KeyRevoked
	var found []lifecycle.Key
	in(t, db, a.ID, func(ctx context.Context) (err error) {
		for _, k := range []func() error{
			func() error { return NewAPIKeyStore().Create(ctx, a.ID, listed) }, func() error { return NewAPIKeyStore().Create(ctx, a.ID, pattern) },
			func() error { return NewAPIKeyStore().Create(ctx, a.ID, other) }, func() error { return NewAPIKeyStore().Create(ctx, a.ID, revoked) },
		} {
			require.NoError(t, k())
		}
		found, err = NewAPIKeyStore().Listing(ctx, a.ID, []string{"acme/old"})
		return err
	})
	require.ElementsMatch(t, []lifecycle.Key{
		{ID: listed.ID, Name: listed.Name, Models: listed.Models}, {ID: pattern.ID, Name: pattern.Name, Models: pattern.Models},
	}, found)
}
