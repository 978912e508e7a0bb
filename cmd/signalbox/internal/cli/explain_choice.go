package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// auto tells how signalbox/auto chose the model: what kind of work it saw, who
// said so, and what each model's score is made of.
func (s *story) auto(r decide.Record) {
	a := r.Auto
	if a == nil {
		return
	}
	s.line("\nsignalbox/auto chose, for the objective %s and the spend profile %s (configuration version %d, algorithm %s).",
		clean(a.Objective), clean(a.SpendProfile), a.ConfigVersion, clean(a.Algorithm))
	if a.Workload != "" {
		s.line("The work is %s, %s complex, told with confidence %s by %s.",
			clean(work(a)), percent(a.Complexity), percent(a.Confidence), clean(classifier(a)))
	}
	s.line("Of %d production models, %d could serve this request.", a.Universe, a.Eligible)
	s.table(func(t *table) {
		for _, x := range a.Exclusions {
			t.row("  "+strconv.Itoa(x.Models), x.Reason, "("+x.Stage+")")
		}
	})
	if len(a.Candidates) == 0 {
		return
	}
	s.line("\n  Models by score, the higher the better")
	s.table(func(t *table) {
		head := []any{"  MODEL", "SCORE"}
		for _, f := range a.Candidates[0].Factors {
			head = append(head, heading(f.Name))
		}
		t.row(append(head, "NOTE")...)
		for _, c := range a.Candidates {
			t.row(autoRow(c, len(a.Candidates[0].Factors))...)
		}
	})
	s.line("  * not known of the model: what is neutral stands in")
}

// autoRow shows what each factor adds to a model's score; models far down the
// list are recorded without.
func autoRow(c decide.AutoScored, factors int) []any {
	row := []any{"  " + c.Model, number(c.Score)}
	for i := range factors {
		cell := "–"
		if i < len(c.Factors) {
			cell = number(c.Factors[i].Contribution)
			if c.Factors[i].Assumed {
				cell += "*"
			}
		}
		row = append(row, cell)
	}
	if c.Cooling {
		return append(row, "failing or cooling down, so last")
	}
	return append(row, "")
}

func work(a *decide.AutoTrace) string {
	if len(a.Mix) < 2 {
		return a.Workload
	}
	parts := make([]string, len(a.Mix))
	for i, m := range a.Mix {
		parts[i] = m.Workload + " " + percent(m.Share)
	}
	return strings.Join(parts, ", ")
}

func classifier(a *decide.AutoTrace) string {
	switch {
	case a.ClassifierModel != "" && a.LocalReason == "":
		return fmt.Sprintf("%s (request %s)", a.ClassifierModel, a.ClassifierRequest)
	case a.LocalReason != "":
		return fmt.Sprintf("the gateway's own rules (%s)", a.LocalReason)
	}
	return "the gateway's own rules"
}

// affinity tells what the conversation's earlier turns meant for this one.
func (s *story) affinity(r decide.Record) {
	a := r.Affinity
	if a == nil {
		return
	}
	switch {
	case a.Off != "":
		s.line("\nNothing keeps the turns of this conversation together: %s is off.", clean(a.Off))
	case a.Applied:
		s.line("\nThis conversation (known by its %s) is kept at %s, which was tried first.", clean(a.Source), clean(a.Endpoint))
	case a.Hit && a.Ignored != "":
		s.line("\nThis conversation (known by its %s) is kept at %s; %s ordered otherwise this time.",
			clean(a.Source), clean(a.Endpoint), clean(a.Ignored))
	case a.Hit:
		s.line("\nThis conversation (known by its %s) was kept at %s.", clean(a.Source), clean(a.Endpoint))
	case a.Source != "":
		s.line("\nThis is the first turn seen of this conversation (known by its %s).", clean(a.Source))
	}
	if a.Break != "" {
		s.line("It leaves that endpoint and the provider's cache there: %s.", clean(string(a.Break)))
	}
	if a.MovedTo != "" {
		s.line("Its next turns go to %s.", clean(a.MovedTo))
	}
	if a.Model != "" {
		s.line("The session's model is %s.", clean(a.Model))
	}
	if a.ModelBreak != "" {
		s.line("The session's model was left: %s.", clean(string(a.ModelBreak)))
	}
}

// turns lists the requests that one request became: one for each model that was
// tried, and one for each that the gateway made on its behalf.
func (s *story) turns(l client.LogDetail) {
	if len(l.Models) < 2 {
		return
	}
	s.line("\nOne request, told in parts: each model that was tried is a row of its own.")
	s.table(func(t *table) {
		t.row("  REQUEST", "MODEL", "PROVIDER", "STATUS", "OUTCOME", "COST", "PURPOSE")
		for _, m := range l.Models {
			id := m.ID
			if id == l.ID {
				id += " (this one)"
			}
			t.row("  "+id, m.DecidedModel, m.Provider, strconv.Itoa(m.Status), string(m.Outcome), m.CostUsd+" USD", m.Purpose)
		}
	})
}
