package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) health() *cobra.Command {
	c := &cobra.Command{
		Use: "health", Short: "Show how the endpoints that the workspace may use are doing", Args: cobra.NoArgs,
		Long: `Show how the endpoints that the workspace may use are doing: what all gateways measured together in the last half
hour. An endpoint is told of once it had 100 requests in that time. Without --model and --provider the others are left out.`,
	}
	model := c.Flags().String("model", "", "only endpoints of this model")
	provider := c.Flags().String("provider", "", "only endpoints of this provider")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.ListEndpointHealthWithResponse(c.Context(),
			&client.ListEndpointHealthParams{Model: optional(*model), Provider: optional(*provider)})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { healthTable(t, r.JSON200.Data) })
	}
	return c
}

func healthTable(t *table, endpoints []client.EndpointHealth) {
	if len(endpoints) == 0 {
		t.row("No endpoint to show: none that you asked for may be used here, or none had 100 requests in the last half hour.")
		return
	}
	t.row("ENDPOINT", "STATE", "UNTIL", "REQUESTS", "UPTIME", "SUCCESS", "FIRST BYTE", "TOKENS/S")
	for _, e := range endpoints {
		h := e.Health
		if h == nil {
			t.row(e.Endpoint, "–", "–", "under 100")
			continue
		}
		t.row(e.Endpoint, string(h.State), h.Until, strconv.FormatInt(h.RequestsAtLeast, 10)+"+", percent(h.Uptime), percent(h.SuccessShare),
			measuredOr(h.FirstByteMs, "%.0f ms"), measuredOr(h.TokensPerSecond, "%.4g"))
	}
}

// measuredOr shows a number that may not be known.
func measuredOr(v *float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}
