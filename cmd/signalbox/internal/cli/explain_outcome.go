package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// asked tells what was asked for and who answered. Each model that was tried is
// an entry of its own, so that the first model and the one that answered are two
// where there was a fallback.
func (s *story) asked(l client.LogDetail) {
	model := "no model"
	if l.RequestedModel != nil {
		model = clean(*l.RequestedModel)
	}
	s.line("%s asked for %s on %s at %s.", l.ID, model, clean(l.Surface), moment(l.StartedAt))
	turns := turnsOf(l)
	switch {
	case said(l.Purpose):
		s.line("The gateway made it for the request %s (%s).", l.PrimaryRequestID, clean(*l.Purpose))
		s.line("%s", ended(l))
	case len(turns) == 1:
		s.line("%s", ended(l))
	default:
		for i, t := range turns {
			s.line("%s", turned(t, i == 0))
		}
		if l.ID != l.PrimaryRequestID {
			s.line("This is the part of the request %s that went to %s.", l.PrimaryRequestID, cell(l.DecidedModel))
		}
	}
}

// partsOf are all entries of one request, this one among them, in their order.
func partsOf(l client.LogDetail) []client.Log {
	parts := append([]client.Log{{
		ID: l.ID, StartedAt: l.StartedAt, DurationMs: l.DurationMs, Outcome: l.Outcome, Status: l.Status, Code: l.Code, Reason: l.Reason,
		DecidedModel: l.DecidedModel, Provider: l.Provider, CostUsd: l.CostUsd, Purpose: l.Purpose,
	}}, l.Models...)
	slices.SortStableFunc(parts, byStart)
	return parts
}

// turnsOf are the models that were tried for the caller. What the gateway asked
// on the way, such as a classifier, is none of them.
func turnsOf(l client.LogDetail) []client.Log {
	return slices.DeleteFunc(partsOf(l), func(p client.Log) bool { return said(p.Purpose) })
}

// byStart orders entries of one request; ids rise with time where two begin
// within the same instant.
func byStart(a, b client.Log) int {
	if order := a.StartedAt.Compare(b.StartedAt); order != 0 {
		return order
	}
	return strings.Compare(a.ID, b.ID)
}

// ended says how the request ended.
func ended(l client.LogDetail) string {
	switch {
	case l.Provider != nil:
		return fmt.Sprintf("It was answered with status %d by %s in %.0f ms (%s).", l.Status, clean(*l.Provider), l.DurationMs, l.Outcome)
	case l.Code != nil:
		return fmt.Sprintf("It was answered with status %d: %s (%s).", l.Status, why(*l.Code, l.Reason), l.Outcome)
	}
	return fmt.Sprintf("It ended with status %d (%s).", l.Status, l.Outcome)
}

// turned says what became of one model of several.
func turned(l client.Log, first bool) string {
	model, turn := cell(l.DecidedModel), "next"
	if first {
		turn = "first"
	}
	switch {
	case l.Provider != nil:
		return fmt.Sprintf("%s answered, with status %d, by %s in %.0f ms (%s).", model, l.Status, clean(*l.Provider), l.DurationMs, l.Outcome)
	case l.Code != nil:
		return fmt.Sprintf("%s was tried %s, and failed with status %d: %s.", model, turn, l.Status, why(*l.Code, l.Reason))
	}
	return fmt.Sprintf("%s was tried %s, and ended with status %d (%s).", model, turn, l.Status, l.Outcome)
}

func why(code string, reason *string) string {
	if said(reason) {
		return clean(code) + ", " + clean(*reason)
	}
	return clean(code)
}

func said(text *string) bool { return text != nil && *text != "" }

// lifecycle tells of models that go.
func (s *story) lifecycle(r decide.Record) {
	switch {
	case r.Refusal != nil && r.Refusal.Code == string(fault.ModelRetired):
		s.line("The model is retired, and no endpoint serves it any more.")
	case r.SwitchReason == decide.SwitchRetired:
		s.line("The model that was asked for is retired: %s, which replaces it, was tried in its place.", clean(r.DecidedModel))
	case r.Lifecycle == catalog.Deprecated:
		s.line("%s is deprecated: it is still served, until its retirement.", clean(r.DecidedModel))
	case r.Lifecycle == catalog.Retired:
		s.line("%s is retired: it is served for as long as an endpoint still has it.", clean(r.DecidedModel))
	}
}

// switched says in words why something other than the first choice served; ""
// where that is told elsewhere.
func switched(r decide.Record) string {
	switch r.SwitchReason {
	case decide.SwitchFallbackProvider:
		return "The endpoint that was tried first failed, so another one of the same model was called."
	case decide.SwitchFallbackModel:
		if text := passedOver(r); text != "" {
			return text
		}
		return "The model before it in this order could not answer, so " + r.DecidedModel + " was tried."
	case decide.SwitchDynamicRoute:
		return "The dynamic route of the API key chose the model."
	case decide.SwitchSessionPin:
		return "The request named no model: it went on with the one that its session uses."
	case decide.SwitchProviderAlias:
		return "The provider was named by another of its names."
	case decide.SwitchRule:
		if r.Override == "" {
			return "An operator's rule decided who may serve it."
		}
	case decide.SwitchAuto, decide.SwitchRetired, "": // told with the choice, and with the lifecycle
	default:
		return "Something other than the first choice served, because of: " + string(r.SwitchReason) + "."
	}
	return ""
}

// passedOver says why no model before the decided one was asked; "" where one
// was. The chain holds only models that some endpoint may serve.
func passedOver(r decide.Record) string {
	if len(r.Chain) == 0 || r.Chain[0] != r.DecidedModel {
		return ""
	}
	if len(r.Exclusions) == 0 || slices.Contains(r.Chain, r.Exclusions[0].Model) {
		return "What was asked for first was passed over without being asked, and " + r.DecidedModel + " came in its place."
	}
	first := r.Exclusions[0].Model // exclusions are in the order of the models
	var reasons []string
	for _, e := range r.Exclusions {
		reason := words(e.Reason)
		if e.Rung != "" {
			reason += ", by the " + source(e.Rung, e.Guardrail)
		}
		if e.Model == first && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return first + " was passed over without being asked (" + strings.Join(reasons, "; ") + "), and " + r.DecidedModel + " came in its place."
}

func words(reason string) string { return strings.ReplaceAll(reason, "_", " ") }
