package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook/courier"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// toldOf are a webhook, a delivery to it and an alert, with what the constraints
// allow.
func toldOf(owner workspace.Member) (webhook.Webhook, webhook.Delivery, budgetalert.Alert) {
	w := fill.Value[webhook.Webhook](1)
	w.ID, w.Workspace, w.CreatedBy = id.New[id.WebhookKind](testIDs), owner.Workspace, owner.User
	w.URL, w.Events, w.Suffix, w.Sealed, w.Previous, w.Version = "https://example.com/x", webhook.Types(), "abcd", make([]byte, 40), make([]byte, 40), 1
	d := fill.Value[webhook.Delivery](1)
	d.ID, d.Workspace, d.Webhook, d.State = id.New[id.DeliveryKind](testIDs), owner.Workspace, w.ID, webhook.Failed
	a := fill.Value[budgetalert.Alert](1)
	a.ID, a.Workspace, a.Scope, a.Interval, a.Share = id.New[id.EventKind](testIDs), owner.Workspace, policy.LimitsKey, policy.Daily, 80
	return w, d, a
}

func TestOthersSeeNothingOfWebhooks(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	hook, delivery, alert := toldOf(ownerA)
	webhooks, deliveries, alerts := NewWebhookStore(), NewDeliveryStore(), NewBudgetAlertStore()
	in(t, db, a.ID, func(ctx context.Context) error {
		require.NoError(t, webhooks.Create(ctx, a.ID, hook))
		require.NoError(t, deliveries.Add(ctx, a.ID, []webhook.Delivery{delivery}))
		require.NoError(t, alerts.SetShares(ctx, a.ID, budgetalert.Shares{Percents: []int{5}, Version: 1}))
		fresh, err := alerts.Note(ctx, a.ID, alert)
		require.True(t, fresh)
		return err
	})
	hold := courier.Hold{Holder: uuid.New(), Now: delivery.DueAt.Add(time.Hour), Until: delivery.DueAt.Add(2 * time.Hour)}
	notFound := func(err error) { t.Helper(); require.True(t, fault.Is(err, fault.NotFound), "%v", err) }
	in(t, db, b.ID, func(ctx context.Context) error {
		_, err := webhooks.Get(ctx, b.ID, hook.ID)
		notFound(err)
		notFound(webhooks.Delete(ctx, b.ID, hook))
		stolen := hook
		stolen.Version++
		notFound(webhooks.Update(ctx, b.ID, stolen))
		require.NoError(t, webhooks.Renew(ctx, b.ID, hook, stolen))
		list, err := webhooks.List(ctx, b.ID, page.Query{})
		require.NoError(t, err)
		require.Empty(t, list.Items)
		n, err := webhooks.Count(ctx, b.ID)
		require.NoError(t, err)
		require.Zero(t, n)
		taking, err := webhooks.Taking(ctx, b.ID, webhook.BudgetAlert)
		require.NoError(t, err)
		require.Empty(t, taking)
		_, err = webhooks.Turn(ctx, b.ID, hook.ID, epoch, time.Second)
		notFound(err)
		_, err = webhooks.RevokeAll(ctx, b.ID, 9, epoch)
		require.NoError(t, err)

		_, err = deliveries.Get(ctx, b.ID, hook.ID, delivery.ID)
		notFound(err)
		found, err := deliveries.List(ctx, b.ID, hook.ID, page.Query{}, webhook.Filter{})
		require.NoError(t, err)
		require.Empty(t, found.Items)
		notFound(deliveries.Requeue(ctx, b.ID, delivery))
		require.NoError(t, deliveries.Abandon(ctx, b.ID, hook.ID))
		_, _, err = deliveries.Claim(ctx, b.ID, hook.ID, hold)
		notFound(err)
		notFound(deliveries.Finish(ctx, b.ID, delivery, hold.Holder, epoch))

		shares, err := alerts.Shares(ctx, b.ID)
		require.NoError(t, err)
		require.Equal(t, budgetalert.DefaultShares(), shares)
		sent, err := alerts.Alerts(ctx, b.ID, page.Query{})
		require.NoError(t, err)
		require.Empty(t, sent.Items)
		untold, err := alerts.Untold(ctx, b.ID, []budgetalert.Alert{alert})
		require.NoError(t, err)
		require.Len(t, untold, 1)
		return nil
	})
	for name, write := range map[string]func(ctx context.Context) error{
		"webhook":  func(ctx context.Context) error { w, _, _ := toldOf(ownerA); return webhooks.Create(ctx, b.ID, w) },
		"delivery": func(ctx context.Context) error { return deliveries.Add(ctx, b.ID, []webhook.Delivery{delivery}) },
		"alert":    func(ctx context.Context) error { _, err := alerts.Note(ctx, b.ID, alert); return err },
	} {
		require.ErrorContains(t, db.Runner().InTx(t.Context(), b.ID, write), "row-level security", name)
	}
	in(t, db, a.ID, func(ctx context.Context) error {
		got, err := webhooks.Get(ctx, a.ID, hook.ID)
		require.NoError(t, err)
		require.Equal(t, hook, got)
		kept, err := deliveries.Get(ctx, a.ID, hook.ID, delivery.ID)
		require.NoError(t, err)
		require.Equal(t, delivery, kept)
		sent, err := alerts.Alerts(ctx, a.ID, page.Query{})
		require.NoError(t, err)
		require.Equal(t, []budgetalert.Alert{alert}, sent.Items)
		untold, err := alerts.Untold(ctx, a.ID, []budgetalert.Alert{alert})
		require.NoError(t, err)
		require.Empty(t, untold)
		fresh, err := alerts.Note(ctx, a.ID, func() budgetalert.Alert {
			again := alert
			again.ID = id.New[id.EventKind](testIDs)
			return again
		}())
		require.False(t, fresh)
		return err
	})
	// Couriers find what is due as the system role, which sees no URL, no secret
	// and no body, and may change nothing.
	for _, query := range []string{
		"SELECT url FROM webhooks", "SELECT body FROM webhook_deliveries", "SELECT used_nanos FROM budget_alerts", "SELECT shares FROM budget_alert_shares",
		"UPDATE webhooks SET enabled = false", "UPDATE webhook_deliveries SET due_at = now()", "DELETE FROM webhooks", "UPDATE budget_alerts SET share = 1",
	} {
		err := db.System().InTx(t.Context(), func(ctx context.Context) error { return system(ctx).Exec(query).Error })
		require.ErrorContains(t, err, "permission denied", query)
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"webhook":  func(ctx context.Context) error { _, err := webhooks.Get(ctx, a.ID, hook.ID); return err },
		"delivery": func(ctx context.Context) error { _, err := deliveries.Get(ctx, a.ID, hook.ID, delivery.ID); return err },
		"shares":   func(ctx context.Context) error { _, err := alerts.Shares(ctx, a.ID); return err },
		"set":      func(ctx context.Context) error { return alerts.SetShares(ctx, a.ID, budgetalert.DefaultShares()) },
		"desk":     func(ctx context.Context) error { _, err := NewWebhookDesk().Oldest(ctx, epoch); return err },
	} {
		require.ErrorIs(t, db.Runner().InTx(t.Context(), b.ID, call), errScope, name)
	}
}
