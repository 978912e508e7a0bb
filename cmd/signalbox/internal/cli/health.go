package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) health() *cobra.Command {
	c := &cobra.Command{
		Use: "health", Short: "Show how the endpoints that the workspace may use are doing", Args: cobra.NoArgs,
		Long: `Show how the endpoints that the workspace may use are doing: what all gateways measured together in the last half
hour. An endpoint is told of once it had 100 requests in that time. Without --model and --provider the others are left out.
Ends with 4 where no endpoint of the --model or --provider may be used here.`,
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
		if len(r.JSON200.Data) == 0 && (*model != "" || *provider != "") {
			return absent{noEndpoint(*model, *provider)}
		}
		return a.show(r, func(t *table) { healthTable(t, r.JSON200.Data) })
	}
	return c
}

// noEndpoint says what an empty answer to a filter means: with one, the API also
// lists the endpoints that had few requests.
func noEndpoint(model, provider string) string {
	var asked []string
	if model != "" {
		asked = append(asked, "of the model "+clean(model))
	}
	if provider != "" {
		asked = append(asked, "at the provider "+clean(provider))
	}
	return "no endpoint " + strings.Join(asked, " ") + " may be used here: the name is unknown, or the workspace's rules leave it out"
}

func healthTable(t *table, endpoints []client.EndpointHealth) {
	if len(endpoints) == 0 {
		t.row("No endpoint to show: none that may be used here had 100 requests in the last half hour.")
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
			measuredOr(h.FirstByteMs, func(ms float64) string { return fmt.Sprintf("%.0f ms", ms) }), measuredOr(h.TokensPerSecond, number))
	}
}

// measuredOr shows a number that may not be known.
func measuredOr(v *float64, told func(float64) string) string {
	if v == nil {
		return "–"
	}
	return told(*v)
}
