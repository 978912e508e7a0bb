package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) webhooks() *cobra.Command {
	return group("webhooks", "Manage where the workspace is told what happens in it",
		a.webhooksCreate(), a.webhooksList(), a.webhooksGet(), a.webhooksUpdate(), a.webhooksDelete(), a.webhooksTest(),
		a.webhooksRotate(), a.webhooksDeliveries(), a.webhooksRedeliver())
}

// webhookFlags are what a webhook is made of.
type webhookFlags struct {
	name, url string
	events    []string
}

func (w *webhookFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&w.name, "name", "", "a name for people")
	c.Flags().StringVar(&w.url, "url", "", "where events are sent, https://…")
	c.Flags().StringSliceVar(&w.events, "events", nil, "the types of event that it takes, such as budget.alert")
}

func (w *webhookFlags) types() client.WebhookEventTypes {
	list := make(client.WebhookEventTypes, len(w.events))
	for i, e := range w.events {
		list[i] = client.WebhookEventType(e)
	}
	return list
}

func (a *app) webhooksCreate() *cobra.Command {
	var w webhookFlags
	c := &cobra.Command{Use: "create", Short: "Create a webhook and show its secret, once", Args: cobra.NoArgs}
	w.flags(c)
	disabled := c.Flags().Bool("disabled", false, "keep it without sending to it yet")
	f := changeFlags(c)
	for _, required := range []string{"name", "url", "events"} {
		must(c.MarkFlagRequired(required))
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body := client.NewWebhook{Name: w.name, URL: w.url, Events: w.types()}
		if *disabled {
			body.Enabled = new(bool)
		}
		r, err := api.CreateWebhookWithResponse(c.Context(), &client.CreateWebhookParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { issuedWebhookTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) webhooksList() *cobra.Command {
	return listAll(a, "List webhooks, newest first",
		func(t *table, list []client.Webhook) {
			t.row("ID", "NAME", "URL", "EVENTS", "ENABLED", "SECRET", "FAILING SINCE", "LAST DELIVERED")
			for _, w := range list {
				t.row(w.ID, w.Name, w.URL, eventNames(w.Events), w.Enabled, "…"+w.SecretSuffix, w.FailingSince, w.LastDeliveredAt)
			}
		},
		func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
			return api.ListWebhooksWithResponse(ctx, &client.ListWebhooksParams{Cursor: cursor, Limit: &size})
		})
}

func (a *app) webhooksGet() *cobra.Command {
	return getOne(a, "get NAME|WEBHOOK_ID", "Show a webhook, without its secret", webhookID, webhookTable,
		func(ctx context.Context, api *client.ClientWithResponses, webhook string) (answer, func() client.Webhook, error) {
			r, err := api.GetWebhookWithResponse(ctx, webhook)
			return r, func() client.Webhook { return r.JSON200.Data }, err
		})
}

func (a *app) webhooksUpdate() *cobra.Command {
	var w webhookFlags
	c := &cobra.Command{
		Use: "update NAME|WEBHOOK_ID", Short: "Rename a webhook, move it, or switch it on or off", Args: cobra.ExactArgs(1),
		Long: "Rename a webhook, move it, or switch it on or off. What is on its way to a webhook that is disabled is given up.",
	}
	w.flags(c)
	enable, disable := c.Flags().Bool("enable", false, "send to it again"), c.Flags().Bool("disable", false, "send nothing to it")
	c.MarkFlagsMutuallyExclusive("enable", "disable")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		body := client.WebhookPatch{Name: optional(w.name), URL: optional(w.url)}
		if w.events != nil {
			types := w.types()
			body.Events = &types
		}
		if *enable || *disable {
			body.Enabled = enable
		}
		if body == (client.WebhookPatch{}) {
			return misuse("nothing to change: give --name, --url, --events, --enable or --disable")
		}
		api, webhook, err := a.found(c.Context(), webhookID, args[0])
		if err != nil {
			return err
		}
		r, err := api.UpdateWebhookWithResponse(c.Context(), webhook, &client.UpdateWebhookParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { webhookTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) webhooksDelete() *cobra.Command {
	return changeOne(a, "delete NAME|WEBHOOK_ID", "Delete a webhook, with the account of its deliveries", webhookID, deletedTable,
		func(ctx context.Context, api *client.ClientWithResponses, webhook string, f *change) (answer, func() client.Deleted, error) {
			r, err := api.DeleteWebhookWithResponse(ctx, webhook, &client.DeleteWebhookParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.Deleted { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func (a *app) webhooksRotate() *cobra.Command {
	c := changeOne(a, "rotate-secret NAME|WEBHOOK_ID", "Replace a webhook's secret and show the new one, once", webhookID, issuedWebhookTable,
		func(ctx context.Context, api *client.ClientWithResponses, webhook string, f *change) (answer, func() client.IssuedWebhook, error) {
			r, err := api.RotateWebhookSecretWithResponse(ctx, webhook, &client.RotateWebhookSecretParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.IssuedWebhook { return either(r.JSON200, r.JSON202).Data }, err
		})
	c.Long = c.Short + ". Deliveries are signed with both for 24 hours."
	return c
}

// webhookID is the id that a webhook's id or name stands for.
func webhookID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	return idByName[id.WebhookKind]("webhook", text, func(w client.Webhook) entry { return entry{id: w.ID, name: w.Name} },
		func(cursor *string, size int) (answer, error) {
			return api.ListWebhooksWithResponse(ctx, &client.ListWebhooksParams{Cursor: cursor, Limit: &size})
		})
}

func webhookTable(t *table, w client.Webhook) {
	t.row("ID", w.ID)
	t.row("NAME", w.Name)
	t.row("URL", w.URL)
	t.row("EVENTS", eventNames(w.Events))
	t.row("ENABLED", w.Enabled)
	t.row("SECRET ENDS IN", "…"+w.SecretSuffix)
	if w.PreviousSecretUntil != nil {
		t.row("OLD SECRET UNTIL", w.PreviousSecretUntil)
	}
	t.row("FAILING SINCE", w.FailingSince)
	t.row("LAST DELIVERED", w.LastDeliveredAt)
	t.row("CREATED BY", w.CreatedBy)
	t.row("CREATED", w.CreatedAt)
}

func issuedWebhookTable(t *table, w client.IssuedWebhook) {
	webhookTable(t, client.Webhook{
		ID: w.ID, Name: w.Name, URL: w.URL, Events: w.Events, Enabled: w.Enabled, SecretSuffix: w.SecretSuffix,
		PreviousSecretUntil: w.PreviousSecretUntil, FailingSince: w.FailingSince, LastDeliveredAt: w.LastDeliveredAt,
		CreatedBy: w.CreatedBy, CreatedAt: w.CreatedAt,
	})
	plaintextRow(t, "secret", w.Secret)
}

func eventNames(list []client.WebhookEventType) []string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = string(e)
	}
	return names
}
