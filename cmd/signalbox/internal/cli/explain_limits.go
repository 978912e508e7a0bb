package cli

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// limits tells what was held against the request, in its order; of the one that
// refused, that it did.
func (s *story) limits(r decide.Record) {
	if len(r.Limits) == 0 {
		return
	}
	s.line("\nLimits")
	s.table(func(t *table) {
		for i := range r.Limits {
			l := &r.Limits[i]
			used := amount(l.Metric, l.Used) + " of " + amount(l.Metric, l.Limit)
			if l.Unknown {
				used = "unknown, of " + amount(l.Metric, l.Limit)
			}
			verdict := "passed"
			if !l.OK {
				verdict = "refused"
			}
			t.row("  "+clean(l.Scope), clean(strings.TrimSpace(l.Window+" "+l.Metric)), used, verdict, clean(l.ID))
		}
	})
}

// amount is a number of what a limit counts; costs are in USD.
func amount(metric string, n int64) string {
	if metric == "cost" || metric == "credit" {
		return "$" + money.Nanos(n).String()
	}
	return strconv.FormatInt(n, 10)
}
