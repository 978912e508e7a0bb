package postgres

import (
	"context"
	"database/sql"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

type usageBench struct {
	t     testing.TB
	db    *DB
	store *UsageStore
	query *usage.Query
	owner *sql.DB
	now   time.Time
	seq   uint64
	gw    id.Gateway
	ws    id.Workspace
}

func newUsageBench(t testing.TB) *usageBench {
	url := secret.NewString(pgtest.New(t).URL)
	db, err := Open(t.Context(), Config{URL: url})
	require.NoError(t, err)
	owner := db.DirectSQL()
	t.Cleanup(func() { require.NoError(t, owner.Close()); require.NoError(t, db.Close()) })
	b := &usageBench{
		t: t, db: db, owner: owner, now: time.Date(2026, 5, 20, 12, 30, 0, 0, time.UTC),
		gw: id.New[id.GatewayKind](id.SystemSource()), ws: id.New[id.WorkspaceKind](id.SystemSource()),
	}
	b.store = NewUsageStore(db, testIDs, func() time.Time { return b.now })
	b.query = usage.NewQuery(db.Runner(), b.store)
	return b
}

// request makes a request id of a time.
func (b *usageBench) request(at time.Time) id.Request {
	return id.New[id.RequestKind](id.NewSource(func() time.Time { return at }, usageRandom{}))
}

func (b *usageBench) entry(at time.Time) usage.Entry {
	b.seq++
	req := b.request(at)
	return usage.Entry{
		ID: req, PrimaryID: req, Workspace: b.ws, Gateway: b.gw, Sequence: b.seq, StartedAt: req.Time(),
		Outcome: wire.Success, Status: 200, DecidedModel: "acme/large", Provider: "acme", Attempts: 1,
		Usage: meter.Usage{Input: 10, Output: 5}, Cost: meter.Cost{Total: 100},
	}
}

func (b *usageBench) write(entries ...usage.Entry) usage.Written {
	b.t.Helper()
	batch := usage.Batch{Entries: entries}
	for _, e := range entries {
		batch.Arrivals = append(batch.Arrivals, usage.Arrival{Gateway: e.Gateway, Run: usage.Run{First: e.Sequence, Last: e.Sequence}})
	}
	w, err := b.store.WriteUsage(context.Background(), batch)
	require.NoError(b.t, err)
	return w
}

func (b *usageBench) totals() usage.Totals {
	b.t.Helper()
	r, err := b.query.Usage(context.Background(), b.ws, usage.UsageFilter{})
	require.NoError(b.t, err)
	return r.Totals
}

type usageRandom struct{}

func (usageRandom) Read(p []byte) (int, error) {
	u := id.SystemSource().UUID()
	for i := range p {
		p[i] = u[8+i%8]
	}
	return len(p), nil
}

func TestUsageEntryRoundTrip(t *testing.T) {
	b := newUsageBench(t)
	e := b.entry(b.now)
	fillZero(t, reflect.ValueOf(&e).Elem(), "Entry")
	e.StartedAt, e.Outcome = e.ID.Time(), wire.Failed
	e.Departments = []id.Department{id.New[id.DepartmentKind](id.SystemSource()), id.New[id.DepartmentKind](id.SystemSource())}
	e.Guardrails = []id.Guardrail{id.New[id.GuardrailKind](id.SystemSource())}
	e.Agent = "support \x00"
	e.Cost.Lines = []meter.Line{{Meter: "input", Units: 3, Price: 4, Cost: 5}}
	e.Decision = []byte(`{"seed":"1",  "note":"kept as it came \u0000"}`)
	b.write(e)
	d, err := b.query.Log(t.Context(), b.ws, e.ID)
	require.NoError(t, err)
	require.Equal(t, e, d.Entry)
}

// What an entry counts toward is stored whatever it is alone.
func TestEachAttributionIsStored(t *testing.T) {
	b := newUsageBench(t)
	filled := fill.Value[wire.Attribution](1)
	for i := range reflect.TypeFor[wire.Attribution]().NumField() {
		e := b.entry(b.now)
		reflect.ValueOf(&e.Attribution).Elem().Field(i).Set(reflect.ValueOf(filled).Field(i))
		b.write(e)
		d, err := b.query.Log(t.Context(), b.ws, e.ID)
		require.NoError(t, err)
		require.Equal(t, e.Attribution, d.Attribution, reflect.TypeFor[wire.Attribution]().Field(i).Name)
	}
}

// fillZero sets every zero field, so that a forgotten column shows.
func fillZero(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	for i := range v.NumField() {
		f, name := v.Field(i), path+"."+v.Type().Field(i).Name
		switch {
		case !f.IsZero() && f.Kind() != reflect.Struct:
		case f.Type() == reflect.TypeFor[time.Time]():
		case f.Type() == reflect.TypeFor[id.Key]():
			f.Set(reflect.ValueOf(id.New[id.KeyKind](id.SystemSource())))
		case f.Type() == reflect.TypeFor[id.User]():
			f.Set(reflect.ValueOf(id.New[id.UserKind](id.SystemSource())))
		case f.Type() == reflect.TypeFor[meter.Usage](), f.Type() == reflect.TypeFor[meter.Cost](), f.Type() == reflect.TypeFor[wire.Attribution]():
			fillZero(t, f, name)
		case f.Kind() == reflect.String:
			f.SetString("text of " + name)
		case f.CanInt():
			f.SetInt(int64(100 + i))
		case f.CanUint():
			f.SetUint(uint64(100 + i))
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Kind() == reflect.Slice:
		case name == "Entry.Rollout": // counted, and not kept
		default:
			require.False(t, f.IsZero(), "%s needs a value here", name)
		}
	}
}

func TestUsageWriteIsIdempotent(t *testing.T) {
	b := newUsageBench(t)
	first, second := b.entry(b.now), b.entry(b.now)
	require.Equal(t, usage.Written{Inserted: 2}, b.write(first, second))
	third := b.entry(b.now)
	require.Equal(t, usage.Written{Inserted: 1, Repeated: 2}, b.write(first, second, third))
	got := b.totals()
	require.EqualValues(t, 3, got.Requests)
	require.EqualValues(t, 30, got.Input)
	require.Equal(t, money.Nanos(300), got.Cost)
	mark, err := b.store.UsageMark(t.Context(), b.gw)
	require.NoError(t, err)
	require.EqualValues(t, 3, mark)
}

func TestCompletedReplacesUnknownOnce(t *testing.T) {
	b := newUsageBench(t)
	done := b.entry(b.now)
	guess := done
	guess.Outcome, guess.Status, guess.Usage, guess.Cost = wire.Unknown, 0, meter.Usage{Input: 900, Estimated: true}, meter.Cost{Total: 7}
	guess.Provider = "" // another cell of the totals

	require.Equal(t, usage.Written{Inserted: 1}, b.write(guess))
	require.EqualValues(t, 1, b.totals().Unknown)
	require.Equal(t, usage.Written{Upgraded: 1}, b.write(done))
	require.Equal(t, usage.Written{Repeated: 1}, b.write(done))
	require.Equal(t, usage.Written{Repeated: 1}, b.write(guess), "an estimate never comes back")
	require.Equal(t, usage.Totals{
		Requests: 1, ModelAttempts: 1, UpstreamCalls: 1, Input: 10, Output: 5, Cost: 100,
	}, b.totals())
	d, err := b.query.Log(t.Context(), b.ws, done.ID)
	require.NoError(t, err)
	require.Equal(t, done, d.Entry)
	report, err := b.query.Usage(t.Context(), b.ws, usage.UsageFilter{GroupBy: usage.ByProvider})
	require.NoError(t, err)
	require.Len(t, report.Rows, 1, "an emptied cell is no row")
}

func TestUsageMarkWaitsForTheGap(t *testing.T) {
	b := newUsageBench(t)
	first, second, third := b.entry(b.now), b.entry(b.now), b.entry(b.now)
	mark := func() uint64 {
		m, err := b.store.UsageMark(t.Context(), b.gw)
		require.NoError(t, err)
		return m
	}
	require.Zero(t, mark())
	b.write(third)
	require.Zero(t, mark())
	b.write(first)
	require.EqualValues(t, 1, mark())
	b.write(second)
	require.EqualValues(t, 3, mark())
}

func TestDeadLettersAreKeptOnce(t *testing.T) {
	b := newUsageBench(t)
	arrived := b.entry(b.now)
	b.write(arrived)
	letter := usage.DeadLetter{Fingerprint: [32]byte{1}, Gateway: b.gw, Run: usage.Run{First: 2, Last: 2}, Subject: "s", Reason: "r"}
	late := usage.DeadLetter{Fingerprint: [32]byte{2}, Gateway: b.gw, Run: usage.Run{First: 1, Last: 1}, Reason: "lost", Lost: true}
	batch := usage.Batch{Dead: []usage.DeadLetter{letter, late}, Arrivals: []usage.Arrival{{Gateway: b.gw, Run: letter.Run}}}
	for _, want := range []int{1, 0} {
		w, err := b.store.WriteUsage(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, want, w.Dead, "a report of records that had arrived says nothing")
	}
	mark, err := b.store.UsageMark(t.Context(), b.gw)
	require.NoError(t, err)
	require.EqualValues(t, 2, mark, "a dead letter holds up nothing")
}

func TestRejectedUsageIsRecognised(t *testing.T) {
	b := newUsageBench(t)
	bad := b.entry(b.now)
	bad.Reason = "nul \x00"
	_, err := b.store.WriteUsage(t.Context(), usage.Batch{Entries: []usage.Entry{bad}})
	require.ErrorIs(t, err, usage.ErrRejected)
	bad.Reason, bad.Outcome = "", "odd"
	_, err = b.store.WriteUsage(t.Context(), usage.Batch{Entries: []usage.Entry{bad}})
	require.ErrorIs(t, err, usage.ErrRejected)
	require.NoError(t, b.db.Close())
	_, err = b.store.WriteUsage(t.Context(), usage.Batch{Entries: []usage.Entry{b.entry(b.now)}})
	require.Error(t, err)
	require.NotErrorIs(t, err, usage.ErrRejected)
}

func TestUsageOfOtherWorkspacesIsInvisible(t *testing.T) {
	b := newUsageBench(t)
	mine := b.entry(b.now)
	b.write(mine)
	other := id.New[id.WorkspaceKind](id.SystemSource())
	_, err := b.query.Log(t.Context(), other, mine.ID)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	report, err := b.query.Usage(t.Context(), other, usage.UsageFilter{})
	require.NoError(t, err)
	require.Empty(t, report.Rows)
	// Row-level security holds beneath the condition.
	for _, table := range []string{"request_log", "usage_hourly", "spend_days", "spend_totals"} {
		for ws, want := range map[id.Workspace]int{b.ws: 1, other: 0} {
			var n int
			require.NoError(t, b.db.Runner().Read(t.Context(), ws, func(ctx context.Context) error {
				return tenant(ctx, ws).Raw("SELECT count(*) FROM " + table).Scan(&n).Error
			}))
			require.Equal(t, want, n, table)
		}
		err := b.db.Runner().InTx(t.Context(), b.ws, func(ctx context.Context) error {
			return tenant(ctx, b.ws).Exec("DELETE FROM " + table).Error
		})
		require.ErrorContains(t, err, "permission denied")
	}
	err = b.db.System().InTx(t.Context(), func(ctx context.Context) error {
		return system(ctx).Exec("DROP TABLE request_log_default").Error
	})
	require.ErrorContains(t, err, "must be owner")
}

func (b *usageBench) partitions() map[string]int {
	b.t.Helper()
	rows, err := b.owner.Query("SELECT tableoid::regclass::text, count(*) FROM request_log GROUP BY 1")
	require.NoError(b.t, err)
	defer func() { _ = rows.Close() }()
	found := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		require.NoError(b.t, rows.Scan(&name, &n))
		found[name] = n
	}
	require.NoError(b.t, rows.Err())
	return found
}

// workspace makes a workspace row with a retention; 0 means without settings.
func (b *usageBench) workspace(ws id.Workspace, days int) {
	b.t.Helper()
	_, err := b.owner.Exec(`INSERT INTO workspaces (id, name, slug, status, tags, version, created_at, updated_at)
		VALUES ($1, 'w', $2, 'active', '{}', 1, now(), now())`, ws.UUID(), "w-"+ws.UUID().String()[24:])
	require.NoError(b.t, err)
	if days == 0 {
		return
	}
	_, err = b.owner.Exec(`INSERT INTO settings (workspace_id, routing_mode, default_model, fallback_models, beta_channel, alpha_channel,
		byok_fallback, retired_routing, models_without_model, max_attempts, max_models, cache_aware_routing, replay_values,
		log_retention_days, require_zdr, deny_training, version, updated_at)
		VALUES ($1, 'balanced', '', '{}', false, false, true, false, 'reject', 8, 34, true, false, $2, false, false, 1, now())`, ws.UUID(), days)
	require.NoError(b.t, err)
}
