package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use: "explain REQUEST_ID", Short: "Tell why a request went where it went", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := a.log(c.Context(), api, args[0])
			if err != nil {
				return err
			}
			if a.output != "table" {
				return a.show(r, nil)
			}
			return explain(a.Stdout, r.JSON200.Data)
		},
	}
}

// explain tells the decision record as a story: what was asked, which
// candidates there were, what was tried, and what it cost.
func explain(w io.Writer, l client.LogDetail) error {
	var record decide.Record
	if len(l.Decision) > 0 {
		if err := json.Unmarshal(l.Decision, &record); err != nil {
			return fmt.Errorf("the decision record is not readable: %w", err)
		}
	}
	s := &story{w: w}
	s.asked(l)
	s.lifecycle(record)
	if len(l.Decision) == 0 {
		s.line("No decision was recorded for it.")
		return s.err
	}
	s.policy(record)
	s.auto(record)
	s.affinity(record)
	s.decided(record)
	s.limits(record)
	s.attempts(l, record)
	s.turns(l)
	s.cost(l)
	return s.err
}

// story writes lines and keeps the first failure.
type story struct {
	w   io.Writer
	err error
}

func (s *story) line(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format+"\n", args...)
	}
}

func (s *story) table(fill func(t *table)) {
	if s.err != nil {
		return
	}
	t := newTable(s.w)
	fill(t)
	s.err = t.flush()
}

func (s *story) policy(r decide.Record) {
	s.line("\nDecided under policy revision %d and catalog revision %d.", r.PolicyRevision, r.CatalogRevision)
	s.route(r)
	if r.Preset != nil {
		s.line("The preset @%s, version %d, was applied.", clean(r.Preset.Slug), r.Preset.Version)
	}
	if len(r.Chain) > 1 {
		s.line("Models, in the order in which they are tried: %s.", clean(strings.Join(r.Chain, " → ")))
	}
	if model, rule, ruled := strings.Cut(r.Override, "#"); ruled {
		s.line("The operator's rule %s on %s decided who may serve it; nothing else was tried.", clean(rule), clean(model))
	}
	if text := switched(r); text != "" {
		s.line("%s", clean(text))
	}
	if len(r.Degraded) > 0 {
		s.line("Asked for, and left out: %s.", clean(strings.Join(r.Degraded, ", ")))
	}
	if len(r.Policy) == 0 {
		return
	}
	s.line("\nRules that applied")
	s.table(func(t *table) {
		for _, p := range r.Policy {
			t.row("  "+p.Field, p.Value, "from the "+source(p.Rung, p.Guardrail))
		}
	})
}

// dollars shows four digits of an amount, and no exponent however small it is.
func dollars(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := max(3-int(math.Floor(math.Log10(math.Abs(v)))), 2)
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', decimals, 64), "0"), ".")
}

// number avoids exponents where they only hide the size.
func number(v float64) string {
	if v >= 1000 || v <= -1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// rungTitle is how a rung of the policy ladder reads.
func rungTitle(rung string) string { return strings.ReplaceAll(rung, "_", " ") }

// source names a rung, and the guardrail where it is one.
func source(rung, guardrail string) string {
	if guardrail == "" {
		return rungTitle(rung)
	}
	return rungTitle(rung) + " " + guardrail
}

func (s *story) exclusions(r decide.Record) {
	if len(r.Exclusions) > 0 {
		s.line("\nExcluded")
		s.table(func(t *table) {
			for _, e := range r.Exclusions {
				at := e.Stage
				if e.Rung != "" {
					at += ", by the " + source(e.Rung, e.Guardrail)
				}
				t.row("  "+e.Endpoint, e.Model, e.Reason, "("+at+")")
			}
		})
	}
	if r.Truncated > 0 {
		s.line("  and %d entries that the record had no room for", r.Truncated)
	}
	if r.Refusal != nil {
		stage := ""
		if r.Refusal.Stage != "" {
			stage = ", at the stage " + clean(r.Refusal.Stage)
		}
		reason := ""
		if r.Refusal.Reason != "" {
			reason = ", " + clean(r.Refusal.Reason)
		}
		verb := "Refused"
		if len(r.Attempts) > 0 {
			verb = "Failed"
		}
		s.line("\n%s: %s%s%s.", verb, clean(r.Refusal.Code), reason, stage)
	}
}

// attempts shows the upstream calls on one time line that begins with the
// request.
func (s *story) attempts(l client.LogDetail, r decide.Record) {
	if len(r.Attempts) == 0 {
		s.line("\nNo upstream was called.")
		return
	}
	s.line("\nAttempts")
	s.table(func(t *table) {
		t.row("  AT", "TOOK", "FIRST BYTE", "PROVIDER", "MODEL", "KEY", "RESULT", "WHY")
		for _, at := range r.Attempts {
			t.row("  +"+short(at.Started.Sub(l.StartedAt)), short(at.Duration), short(at.FirstByte),
				at.Provider, at.Model, keyOf(at), result(at), at.Reason)
		}
	})
}

// keyOf says whose provider key an attempt was made with: a workspace's own is
// named by its id.
func keyOf(a decide.AttemptRecord) string {
	if a.Credential == decide.CredentialBYOK && !a.CredentialID.IsZero() {
		return a.CredentialID.String()
	}
	return string(a.Credential)
}

func result(a decide.AttemptRecord) string {
	text := "ok"
	if a.Failure != "" {
		text = a.Failure
	}
	if a.Status != 0 {
		text = fmt.Sprintf("%d %s", a.Status, text)
	}
	return text
}

func (s *story) cost(l client.LogDetail) {
	s.line("\nCost: %s USD", l.CostUsd)
	s.table(func(t *table) {
		for _, c := range l.CostLines {
			t.row("  "+c.Meter, fmt.Sprintf("%d × %s USD per million", c.Units, nanos(c.PriceNanosPerMillion)), c.CostUsd+" USD")
		}
	})
	if l.Unpriced {
		s.line("  A meter that was used has no price; the cost is a lower bound.")
	}
	if l.BillingSuppressed {
		s.line("  Not charged: the reply had no output.")
	}
}

func short(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	ms := max(float64(d)/float64(time.Millisecond), 0)
	if ms >= 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2g ms", ms)
}

func nanos(n int64) string { return money.PerMillion(n).String() }
