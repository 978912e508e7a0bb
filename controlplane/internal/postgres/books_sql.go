package postgres

import (
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/books"
)

// sides are two queries of the same figures, joined by keys. In what place and
// where say, d is a row of both.
type sides struct{ a, b, keys, place, where string }

// compared is the comparison that gives the places that differ in one of the
// figures.
func compared(check books.Check, q sides, figures ...string) comparison {
	var both, left, right []string
	for _, f := range figures {
		both = append(both, "coalesce(a."+f+", 0)::bigint AS a_"+f, "coalesce(b."+f+", 0)::bigint AS b_"+f)
		left, right = append(left, "d.a_"+f), append(right, "d.b_"+f)
	}
	have, want := strings.Join(left, ", "), strings.Join(right, ", ")
	return comparison{check: check, figures: figures, query: "SELECT d.workspace_id, " + q.place + ", " + have + ", " + want +
		" FROM (SELECT " + q.keys + ", " + strings.Join(both, ", ") + " FROM (" + q.a + ") a FULL JOIN (" + q.b + ") b USING (" + q.keys + ")) d" +
		" WHERE (" + have + ") IS DISTINCT FROM (" + want + ")" + q.where}
}

// ofRange narrows to the workspace that is asked for.
const ofRange = " (CAST(@ws AS uuid) IS NULL OR workspace_id = @ws ) "

// wholeSince is from when on the log of a workspace is whole.
const wholeSince = "(SELECT coalesce(max(k.since), '-infinity') FROM request_log_kept k WHERE k.workspace_id IN (d.workspace_id, @all ))"

// daysSince is from when on the daily totals of accounts are whole.
const daysSince = "(SELECT coalesce(max(k.since), '-infinity') FROM request_log_kept k WHERE k.workspace_id = @days )"

// logSums is what each column of totalColumns is in the request log, where that
// is not the sum of the column of its name.
var logSums = map[string]string{
	"requests": "count(*) FILTER (WHERE id = primary_id)", "model_attempts": "count(*)", "upstream_calls": "sum(attempts)",
	"errors": "count(*) FILTER (WHERE outcome = 'error')", "refused": "count(*) FILTER (WHERE outcome = 'refused')",
	"canceled": "count(*) FILTER (WHERE outcome = 'canceled')", "unknown": "count(*) FILTER (WHERE outcome = 'unknown')",
	"estimated": "count(*) FILTER (WHERE estimated)", "cache_write": "sum(cache_write_5m + cache_write_1h)",
}

var logHours = func() comparison {
	sums := make([]string, len(totalColumns))
	for i, name := range totalColumns {
		sum, ok := logSums[name]
		if !ok {
			sum = "sum(" + name + ")"
		}
		sums[i] = sum + " AS " + name
	}
	const keys = "workspace_id, hour, model, provider, key_id, outcome"
	return compared(books.LogHours, sides{
		"SELECT workspace_id, date_trunc('hour', started_at, 'UTC') AS hour, decided_model AS model, provider, key_id, outcome, " + strings.Join(sums, ", ") +
			" FROM request_log WHERE started_at >= @first AND started_at < @next AND" + ofRange + "GROUP BY 1, 2, 3, 4, 5, 6",
		"SELECT " + keys + ", " + strings.Join(totalColumns, ", ") + " FROM usage_hourly WHERE hour >= @first AND hour < @next AND" + ofRange,
		keys, `to_char(d.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24"Z"') || concat(' model=', d.model, ' provider=', d.provider, ' key=', d.key_id, ' outcome=', d.outcome)`,
		" AND d.hour >= " + wholeSince,
	}, totalColumns...)
}()

// keyAccount is the account of a key: 26 digits of Crockford's base32, the first
// of three bits (package id).
const keyAccount = `'key_' || (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
	substring(B'00' || ('x' || replace(key_id::text, '-', ''))::bit(128) FROM n * 5 + 1 FOR 5)::bit(5)::integer + 1, 1), '' ORDER BY n) FROM generate_series(0, 25) n)`

// counts says which rows of the log stand for a caller's request, as accounts
// count them: its first model, or the first of them that was admitted. Postgres
// does not take the JSON apart, since the name of an agent may hold what it has no
// text for; within a name the quotation marks are escaped.
const counts = `id = primary_id OR coalesce(attribution::text LIKE '%"first":true%', false)`

// logDays leaves out the accounts of departments, guardrails, agents and users,
// of which a request has any number: they are counted with that of the
// workspace, in one statement.
var logDays = compared(books.LogDays, sides{
	`SELECT workspace_id, account, sum(requests) AS requests, sum(cost_nanos) AS cost_nanos, sum(byok_nanos) AS byok_nanos FROM (
	   SELECT l.workspace_id, v.* FROM request_log l CROSS JOIN LATERAL (VALUES
	     ('all', (` + counts + `)::int, l.cost_nanos, CASE WHEN l.credential_source = 'byok' THEN l.cost_nanos ELSE 0 END),
	     ('charged', 0, l.charge_nanos, 0),
	     ('byok', (l.credential_source = 'byok' AND l.outcome = 'success' AND l.purpose = '')::int, 0, 0)) v (account, requests, cost_nanos, byok_nanos)
	   WHERE l.started_at >= @first AND l.started_at < @next AND l.outcome <> 'refused'
	   UNION ALL
	   SELECT workspace_id, ` + keyAccount + `, requests, cost_nanos, byok_nanos FROM (
	     SELECT workspace_id, key_id, count(*) FILTER (WHERE ` + counts + `) AS requests, sum(cost_nanos) AS cost_nanos,
	       coalesce(sum(cost_nanos) FILTER (WHERE credential_source = 'byok'), 0) AS byok_nanos
	     FROM request_log WHERE started_at >= @first AND started_at < @next AND outcome <> 'refused' AND key_id <> @all GROUP BY 1, 2) k
	 ) s WHERE` + ofRange + `GROUP BY 1, 2`,
	"SELECT workspace_id, account, requests, cost_nanos, byok_nanos FROM spend_days WHERE day = CAST(@first AS date) AND" + ofRange +
		`AND (account IN ('all', 'charged', 'byok') OR account LIKE 'key\_%')`,
	"workspace_id, account", "d.account || to_char(CAST(@first AS date), ' YYYY-MM-DD')",
	" AND @first >= " + wholeSince + " AND @first >= " + daysSince,
}, "requests", "cost_nanos", "byok_nanos")

// hoursTotals takes for requests what accounts have where hours admit of it: the
// hours do not say which of the requests whose first model was refused had another
// one admitted, which makes accounts count them.
var hoursTotals = compared(books.HoursTotals, sides{
	`SELECT workspace_id, account, greatest(h.requests, least(t.requests, h.requests + h.refused)) AS requests, h.cost_nanos FROM (
	   SELECT workspace_id, 'all' AS account, coalesce(sum(requests) FILTER (WHERE outcome <> 'refused'), 0) AS requests,
	     coalesce(sum(requests) FILTER (WHERE outcome = 'refused'), 0) AS refused, sum(cost_nanos) FILTER (WHERE outcome <> 'refused') AS cost_nanos
	   FROM usage_hourly GROUP BY 1
	   UNION ALL SELECT workspace_id, 'charged', 0, 0, sum(charge_nanos) FROM usage_hourly GROUP BY 1) h
	 LEFT JOIN spend_totals t USING (workspace_id, account) WHERE` + ofRange,
	"SELECT workspace_id, account, requests, cost_nanos FROM spend_totals WHERE account IN ('all', 'charged') AND" + ofRange,
	"workspace_id, account", "d.account", "",
}, "requests", "cost_nanos")

var hoursWallet = compared(books.HoursWallet, sides{
	"SELECT workspace_id, sum(charge_nanos) AS charged_nanos FROM usage_hourly WHERE" + ofRange + "GROUP BY 1",
	"SELECT workspace_id, charged_nanos FROM wallets WHERE" + ofRange,
	"workspace_id", "'wallet'", "",
}, "charged_nanos")

var entriesWallet = compared(books.EntriesWallet, sides{
	`SELECT workspace_id, count(*) AS entries, sum(amount_nanos) FILTER (WHERE kind <> 'charge') AS granted_nanos,
	   -sum(amount_nanos) FILTER (WHERE kind = 'charge') AS charged_nanos, sum(amount_nanos) FILTER (WHERE kind = 'top_up') AS paid_nanos
	 FROM wallet_entries WHERE` + ofRange + "GROUP BY 1",
	"SELECT workspace_id, entries, granted_nanos, charged_nanos, paid_nanos FROM wallets WHERE" + ofRange,
	"workspace_id", "'wallet'", "",
}, "entries", "granted_nanos", "charged_nanos", "paid_nanos")

// entriesBalance goes along the chain, in the order of the primary key.
var entriesBalance = comparison{
	check: books.EntriesBalance, figures: []string{"number", "balance_nanos"},
	query: `SELECT workspace_id, 'entry ' || number, number, balance_nanos, number_before + 1, balance_before + amount_nanos FROM (
	   SELECT workspace_id, number, balance_nanos, amount_nanos, coalesce(lag(number) OVER chain, 0) AS number_before, coalesce(lag(balance_nanos) OVER chain, 0) AS balance_before
	   FROM wallet_entries WHERE` + ofRange + `WINDOW chain AS (PARTITION BY workspace_id ORDER BY number)) c
	 WHERE number <> number_before + 1 OR balance_nanos <> balance_before + amount_nanos`,
}
