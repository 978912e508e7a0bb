package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func (b *usageBench) keep() {
	b.t.Helper()
	require.NoError(b.t, usage.NewKeeper(b.store, func() time.Time { return b.now }, natstest.Discard()).Keep(b.t.Context()))
}

func TestPartitionsAreMadeAheadAndTakeTheirRows(t *testing.T) {
	b := newUsageBench(t)
	early := b.entry(b.now)
	b.write(early, b.entry(b.now.AddDate(5, 0, 0)))
	require.Equal(t, map[string]int{"request_log_default": 2}, b.partitions())

	b.keep()
	require.Equal(t, map[string]int{"request_log_default": 1, "request_log_20260520": 1}, b.partitions())
	require.Equal(t, usage.Written{Repeated: 1}, b.write(early), "a repeat finds the row that moved")
	b.write(b.entry(b.now.AddDate(0, 0, 7)), b.entry(b.now.AddDate(0, 0, -1)))
	require.Equal(t, map[string]int{
		"request_log_default": 1, "request_log_20260519": 1, "request_log_20260520": 1, "request_log_20260527": 1,
	}, b.partitions())
	b.keep()
	b.now = b.now.AddDate(0, 0, 1)
	made, err := b.store.UsageEnsureDays(t.Context(), b.now, b.now.AddDate(0, 0, 7))
	require.NoError(t, err)
	require.Equal(t, 1, made)
}

func TestRetentionFollowsTheWorkspace(t *testing.T) {
	b := newUsageBench(t)
	short, long := b.ws, id.New[id.WorkspaceKind](id.SystemSource())
	b.workspace(short, 3)
	b.workspace(long, 0) // the default of 30 days
	b.keep()
	start := b.now
	at := func(ws id.Workspace, n int) {
		b.ws = ws
		var list []usage.Entry
		for range n {
			list = append(list, b.entry(start))
		}
		b.write(list...)
	}
	at(short, 2500) // more than two batches
	at(long, 2)
	b.now = start.AddDate(0, 0, 3).Add(-time.Second)
	b.keep()
	require.Equal(t, 2502, b.partitions()["request_log_20260520"])
	b.now = start.AddDate(0, 0, 3).Add(time.Second)
	b.keep()
	require.Equal(t, 2, b.partitions()["request_log_20260520"])

	b.now = start.AddDate(0, 0, 30)
	b.keep()
	var day string
	require.NoError(t, b.owner.QueryRow("SELECT COALESCE(to_regclass('request_log_20260520')::text, '')").Scan(&day))
	require.NotEmpty(t, day)
	b.now = start.AddDate(0, 0, 31)
	b.keep()
	require.NoError(t, b.owner.QueryRow("SELECT COALESCE(to_regclass('request_log_20260520')::text, '')").Scan(&day))
	require.Empty(t, day, "a day past every retention is dropped whole")
	b.ws = short
	require.EqualValues(t, 2500, b.totals().Requests, "totals outlive the log")
}

func TestLogsPageNewestFirst(t *testing.T) {
	b := newUsageBench(t)
	b.keep()
	var want []id.Request
	for i := range 7 {
		e := b.entry(b.now.Add(time.Duration(i-4) * 6 * time.Hour)) // over several days
		b.write(e)
		want = append([]id.Request{e.ID}, want...)
	}
	var got []id.Request
	p := page.Query{Limit: 3}
	for {
		result, err := b.query.Logs(t.Context(), b.ws, p, usage.LogFilter{})
		require.NoError(t, err)
		for _, e := range result.Items {
			got = append(got, e.ID)
		}
		if p.Cursor = result.Next; p.Cursor == "" {
			break
		}
		b.write(b.entry(b.now.Add(time.Hour * 24))) // what is newer shifts nothing
	}
	require.Equal(t, want, got)
}

func TestLogFilters(t *testing.T) {
	b := newUsageBench(t)
	plain, special := b.entry(b.now), b.entry(b.now.Add(time.Minute))
	special.Key, special.DecidedModel, special.Provider = id.New[id.KeyKind](id.SystemSource()), "zeta/one", "zeta"
	special.Outcome, special.Status, special.SessionID, special.Decision = wire.Refused, 429, "s1", []byte(`{}`)
	b.write(plain, special)
	cases := map[string]struct {
		filter usage.LogFilter
		want   []id.Request
	}{
		"none":     {usage.LogFilter{}, []id.Request{special.ID, plain.ID}},
		"key":      {usage.LogFilter{Key: special.Key}, []id.Request{special.ID}},
		"model":    {usage.LogFilter{Model: "zeta/one"}, []id.Request{special.ID}},
		"provider": {usage.LogFilter{Provider: "acme"}, []id.Request{plain.ID}},
		"outcome":  {usage.LogFilter{Outcome: wire.Refused}, []id.Request{special.ID}},
		"status":   {usage.LogFilter{StatusClass: 2}, []id.Request{plain.ID}},
		"session":  {usage.LogFilter{Session: "s1"}, []id.Request{special.ID}},
		"since":    {usage.LogFilter{Since: special.StartedAt}, []id.Request{special.ID}},
		"until":    {usage.LogFilter{Until: special.StartedAt}, []id.Request{plain.ID}},
		"between":  {usage.LogFilter{Since: plain.StartedAt, Until: special.StartedAt.Add(time.Microsecond)}, []id.Request{special.ID, plain.ID}},
		"nothing":  {usage.LogFilter{Key: special.Key, Model: "acme/large"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := b.query.Logs(t.Context(), b.ws, page.Query{}, c.filter)
			require.NoError(t, err)
			var got []id.Request
			for _, e := range result.Items {
				got = append(got, e.ID)
				require.Nil(t, e.Decision, "lists leave decisions out")
			}
			require.Equal(t, c.want, got)
		})
	}
	for name, f := range map[string]usage.LogFilter{
		"outcome": {Outcome: "odd"}, "status": {StatusClass: 9}, "until": {Since: b.now, Until: b.now},
	} {
		_, err := b.query.Logs(t.Context(), b.ws, page.Query{}, f)
		require.True(t, fault.Is(err, fault.ValidationError), name)
		require.Equal(t, name, fault.Of(err).Violations[0].Path)
	}
	_, err := b.query.Logs(t.Context(), b.ws, page.Query{Cursor: "?"}, usage.LogFilter{})
	require.True(t, fault.Is(err, fault.ValidationError))
}

func TestLogShowsTheRequestsOtherAttempts(t *testing.T) {
	b := newUsageBench(t)
	first, second, third, stranger := b.entry(b.now), b.entry(b.now.Add(time.Second)), b.entry(b.now.Add(2*time.Second)), b.entry(b.now)
	second.PrimaryID, third.PrimaryID = first.ID, first.ID
	first.Decision, second.Decision = []byte(`{"a":1}`), []byte(`{"b":2}`)
	b.write(first, second, third, stranger)
	d, err := b.query.Log(t.Context(), b.ws, second.ID)
	require.NoError(t, err)
	require.Equal(t, second, d.Entry)
	first.Decision = nil
	require.Equal(t, []usage.Entry{first, third}, d.Related)
	_, err = b.query.Log(t.Context(), b.ws, b.request(b.now))
	require.True(t, fault.Is(err, fault.NotFound))
	require.EqualValues(t, 2, b.totals().Requests, "the fallback models of a request are not requests")
	require.EqualValues(t, 4, b.totals().ModelAttempts)
}

func TestUsageBreaksDown(t *testing.T) {
	b := newUsageBench(t)
	midnight := time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC)
	key := id.New[id.KeyKind](id.SystemSource())
	add := func(at time.Time, model string, cost money.Nanos, k id.Key) {
		e := b.entry(at)
		e.DecidedModel, e.Provider, e.Key = model, "p-"+model, k
		e.Cost.Total = cost
		b.write(e)
	}
	add(midnight.Add(-time.Second), "a", 3, key)
	add(midnight, "a", 5, id.Key{})
	add(midnight.Add(90*time.Minute), "b", 7, key)

	type row struct {
		start time.Time
		group string
		cost  int64
	}
	cases := map[string]struct {
		filter usage.UsageFilter
		want   []row
		total  int64
	}{
		"whole":                        {usage.UsageFilter{}, []row{{time.Time{}, "", 15}}, 15},
		"model":                        {usage.UsageFilter{GroupBy: usage.ByModel}, []row{{time.Time{}, "a", 8}, {time.Time{}, "b", 7}}, 15},
		"provider":                     {usage.UsageFilter{GroupBy: usage.ByProvider}, []row{{time.Time{}, "p-a", 8}, {time.Time{}, "p-b", 7}}, 15},
		"key":                          {usage.UsageFilter{GroupBy: usage.ByKey}, []row{{time.Time{}, key.String(), 10}, {time.Time{}, "", 5}}, 15},
		"day":                          {usage.UsageFilter{Interval: usage.Daily}, []row{{midnight.AddDate(0, 0, -1), "", 3}, {midnight, "", 12}}, 15},
		"hour, model":                  {usage.UsageFilter{Interval: usage.Hourly, GroupBy: usage.ByModel, Since: midnight}, []row{{midnight, "a", 5}, {midnight.Add(time.Hour), "b", 7}}, 12},
		"part of an hour counts whole": {usage.UsageFilter{Since: midnight.Add(time.Minute), Until: midnight.Add(61 * time.Minute)}, []row{{time.Time{}, "", 12}}, 12},
		"until":                        {usage.UsageFilter{Until: midnight.Add(time.Hour)}, []row{{time.Time{}, "", 8}}, 8},
		"nothing":                      {usage.UsageFilter{Since: midnight.AddDate(0, 0, 9)}, nil, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			report, err := b.query.Usage(t.Context(), b.ws, c.filter)
			require.NoError(t, err)
			var got []row
			for _, r := range report.Rows {
				got = append(got, row{r.Start, r.Group, int64(r.Cost)})
			}
			require.Equal(t, c.want, got)
			require.EqualValues(t, c.total, report.Totals.Cost)
		})
	}
	_, err := b.query.Usage(t.Context(), b.ws, usage.UsageFilter{GroupBy: "region", Interval: "week"})
	require.True(t, fault.Is(err, fault.ValidationError))
	require.Len(t, fault.Of(err).Violations, 2)
}
