package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// fill adds n requests of the bench's workspace, a second apart.
func (b *usageBench) fill(n int) {
	b.t.Helper()
	entries := make([]usage.Entry, n)
	for i := range entries {
		entries[i] = b.entry(b.now.Add(-time.Duration(i) * time.Second))
	}
	b.write(entries...)
	_, err := b.owner.ExecContext(b.t.Context(), "ANALYZE request_log")
	require.NoError(b.t, err)
}

// plan is how Postgres would carry q out.
func (b *usageBench) plan(q func(ctx context.Context) *gorm.DB) string {
	b.t.Helper()
	var lines []string
	err := b.db.Runner().Read(b.t.Context(), b.ws, func(ctx context.Context) error {
		dry := q(ctx).Session(&gorm.Session{DryRun: true}).Find(&[]map[string]any{})
		text := dry.Explain(dry.Statement.SQL.String(), dry.Statement.Vars...)
		return tenant(ctx, b.ws).Raw("EXPLAIN (COSTS OFF) " + text).Scan(&lines).Error
	})
	require.NoError(b.t, err)
	return strings.Join(lines, "\n")
}

// TestTheRowsOfARequestAreFoundByIndex: one request among many is looked up by
// its id and, for the models tried after the first, in the index over
// primary_id; the log of the hours around it is not read.
func TestTheRowsOfARequestAreFoundByIndex(t *testing.T) {
	b := newUsageBench(t)
	b.fill(3000)
	first := b.entry(b.now.Add(-time.Minute))
	second := b.entry(b.now.Add(-59 * time.Second))
	second.PrimaryID = first.ID
	b.write(first, second)

	plan := b.plan(func(ctx context.Context) *gorm.DB {
		return usageListed(ctx, b.ws, id.Request{}, 50, usage.LogFilter{Primary: first.ID})
	})
	require.Contains(t, plan, "BitmapOr")
	require.Regexp(t, `(?m)Bitmap Index Scan on \S*primary_id_idx\d*\n\s*Index Cond: .*primary_id = `, plan)
	require.Regexp(t, `(?m)Bitmap Index Scan on \S*pkey\d*\n\s*Index Cond: .*\bid = `, plan)

	for primary, want := range map[id.Request][]id.Request{first.ID: {second.ID, first.ID}, second.ID: nil} {
		found, err := b.query.Logs(t.Context(), b.ws, page.Query{}, usage.LogFilter{Primary: primary})
		require.NoError(t, err)
		var got []id.Request
		for _, e := range found.Items {
			got = append(got, e.ID)
		}
		require.Equal(t, want, got)
	}
}
