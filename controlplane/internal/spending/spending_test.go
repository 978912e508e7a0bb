package spending_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return moment
}

// A history that begins with Since has all that a window of now needs.
func TestSince(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0).UTC()
		since := spending.Since(now)
		for _, i := range []policy.Interval{policy.Daily, policy.Weekly, policy.Monthly} {
			w := spending.WindowOf(i, now)
			require.False(t, since.After(w.Start))
			require.False(t, now.Before(w.Start))
			require.True(t, now.Before(w.End))
		}
		require.Less(t, now.Sub(since), 32*24*time.Hour)
	})
}

// spent is a history of amounts on days.
func spent(t *testing.T, days ...any) (h spending.History) {
	t.Helper()
	for i := 0; i < len(days); i += 2 {
		cost := money.Nanos(days[i+1].(int))
		h.Days = append(h.Days, spending.Day{Start: at(t, days[i].(string)+"T00:00:00Z"), Spend: wire.Spend{Requests: 1, Cost: cost}})
	}
	return h
}

func nanos(n int) *money.Nanos { m := money.Nanos(n); return &m }

func TestProjections(t *testing.T) {
	// 2026-11-30 is a Monday.
	month := []any{
		"2026-11-02", 700, "2026-11-03", 100, "2026-11-09", 500, "2026-11-16", 600, "2026-11-17", 100, "2026-11-23", 600, "2026-11-24", 100,
		"2026-11-30", 50,
	}
	for name, c := range map[string]struct {
		history         spending.History
		interval        policy.Interval
		now             string
		linear, weekday *money.Nanos
	}{
		"nothing yet at the first moment": {spent(t), policy.Daily, "2026-12-01T00:00:00Z", nil, nil},
		"nothing in the first hour":       {spent(t, "2026-12-01", 9), policy.Daily, "2026-12-01T00:59:59Z", nil, nil},
		"the pace of a day":               {spent(t, "2026-12-01", 9), policy.Daily, "2026-12-01T06:00:00Z", nanos(36), nil},
		"the pace of a month":             {spent(t, "2026-12-01", 10), policy.Monthly, "2026-12-02T00:00:00Z", nanos(310), nil},
		"of a short one":                  {spent(t, "2026-02-01", 10), policy.Monthly, "2026-02-02T00:00:00Z", nanos(280), nil},
		"of a leap one":                   {spent(t, "2028-02-01", 10), policy.Monthly, "2028-02-02T00:00:00Z", nanos(290), nil},
		"half up":                         {spent(t, "2026-12-01", 1), policy.Daily, "2026-12-01T16:00:00Z", nanos(2), nil},
		"of nothing":                      {spent(t), policy.Weekly, "2026-12-01T16:00:00Z", nanos(0), nil},
		"the end of a month":              {spent(t, "2026-12-01", 40), policy.Monthly, "2026-12-31T23:59:59.999999999Z", nanos(40), nanos(40)},
		// Mondays cost 700, 500, 600 and 600, half of one is left.
		"the rest of a Monday": {spent(t, month...), policy.Daily, "2026-11-30T12:00:00Z", nanos(100), nanos(50 + 300)},
		// Tuesdays cost 100, 0, 100 and 100; the others nothing.
		"the rest of a week": {spent(t, month...), policy.Weekly, "2026-11-30T12:00:00Z", nanos(700), nanos(50 + 300 + 75)},
		// The day before the first with spending on is not one without.
		"from the first spending on": {
			spent(t, "2026-11-24", 80, "2026-11-26", 40), policy.Daily, "2026-12-01T00:00:00Z", nil, nanos(80),
		},
		"a weekday that was not seen": {
			spent(t, "2026-11-24", 80, "2026-11-26", 40), policy.Daily, "2026-11-30T12:00:00Z", nanos(0), nil,
		},
		"a week that was not seen whole": {
			spent(t, "2026-11-24", 80), policy.Weekly, "2026-11-30T12:00:00Z", nanos(0), nil,
		},
		"today is no usual day": {spent(t, "2026-11-30", 80), policy.Daily, "2026-11-30T12:00:00Z", nanos(160), nil},
		"older than four weeks": {spent(t, "2026-11-01", 1000, "2026-11-23", 400), policy.Daily, "2026-11-30T18:00:00Z", nanos(0), nanos(25)},
		"more than money can be": {
			spent(t, "2026-12-01", math.MaxInt64), policy.Monthly, "2026-12-02T00:00:00Z", nanos(math.MaxInt64), nil,
		},
		"a lifetime": {spent(t, month...), policy.Lifetime, "2026-11-30T12:00:00Z", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			now := at(t, c.now)
			got := c.history.Project(spending.WindowOf(c.interval, now), now, true)
			require.Equal(t, spending.Projection{Linear: c.linear, Weekday: c.weekday}, got)
		})
	}
}

// What the workspace's own credentials were charged is left out where it does
// not count, of what was spent and of what usually is.
func TestOwnCredentialsCountOnDemand(t *testing.T) {
	h := spent(t, "2026-11-23", 400, "2026-11-30", 100)
	h.Days[0].BYOK, h.Days[1].BYOK, h.Lifetime = 300, 60, wire.Spend{Cost: 7, BYOK: 2}
	now := at(t, "2026-11-30T12:00:00Z")
	day := spending.WindowOf(policy.Daily, now)
	require.Equal(t, wire.Spend{Requests: 1, Cost: 100, BYOK: 60}, h.In(day))
	require.Equal(t, spending.Projection{Linear: nanos(200), Weekday: nanos(300)}, h.Project(day, now, true))
	require.Equal(t, spending.Projection{Linear: nanos(80), Weekday: nanos(90)}, h.Project(day, now, false))
	require.EqualValues(t, 5, h.In(spending.Window{}).Counted(false))
	require.EqualValues(t, 7, h.In(spending.Window{}).Counted(true))
}

// At the end of a window both ways of reckoning say what was spent, and neither
// ever says less than that.
func TestProjectionsMeetWhatWasSpent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(1.7e9, 1.9e9).Draw(t, "now"), 0).UTC()
		var h spending.History
		for d := spending.Since(now); !d.After(now); d = d.AddDate(0, 0, 1) {
			if rapid.Bool().Draw(t, "spends") {
				cost := money.Nanos(rapid.Int64Range(0, math.MaxInt64/64).Draw(t, "cost"))
				h.Days = append(h.Days, spending.Day{Start: d, Spend: wire.Spend{Cost: cost}})
			}
		}
		for _, i := range []policy.Interval{policy.Daily, policy.Weekly, policy.Monthly} {
			w := spending.WindowOf(i, now)
			total := h.In(w).Cost
			p := h.Project(w, now, true)
			if p.Linear != nil {
				require.GreaterOrEqual(t, *p.Linear, total)
			}
			if p.Weekday != nil {
				require.GreaterOrEqual(t, *p.Weekday, total)
			}
			end := h.Project(w, w.End.Add(-1), true)
			require.InDelta(t, float64(h.In(w).Cost), float64(*end.Linear), float64(total)/1e9+2)
		}
	})
}
