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
	how := "signalbox/auto chose"
	if a.Eligible == 0 {
		how = "signalbox/auto found nothing to choose from"
	}
	s.line("\n%s, for the objective %s and the spend profile %s (configuration %d, algorithm %s).",
		how, clean(a.Objective), clean(a.SpendProfile), a.ConfigVersion, clean(a.Algorithm))
	if a.Workload != "" {
		s.line("The work is %s, %s complex, told with confidence %s by %s.",
			clean(work(a)), percent(a.Complexity), percent(a.Confidence), clean(classifier(a)))
	}
	s.line("%s", left(a))
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

// left says how many models there were to choose from.
func left(a *decide.AutoTrace) string {
	switch {
	case a.Universe == 0:
		return "No model here is fit for it: active, for text, with a stable endpoint, a known price and a provider key."
	case a.Eligible == 0:
		return fmt.Sprintf("None of %d production models could serve this request:", a.Universe)
	case len(a.Exclusions) > 0:
		return fmt.Sprintf("Of %d production models, %d could serve this request. Left out were:", a.Universe, a.Eligible)
	}
	return fmt.Sprintf("Of %d production models, %d could serve this request.", a.Universe, a.Eligible)
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
	who := recognized(a.Source)
	switch {
	case a.Off != "":
		s.line("\nTurns of a conversation are not kept at one endpoint here: %s is off.", clean(a.Off))
	case a.Applied:
		s.line("\nEarlier turns of this conversation (%s) went to %s, whose cache may hold them: it was tried first.", who, clean(a.Endpoint))
	case a.Hit && a.Ignored != "":
		s.line("\nEarlier turns of this conversation (%s) went to %s; %s ordered otherwise this time.", who, clean(a.Endpoint), clean(a.Ignored))
	case a.Hit:
		s.line("\nEarlier turns of this conversation (%s) went to %s.", who, clean(a.Endpoint))
	case a.Source != "":
		s.line("\nNo earlier turn of this conversation (%s) is remembered.", who)
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

// recognized says by what the turns of a conversation are known to belong
// together.
func recognized(source string) string {
	switch decide.PinSource(source) {
	case decide.FromSession:
		return "the same session id"
	case decide.FromCacheKey:
		return "the same prompt_cache_key"
	case decide.FromOpening:
		return "the same beginning: model, instructions, tools, first message"
	}
	return "known by its " + clean(source)
}

// turns lists the requests that one request became: one for each model that was
// tried, and one for each that the gateway made on its behalf.
func (s *story) turns(l client.LogDetail) {
	if len(l.Models) == 0 {
		return
	}
	s.line("\nOne request, told in parts: each model that was called is an entry of its own, with its own cost.")
	s.table(func(t *table) {
		t.row("  REQUEST", "MODEL", "PROVIDER", "STATUS", "OUTCOME", "COST", "PURPOSE")
		for _, m := range partsOf(l) {
			id := m.ID
			if id == l.ID {
				id += " (this one)"
			}
			t.row("  "+id, m.DecidedModel, m.Provider, strconv.Itoa(m.Status), string(m.Outcome), m.CostUsd+" USD", m.Purpose)
		}
	})
}
