package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) webhooksTest() *cobra.Command {
	return &cobra.Command{
		Use: "test NAME|WEBHOOK_ID", Short: "Send a test event to a webhook now, and show what came of it", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, webhook, err := a.found(c.Context(), webhookID, args[0])
			if err != nil {
				return err
			}
			r, err := api.TestWebhookWithResponse(c.Context(), webhook, nil)
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) {
				t.row("EVENT ID", r.JSON200.Data.EventID)
				t.row("DELIVERED", r.JSON200.Data.Delivered)
				t.row("ATTEMPT", attemptText(r.JSON200.Data.Attempt))
			})
		},
	}
}

func (a *app) webhooksDeliveries() *cobra.Command {
	c := &cobra.Command{Use: "deliveries NAME|WEBHOOK_ID", Short: "List what went to a webhook in the last 30 days, newest first", Args: cobra.ExactArgs(1)}
	limit := limitFlag(c)
	state := c.Flags().String("state", "", "only those in this state: pending, failed, delivered or given_up")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, webhook, err := a.found(c.Context(), webhookID, args[0])
		if err != nil {
			return err
		}
		body, found, err := pages[client.WebhookDelivery](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListWebhookDeliveriesWithResponse(c.Context(), webhook, &client.ListWebhookDeliveriesParams{
				Cursor: cursor, Limit: &size, State: (*client.WebhookDeliveryState)(optional(*state)),
			})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) { deliveryTable(t, found) })
	}
	return c
}

func (a *app) webhooksRedeliver() *cobra.Command {
	return &cobra.Command{
		Use: "redeliver NAME|WEBHOOK_ID DELIVERY_ID", Short: "Deliver an event to a webhook again, with the same event id", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			api, webhook, err := a.found(c.Context(), webhookID, args[0])
			if err != nil {
				return err
			}
			r, err := api.RedeliverWebhookDeliveryWithResponse(c.Context(), webhook, args[1], nil)
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { deliveryTable(t, []client.WebhookDelivery{r.JSON200.Data}) })
		},
	}
}

func deliveryTable(t *table, list []client.WebhookDelivery) {
	t.row("ID", "EVENT ID", "TYPE", "STATE", "ATTEMPTS", "LAST", "NEXT", "CREATED")
	for _, d := range list {
		last := "–"
		if n := len(d.Attempts); n > 0 {
			last = attemptText(d.Attempts[n-1])
		}
		t.row(d.ID, d.EventID, d.EventType, string(d.State), len(d.Attempts), last, d.NextAttemptAt, d.CreatedAt)
	}
}

// attemptText is what came of an attempt, such as "204 in 12 ms" or "timeout
// after 10000 ms".
func attemptText(a client.WebhookAttempt) string {
	switch {
	case a.Status != nil:
		return fmt.Sprintf("%d in %d ms", *a.Status, a.DurationMs)
	case a.Trouble != nil:
		return fmt.Sprintf("%s after %d ms", *a.Trouble, a.DurationMs)
	default:
		return "–"
	}
}
