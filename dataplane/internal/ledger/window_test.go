package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWindows(t *testing.T) {
	date := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		return at
	}
	for _, c := range []struct{ at, day, monday, month string }{
		{"2026-11-30T18:10:00Z", "2026-11-30", "2026-11-30", "2026-11-01"},           // a Monday
		{"2026-11-29T23:59:59.999999999Z", "2026-11-29", "2026-11-23", "2026-11-01"}, // the Sunday before
		{"2026-12-01T00:00:00Z", "2026-12-01", "2026-11-30", "2026-12-01"},           // a week over two months
		{"2027-01-01T00:00:00Z", "2027-01-01", "2026-12-28", "2027-01-01"},           // and over two years
		{"2028-02-29T12:00:00Z", "2028-02-29", "2028-02-28", "2028-02-01"},
		{"2026-12-01T01:00:00+02:00", "2026-11-30", "2026-11-30", "2026-11-01"}, // days are UTC
		{"1969-12-31T23:59:59.5Z", "1969-12-31", "1969-12-29", "1969-12-01"},
	} {
		d := dayOf(date(c.at))
		require.Equal(t, c.day, d.time().Format(time.DateOnly), c.at)
		require.Equal(t, c.monday, d.monday().time().Format(time.DateOnly), c.at)
		require.Equal(t, c.month, d.month().time().Format(time.DateOnly), c.at)
	}
	rapid.Check(t, func(r *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1e10, 1e11).Draw(r, "second"), rapid.Int64Range(0, 999_999_999).Draw(r, "nanosecond")).UTC()
		d := dayOf(at)
		require.Equal(r, at.Truncate(24*time.Hour), d.time())
		require.Equal(r, time.Monday, d.monday().time().Weekday())
		year, week := at.ISOWeek()
		mondayYear, mondayWeek := d.monday().time().ISOWeek()
		require.Equal(r, []int{year, week}, []int{mondayYear, mondayWeek})
		require.Equal(r, 1, d.month().time().Day())
		require.Equal(r, at.Month(), d.month().time().Month())
		require.LessOrEqual(r, d.oldest(), d.monday())
		require.LessOrEqual(r, d.oldest(), d.month())
		require.Less(r, d-d.oldest(), day(40), "the counters are kept for longer")
	})
}
