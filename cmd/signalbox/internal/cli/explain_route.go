package cli

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// route tells the way through the key's dynamic route, and what it was chosen by.
func (s *story) route(r decide.Record) {
	if r.Route == nil {
		return
	}
	s.line("The dynamic route %s, version %d, was walked: %s.", clean(r.Route.ID), r.Route.Version, clean(strings.Join(r.Route.Nodes, " → ")))
	if used := usedBefore(r); used != "" {
		s.line("Before it the key had used: %s.", used)
	}
	if r.Route.Arm != "" {
		s.line("The rollout %s compared versions of it: this request went through the %s one.", clean(r.Route.Rollout), clean(string(r.Route.Arm)))
	}
	if strings.HasPrefix(r.RequestedModel, "@") && r.Preset == nil && r.SwitchReason == decide.SwitchDynamicRoute {
		s.line("The preset %s, which was asked for, does not apply: the route's model takes its place.", clean(r.RequestedModel))
	}
}

// usedBefore is what the limits of a route were held against, "" where the
// record does not have it.
func usedBefore(r decide.Record) string {
	if len(r.Recollection) == 0 {
		return ""
	}
	recalled, err := decide.DecodeRecollection(r.Recollection)
	if err != nil || recalled.Usage == nil {
		return ""
	}
	var parts []string
	for _, w := range []struct {
		name string
		used *decide.RecordedBucket
	}{{"this day", recalled.Usage.Daily}, {"this week", recalled.Usage.Weekly}, {"this month", recalled.Usage.Monthly}} {
		if w.used != nil {
			parts = append(parts, fmt.Sprintf("%s %d requests, %s USD", w.name, w.used.Requests, w.used.Cost))
		}
	}
	return strings.Join(parts, "; ")
}

// decided tells who could serve a request, and what was left out or in the way.
func (s *story) decided(r decide.Record) {
	if nodes := rejecting(r); len(nodes) > 0 {
		s.line("\nThe route's reject node %s answered: no candidate was looked for.", clean(nodes[len(nodes)-1]))
	} else {
		s.candidates(r)
	}
	s.exclusions(r)
}

// rejecting are the nodes of a way that ended in a rejection, nil for another.
func rejecting(r decide.Record) []string {
	if r.Route == nil || r.Refusal == nil || r.Refusal.Code != string(fault.RouteRejected) {
		return nil
	}
	return r.Route.Nodes
}
