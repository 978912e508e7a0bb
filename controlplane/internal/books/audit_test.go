package books

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// ledger finds so many differences, or fails.
type ledger struct {
	found int
	err   error
	asked Range
}

// Compare implements Comparer.
func (l *ledger) Compare(_ context.Context, r Range, visit func(Difference) error) error {
	l.asked = r
	for range l.found {
		if err := visit(Difference{Workspace: fill.Value[id.Workspace](1), Check: LogHours, Figure: "cost_nanos", Have: 1, Want: 2}); err != nil {
			return err
		}
	}
	return l.err
}

func TestTheBooksAreComparedAndTold(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 5, 20, 3, 20, 0, 0, time.UTC)
	l := &ledger{err: errors.New("away")}
	a := NewAudit(l, func() time.Time { return now }, slog.New(slog.NewTextHandler(&out, nil)))
	require.ErrorIs(t, a.Round(t.Context()), l.err)
	require.Zero(t, testutil.CollectAndCount(a), "what was not compared is not known")

	l.err = nil
	require.NoError(t, a.Round(t.Context()))
	require.Equal(t, Range{First: time.Date(2026, 5, 18, 0, 0, 0, 0, time.UTC), Last: time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC)}, l.asked)
	require.NoError(t, testutil.CollectAndCompare(a, strings.NewReader("# HELP signalbox_books_differences "+
		"Figures that the last nightly comparison of the request log, the totals and the wallets found to differ, from the control plane that made it; absent from others. Not 0 means that something was lost, doubled or changed by hand: signalbox reconcile lists it.\n"+
		"# TYPE signalbox_books_differences gauge\nsignalbox_books_differences 0\n"), "signalbox_books_differences"))
	require.NotContains(t, out.String(), "ERROR")

	l.found = 25
	require.NoError(t, a.Round(t.Context()))
	require.Equal(t, mostLogged, strings.Count(out.String(), "the books differ"), "the log is not flooded")
	require.Contains(t, out.String(), "differences=25")
}

func TestTheBooksAreComparedOnceANight(t *testing.T) {
	for now, want := range map[string]time.Duration{
		"2026-05-20T00:00:00Z": 3*time.Hour + 20*time.Minute,
		"2026-05-20T03:19:00Z": time.Minute,
		"2026-05-20T03:20:00Z": 24 * time.Hour,
		"2026-05-20T23:20:00Z": 4 * time.Hour,
	} {
		at, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		require.Equal(t, want, untilNext(at), now)
	}
}
