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
	for i := range r.Limits {
		l := &r.Limits[i]
		if l.Asked > 0 {
			s.line("  The request may cost up to %s, and open requests up to %s.", amount(l.Metric, l.Asked), amount(l.Metric, l.Held))
		}
		if l.Metric == "credit" {
			s.line("  Credit is what was charged, of what was granted less the floor.")
		}
	}
}

// amount is a number of what a limit counts; costs are in USD.
func amount(metric string, n int64) string {
	if metric == "cost" || metric == "credit" {
		text, less := strings.CutPrefix(money.Nanos(n).String(), "-")
		if less {
			return "-$" + text
		}
		return "$" + text
	}
	return strconv.FormatInt(n, 10)
}
