package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

func TestWindows(t *testing.T) {
	for name, c := range map[string]struct {
		interval        policy.Interval
		now, start, end string
	}{
		"a day":                     {policy.Daily, "2028-02-29T23:59:59Z", "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"},
		"its first moment":          {policy.Daily, "2028-03-01T00:00:00Z", "2028-03-01T00:00:00Z", "2028-03-02T00:00:00Z"},
		"a day elsewhere":           {policy.Daily, "2028-03-01T01:00:00+02:00", "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"},
		"a week on its Monday":      {policy.Weekly, "2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"},
		"a week on its Sunday":      {policy.Weekly, "2026-11-29T23:59:59Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		"a week over a year":        {policy.Weekly, "2027-01-01T12:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		"a month of 28 days":        {policy.Monthly, "2026-02-28T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		"a month of 29 days":        {policy.Monthly, "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"},
		"a month on its 31st":       {policy.Monthly, "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"when clocks go elsewhere":  {policy.Daily, "2026-03-29T02:30:00Z", "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"},
		"a week of such a Sunday":   {policy.Weekly, "2026-10-25T02:30:00Z", "2026-10-19T00:00:00Z", "2026-10-26T00:00:00Z"},
		"a month with one of those": {policy.Monthly, "2026-10-25T02:30:00Z", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			start, end := c.interval.Window(moment(t, c.now))
			require.Equal(t, moment(t, c.start), start)
			require.Equal(t, moment(t, c.end), end)
		})
	}
	start, end := policy.Lifetime.Window(moment(t, "2026-10-25T02:30:00Z"))
	require.Zero(t, start)
	require.Zero(t, end)
}
