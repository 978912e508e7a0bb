package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/books"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// compare is what the books of the bench's last days differ in.
func (b *usageBench) compare(ws id.Workspace) []books.Difference {
	b.t.Helper()
	var found []books.Difference
	err := NewBooks(b.db).Compare(context.Background(), books.Range{Workspace: ws, First: b.now.Add(-2 * day), Last: b.now}, func(d books.Difference) error {
		found = append(found, d)
		return nil
	})
	require.NoError(b.t, err)
	return found
}

// anyEntry is an entry like those that come: of any outcome, age, model, key
// and credential, for two workspaces.
func (b *usageBench) anyEntry(workspaces []id.Workspace, keys []id.Key) usage.Entry {
	e := b.entry(b.now.Add(-time.Duration(rand.IntN(40)) * time.Hour))
	e.Workspace, e.Key = workspaces[rand.IntN(len(workspaces))], keys[rand.IntN(len(keys))]
	e.DecidedModel, e.Outcome = []string{"acme/large", "acme/small", ""}[rand.IntN(3)], []wire.Outcome{wire.Success, wire.Failed, wire.Canceled, wire.Unknown, wire.Refused}[rand.IntN(5)]
	e.CredentialSource = []string{"managed", "byok", ""}[rand.IntN(3)]
	e.Usage = meter.Usage{Input: rand.Int64N(100), CachedRead: rand.Int64N(100), CacheWrite1h: rand.Int64N(9), Output: rand.Int64N(100), Estimated: rand.IntN(2) == 0}
	if rand.IntN(4) == 0 {
		e.PrimaryID = b.request(e.StartedAt)
		e.First, e.Agent = rand.IntN(2) == 0, []string{"", "bot\x00", `"first":true`}[rand.IntN(3)]
	}
	if rand.IntN(5) == 0 {
		e.Purpose = "classifier"
	}
	if e.Cost.Total = money.Nanos(rand.Int64N(1000)); e.Outcome != wire.Refused {
		e.Charge = money.Nanos(rand.Int64N(3)) * e.Cost.Total
	}
	return e
}

// refusedFirst is the first model of the request that e is of, which was refused.
func (b *usageBench) refusedFirst(e usage.Entry) usage.Entry {
	refused := b.entry(e.StartedAt)
	refused.ID, refused.PrimaryID, refused.Workspace, refused.Key, refused.Purpose = e.PrimaryID, e.PrimaryID, e.Workspace, e.Key, e.Purpose
	refused.StartedAt, refused.Outcome, refused.Cost, refused.Usage = e.PrimaryID.Time(), wire.Refused, meter.Cost{}, meter.Usage{}
	return refused
}

// filled has brought usage in, some of it twice, and replaced estimates.
func (b *usageBench) filled() []id.Workspace {
	workspaces := []id.Workspace{b.ws, id.New[id.WorkspaceKind](testIDs)}
	keys := []id.Key{{}, id.New[id.KeyKind](testIDs), id.New[id.KeyKind](testIDs)}
	for range 6 {
		var batch []usage.Entry
		for range 30 {
			e := b.anyEntry(workspaces, keys)
			if batch = append(batch, e); e.First {
				batch = append(batch, b.refusedFirst(e))
			}
		}
		slices.SortFunc(batch, usage.Compare)
		b.write(batch...)
		for i := range batch {
			if batch[i].Outcome == wire.Unknown {
				batch[i].Outcome, batch[i].Charge, batch[i].Provider = wire.Success, batch[i].Charge/2+1, "other"
			}
		}
		b.write(batch...)
	}
	return workspaces
}

func TestCorrectBooksDoNotDiffer(t *testing.T) {
	b := newUsageBench(t)
	require.Empty(t, b.compare(id.Workspace{}), "nothing agrees with nothing")
	workspaces := b.filled()
	require.Empty(t, b.compare(id.Workspace{}))
	for _, ws := range workspaces {
		require.Empty(t, b.compare(ws))
	}
	// What was deleted by its age is no difference, nor is what is younger.
	_, err := b.store.UsageDelete(t.Context(), b.ws, b.now.Add(-20*time.Hour), 1000)
	require.NoError(t, err)
	require.Empty(t, b.compare(id.Workspace{}))
}

// A log that is kept for longer than the daily totals has nothing to be compared
// with before those.
func TestTheLogMayOutliveTheDays(t *testing.T) {
	b := newUsageBench(t)
	old, young := b.charged(b.now.Add(-2*day), 30), b.charged(b.now, 40)
	b.write(old, young)
	n, err := b.store.UsageDropSpends(t.Context(), b.now.Add(-day), 1000)
	require.NoError(t, err)
	require.Positive(t, n)
	require.Empty(t, b.compare(id.Workspace{}))
	_, err = b.owner.ExecContext(t.Context(), "DELETE FROM request_log WHERE id = $1", young.ID.UUID())
	require.NoError(t, err)
	require.NotEmpty(t, b.compare(id.Workspace{}), "younger days are compared on")
}

// Each kind of change by hand is found, with the amounts, and nothing else is
// said to differ.
func TestEveryTamperingIsFound(t *testing.T) {
	const touched = "(SELECT ctid FROM %s WHERE workspace_id = $1 %s LIMIT 1)"
	one := func(table, where string) string { return fmt.Sprintf(touched, table, where) }
	for name, c := range map[string]struct {
		sql    string
		checks []books.Check
	}{
		"a row of the log is gone":        {"DELETE FROM request_log WHERE id = (SELECT id FROM request_log WHERE workspace_id = $1 AND outcome = 'success' AND cost_nanos > 0 AND charge_nanos > 0 LIMIT 1)", []books.Check{books.LogHours, books.LogDays}},
		"a cost in the log":               {"UPDATE request_log SET cost_nanos = cost_nanos + 7 WHERE id = (SELECT id FROM request_log WHERE workspace_id = $1 AND outcome = 'success' LIMIT 1)", []books.Check{books.LogHours, books.LogDays}},
		"tokens in the log":               {"UPDATE request_log SET output = output + 7 WHERE id = (SELECT id FROM request_log WHERE workspace_id = $1 LIMIT 1)", []books.Check{books.LogHours}},
		"a charge in the log":             {"UPDATE request_log SET charge_nanos = charge_nanos + 7 WHERE id = (SELECT id FROM request_log WHERE workspace_id = $1 AND outcome = 'success' LIMIT 1)", []books.Check{books.LogHours, books.LogDays}},
		"another model in the log":        {"UPDATE request_log SET decided_model = 'acme/other' WHERE id = (SELECT id FROM request_log WHERE workspace_id = $1 LIMIT 1)", []books.Check{books.LogHours}},
		"another key in the log":          {"UPDATE request_log SET key_id = gen_random_uuid() WHERE id = (SELECT id FROM request_log WHERE workspace_id = $1 AND outcome = 'success' AND cost_nanos > 0 LIMIT 1)", []books.Check{books.LogHours, books.LogDays}},
		"an hour's cost":                  {"UPDATE usage_hourly SET cost_nanos = cost_nanos + 7 WHERE ctid = " + one("usage_hourly", "AND outcome = 'success'"), []books.Check{books.HoursTotals, books.LogHours}},
		"an hour's charge":                {"UPDATE usage_hourly SET charge_nanos = charge_nanos + 7 WHERE ctid = " + one("usage_hourly", ""), []books.Check{books.HoursTotals, books.HoursWallet, books.LogHours}},
		"an hour is gone":                 {"DELETE FROM usage_hourly WHERE ctid = " + one("usage_hourly", "AND outcome = 'success' AND charge_nanos > 0"), []books.Check{books.HoursTotals, books.HoursWallet, books.LogHours}},
		"an account's day":                {"UPDATE spend_days SET requests = requests + 7 WHERE ctid = " + one("spend_days", "AND account = 'all'"), []books.Check{books.LogDays}},
		"a key's day":                     {"UPDATE spend_days SET cost_nanos = cost_nanos + 7 WHERE ctid = " + one("spend_days", `AND account LIKE 'key\_%'`), []books.Check{books.LogDays}},
		"what own credentials came to":    {"UPDATE spend_days SET byok_nanos = byok_nanos + 7 WHERE ctid = " + one("spend_days", "AND account = 'all'"), []books.Check{books.LogDays}},
		"own requests of a day":           {"UPDATE spend_days SET requests = requests + 7 WHERE ctid = " + one("spend_days", "AND account = 'byok'"), []books.Check{books.LogDays}},
		"a key's day is gone":             {"DELETE FROM spend_days WHERE ctid = " + one("spend_days", `AND account LIKE 'key\_%'`), []books.Check{books.LogDays}},
		"the total of all time":           {"UPDATE spend_totals SET cost_nanos = cost_nanos + 7 WHERE workspace_id = $1 AND account = 'all'", []books.Check{books.HoursTotals}},
		"the total of charges":            {"UPDATE spend_totals SET cost_nanos = cost_nanos - 7 WHERE workspace_id = $1 AND account = 'charged'", []books.Check{books.HoursTotals}},
		"what a wallet was charged":       {"UPDATE wallets SET charged_nanos = charged_nanos - 7 WHERE workspace_id = $1", []books.Check{books.EntriesWallet, books.HoursWallet}},
		"what a wallet was granted":       {"UPDATE wallets SET granted_nanos = granted_nanos + 7 WHERE workspace_id = $1", []books.Check{books.EntriesWallet}},
		"what was paid":                   {"UPDATE wallets SET paid_nanos = paid_nanos + 7 WHERE workspace_id = $1", []books.Check{books.EntriesWallet}},
		"a wallet is gone":                {"DELETE FROM wallets WHERE workspace_id = $1", []books.Check{books.EntriesWallet, books.HoursWallet}},
		"an entry's amount":               {"UPDATE wallet_entries SET amount_nanos = amount_nanos + 7 WHERE workspace_id = $1 AND number = 2", []books.Check{books.EntriesBalance, books.EntriesWallet}},
		"an entry's balance":              {"UPDATE wallet_entries SET balance_nanos = balance_nanos + 7 WHERE workspace_id = $1 AND number = 2", []books.Check{books.EntriesBalance}},
		"an entry is gone":                {"DELETE FROM wallet_entries WHERE workspace_id = $1 AND number = 2", []books.Check{books.EntriesBalance, books.EntriesWallet}},
		"the last entry is gone":          {"DELETE FROM wallet_entries WHERE workspace_id = $1 AND number = (SELECT max(number) FROM wallet_entries WHERE workspace_id = $1)", []books.Check{books.EntriesWallet}},
		"two entries that make up for it": {"UPDATE wallet_entries SET amount_nanos = amount_nanos + CASE number WHEN 2 THEN 7 ELSE -7 END WHERE workspace_id = $1 AND number IN (2, 3)", []books.Check{books.EntriesBalance}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUsageBench(t)
			b.filled()
			_, err := b.owner.ExecContext(t.Context(), "ALTER TABLE wallet_entries DISABLE TRIGGER ALL")
			require.NoError(t, err)
			done, err := b.owner.ExecContext(t.Context(), c.sql, b.ws.UUID())
			require.NoError(t, err)
			n, err := done.RowsAffected()
			require.NoError(t, err)
			require.Positive(t, n, "nothing was tampered with")
			var checks []books.Check
			for _, d := range b.compare(id.Workspace{}) {
				require.Equal(t, b.ws, d.Workspace)
				require.NotZero(t, d.Have-d.Want)
				require.NotEmpty(t, d.Place)
				checks = append(checks, d.Check)
			}
			slices.Sort(checks)
			require.ElementsMatch(t, c.checks, slices.Compact(checks))
		})
	}
}

func TestADifferenceHasTheAmounts(t *testing.T) {
	b := newUsageBench(t)
	b.write(b.charged(b.now, 30))
	_, err := b.owner.ExecContext(t.Context(), "UPDATE wallets SET charged_nanos = 25")
	require.NoError(t, err)
	require.Equal(t, []books.Difference{
		{Workspace: b.ws, Check: books.HoursWallet, Place: "wallet", Figure: "charged_nanos", Have: 30, Want: 25},
		{Workspace: b.ws, Check: books.EntriesWallet, Place: "wallet", Figure: "charged_nanos", Have: 30, Want: 25},
	}, b.compare(b.ws))
	require.Empty(t, b.compare(id.New[id.WorkspaceKind](testIDs)))
}

// Usage and payments that come in meanwhile make no difference.
func TestBooksAreComparedBesideTraffic(t *testing.T) {
	b := newUsageBench(t)
	w, _ := newWorkspace(t, b.db)
	b.ws = w.ID
	wallets := walletsOf(b.db, func() time.Time { return b.now }, wallet.Terms{})
	b.write(b.charged(b.now, 1))
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	started := make(chan struct{}, 2)
	for _, work := range []func() error{
		func() error {
			e := b.charged(b.now, 3)
			e.Gateway, e.Sequence = id.New[id.GatewayKind](testIDs), 1
			_, err := b.store.WriteUsage(context.Background(), usage.Batch{Entries: []usage.Entry{e}})
			return err
		},
		func() error {
			_, _, err := wallets.Add(context.Background(), b.ws, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 5})
			return err
		},
	} {
		group.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				if err := work(); err != nil {
					t.Error(err)
				}
				if first {
					started <- struct{}{}
				}
			}
		})
	}
	<-started
	<-started
	for range 10 {
		require.Empty(t, b.compare(id.Workspace{}))
	}
	stop()
	group.Wait()
	require.Empty(t, b.compare(id.Workspace{}))
}
