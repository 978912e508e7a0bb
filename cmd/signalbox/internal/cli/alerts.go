package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) modelsAlerts() *cobra.Command {
	return &cobra.Command{
		Use: "alerts", Short: "List the deprecated and retired models that the workspace names or used, the most urgent first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.ListLifecycleAlertsWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { alertTable(t, r.JSON200.Data) })
		},
	}
}

func alertTable(t *table, alerts []client.LifecycleAlert) {
	if len(alerts) == 0 {
		t.row("No model that goes is named here, and none was used in the last 30 days.")
		return
	}
	t.row("MODEL", "STATE", "RETIRES", "REPLACEMENT", "REQUESTS", "LAST USED", "NAMED BY")
	for _, alert := range alerts {
		retires := "–"
		if alert.RetiresAt != nil {
			retires = alert.RetiresAt.UTC().Format("2006-01-02")
		}
		t.row(alert.Model, string(alert.State), retires, alert.Replacement, alert.Requests, alert.LastUsedAt, namedBy(alert))
	}
}

// namedBy lists where a model is named, as people find it.
func namedBy(alert client.LifecycleAlert) string {
	var places []string
	for _, r := range alert.References {
		place := strings.ReplaceAll(string(r.Kind), "_", " ")
		if r.Name != nil {
			place += " " + *r.Name
		}
		places = append(places, place+": "+r.Field)
	}
	if alert.MoreReferences > 0 {
		places = append(places, "and "+cell(alert.MoreReferences)+" more")
	}
	return strings.Join(places, "; ")
}
