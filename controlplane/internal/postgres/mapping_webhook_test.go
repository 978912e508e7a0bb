package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

func TestWebhooksRoundTrip(t *testing.T) {
	for seed := 1; seed <= 2; seed++ {
		w := fill.Value[webhook.Webhook](seed)
		require.Equal(t, w, webhookRowOf(w).webhook())
		d := fill.Value[webhook.Delivery](seed)
		require.Equal(t, d, deliveryRowOf(d).delivery())
		a := fill.Value[budgetalert.Alert](seed)
		require.Equal(t, a, budgetAlertRowOf(a).alert())
	}
	w := fill.Value[webhook.Webhook](1)
	w.URL = "https://example.com/"
	require.Empty(t, fill.Zero(webhookRowOf(w)))
	require.Empty(t, fill.Zero(deliveryRowOf(fill.Value[webhook.Delivery](1))))
	require.Empty(t, fill.Zero(budgetAlertRowOf(fill.Value[budgetalert.Alert](1))))
}

func TestUpdatesOfWebhooksWriteEveryColumn(t *testing.T) {
	for name, c := range map[string]struct {
		row     any
		written map[string]any
		fixed   []string
	}{
		"webhook":  {webhookRow{}, webhookRow{}.changeable(), []string{"id", "workspace_id", "failing_since", "last_delivered_at", "created_by", "created_at"}},
		"delivery": {deliveryRow{}, deliveryRow{}.progress(), []string{"id", "workspace_id", "webhook_id", "event_id", "type", "body", "created_at"}},
	} {
		var written []string
		for column := range c.written {
			written = append(written, column)
		}
		require.ElementsMatch(t, columnsOf(c.row), append(written, c.fixed...), name)
	}
}
