package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) routesReplay() *cobra.Command {
	c := &cobra.Command{
		Use: "replay ROUTE VERSION", Short: "Show what a version would change for the recorded requests of the attached keys", Args: cobra.ExactArgs(2),
		Long: `Show what a version would change for the recorded requests of the attached keys, compared with the deployed version, under the
policy and the catalog of now. Nothing is sent and nothing changes. VERSION may be latest.`,
		Example: "  signalbox routes replay plans 4 --since 24h --limit 5000",
	}
	since := c.Flags().String("since", "", "of the oldest request: a time, or how long ago, such as 24h, which is the default")
	limit := c.Flags().Int("limit", 0, "how many requests, the newest, at most 10000 (default 1000)")
	c.RunE = func(c *cobra.Command, args []string) error {
		oldest, err := timeFlag("since", *since, time.Now(), -1)
		if err != nil {
			return err
		}
		api, route, number, err := a.foundVersion(c.Context(), args)
		if err != nil {
			return err
		}
		q := client.DynamicRouteReplay{Since: oldest}
		if c.Flags().Changed("limit") {
			q.Limit = limit
		}
		r, err := api.ReplayDynamicRouteVersionWithResponse(c.Context(), route, number, q)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { replayTable(t, r.JSON200.Data) })
	}
	return c
}

func replayTable(t *table, r client.DynamicRouteReplayReport) {
	against := "no route: none is deployed"
	if baseline, err := r.BaselineVersion.Get(); err == nil {
		against = strconv.Itoa(baseline)
	}
	t.row("VERSION", r.Version)
	t.row("COMPARED WITH", against)
	read := strconv.Itoa(r.Requests)
	if oldest, err := r.Oldest.Get(); err == nil {
		read += " since " + oldest.UTC().Format(time.RFC3339)
	}
	if r.Limited {
		read += ", and there may be more"
	}
	t.row("REQUESTS", read)
	t.row("COMPARABLE", r.Comparable)
	t.row("MOVED", fmt.Sprintf("%d, of them %d to another model", r.Moved, r.MovedModels))
	t.row("REFUSED", fmt.Sprintf("%d more, %d fewer", r.RefusalsGained, r.RefusalsLost))
	t.row("COST", fmt.Sprintf("%s USD instead of %s, over %d requests", r.Cost.AfterUsd, r.Cost.BeforeUsd, r.Cost.Requests))
	if r.Latency.Requests > 0 {
		t.row("LATENCY", fmt.Sprintf("%.0f ms instead of %.0f, over %d requests", r.Latency.AfterMs, r.Latency.BeforeMs, r.Latency.Requests))
	}
	for _, m := range r.Models {
		t.row("MODEL", fmt.Sprintf("%s → %s", m.From, m.To), m.Requests)
	}
	t.row()
	t.row("NODE", "TYPE", "REQUESTS", "MOVED", "REFUSED", "SERVED", "UNKNOWN")
	for _, n := range r.ByNode {
		t.row(n.Node, n.Type, n.Requests, n.Moved, n.RefusalsGained, n.RefusalsLost, n.Unknown)
	}
	if len(r.Unknown) > 0 {
		t.row()
	}
	for _, u := range r.Unknown {
		t.row("UNKNOWN", unknownAt(u), u.Requests)
	}
	if 2*r.UnknownTotal <= r.Requests {
		return
	}
	if hint := unknownHints[mostUnknown(r.Unknown)]; hint != "" {
		t.row()
		t.row("HINT", hint)
	}
}

// mostUnknown is the reason for which the most requests cannot be compared.
func mostUnknown(unknown []client.DynamicRouteReplayUnknown) (most client.DynamicRouteReplayUnknownReason) {
	counts := map[client.DynamicRouteReplayUnknownReason]int{}
	for _, u := range unknown {
		counts[u.Reason] += u.Requests
		if counts[u.Reason] > counts[most] {
			most = u.Reason
		}
	}
	return most
}

// unknownHints say what to do where a reason stands for the most of what is not
// known.
var unknownHints = map[client.DynamicRouteReplayUnknownReason]string{
	client.DynamicRouteReplayUnknownReasonHidden: "texts are recorded as HMACs, which only equality can be held against: " +
		"settings set replay_values=yes has later requests recorded in clear",
	client.DynamicRouteReplayUnknownReasonPreset: "these requests are decided with a preset, whose content is not recorded: " +
		"a replay cannot tell where they would go",
	client.DynamicRouteReplayUnknownReasonNotRecorded: "these requests are from before the version was saved: replay again once there are later ones",
}

// unknownAt says why, and at which node of which version, a way is not known.
func unknownAt(u client.DynamicRouteReplayUnknown) string {
	text := string(u.Reason)
	if u.Node != nil {
		text += " at " + *u.Node
	}
	if u.Version != nil {
		text += " of version " + strconv.Itoa(*u.Version)
	}
	return text
}
