package rollout

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// judgeName is who the audit log says that a rollout's own changes are by.
const judgeName = "rollout"

// itself is the rollout as an actor.
var itself = audit.By{Actor: audit.Actor{Kind: audit.System, Name: judgeName}}

// changeOf is a change of a route's rollout.
func changeOf(by audit.By, action string, route id.Route) *deploy.Change {
	return deploy.NewChange(by, "route_rollout."+action, "dynamic_route", route.String())
}

// begun is the account of how a rollout begins.
func begun(r Rollout) []audit.Change {
	var d audit.Diff
	d.Text("rollout", "", r.ID.String())
	d.Text("candidate_version", "", strconv.Itoa(r.Candidate))
	d.Text("state", "", string(r.State))
	d.Text("percent", "", r.Share().String())
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, s.Percent.String()+" % for "+FormatHold(s.Hold))
	}
	d.List("steps", nil, steps)
	limit := func(name Limit, allowed *float64) {
		if allowed != nil {
			d.Text("guard."+string(name), "", number(*allowed))
		}
	}
	limit(ErrorRate, r.Guard.MaxErrorRate)
	limit(LatencyRatio, r.Guard.MaxLatencyRatio)
	limit(CostRatio, r.Guard.MaxCostRatio)
	d.Text("guard.min_requests", "", strconv.FormatInt(r.Guard.MinRequests, 10))
	return d
}

// moved is the account of a rollout that goes on or ends, with what it was
// judged by.
func moved(before, after Rollout, e Evidence) []audit.Change {
	var d audit.Diff
	d.Text("state", string(before.State), string(after.State))
	share := func(r Rollout) string {
		switch r.State {
		case Completed:
			return "100"
		case RolledBack, Aborted:
			return "0"
		case Running, Paused:
		}
		return r.Share().String()
	}
	d.Text("percent", share(before), share(after))
	d = append(d, audit.Change{Path: "rollout", Before: before.ID.String(), After: after.ID.String()})
	if e.Broken != "" {
		d.Text("evidence.broken", "", string(e.Broken))
		d.Text("evidence.measured", "", number(e.Measured))
		d.Text("evidence.allowed", "", number(e.Allowed))
	}
	return append(d, append(armDiff("candidate", e.Arms.Candidate), armDiff("stable", e.Arms.Stable)...)...)
}

func armDiff(name string, a tally.Arm) []audit.Change {
	var d audit.Diff
	at := func(field string) string { return "evidence." + name + "." + field }
	d.Text(at("requests"), "", strconv.FormatInt(a.Requests, 10))
	d.Text(at("failures"), "", strconv.FormatInt(a.Failures, 10))
	d.Text(at("error_rate"), "", number(a.ErrorRate()))
	d.Text(at("p95_ms"), "", number(float64(a.P95.Microseconds())/1000))
	d.Text(at("mean_cost_usd"), "", a.MeanCost().String())
	return d
}

// number writes a number with at most 4 decimals.
func number(f float64) string {
	if f == math.MaxFloat64 {
		return "infinite"
	}
	text := fmt.Sprintf("%.4f", f)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
