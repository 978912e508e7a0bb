package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook/courier"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// WebhookDesk looks over the deliveries of all workspaces, as the system role.
type WebhookDesk struct{}

// NewWebhookDesk returns a desk that works in the system transaction of its context.
func NewWebhookDesk() *WebhookDesk { return &WebhookDesk{} }

// lanesSQL are the webhooks with open deliveries, each found by one step through
// the index however many it has, with when the first of those that nobody holds
// was due.
const lanesSQL = `WITH RECURSIVE lanes AS (
	(SELECT webhook_id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY webhook_id LIMIT 1)
	UNION ALL
	SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL AND d.webhook_id > l.webhook_id ORDER BY d.webhook_id LIMIT 1)
	FROM lanes l WHERE l.webhook_id IS NOT NULL)
SELECT w.workspace_id, w.id AS webhook_id, w.host, n.due_at FROM lanes l JOIN webhooks w ON w.id = l.webhook_id AND w.enabled
CROSS JOIN LATERAL (SELECT d.due_at FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.due_at <= @now
	AND (d.leased_until IS NULL OR d.leased_until <= @now) ORDER BY d.due_at LIMIT 1) n`

// Due implements courier.Desk.
func (*WebhookDesk) Due(ctx context.Context, now time.Time, busy courier.Busy, limit int) ([]courier.Lane, error) {
	var rows []struct {
		WorkspaceID, WebhookID uuid.UUID
		Host                   string
	}
	err := system(ctx).Raw(lanesSQL+` WHERE w.host <> ALL (@hosts) AND w.workspace_id::text <> ALL (@workspaces) ORDER BY n.due_at, w.id LIMIT @limit`,
		map[string]any{"now": now, "hosts": textArray(busy.Hosts), "workspaces": uuidTexts(busy.Workspaces), "limit": limit}).Scan(&rows).Error
	lanes := make([]courier.Lane, len(rows))
	for i, r := range rows {
		lanes[i] = courier.Lane{Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Webhook: id.FromUUID[id.WebhookKind](r.WebhookID), Host: r.Host}
	}
	return lanes, translate(err, "look for deliveries")
}

func uuidTexts(list []id.Workspace) textArray {
	texts := make(textArray, len(list))
	for i, ws := range list {
		texts[i] = ws.UUID().String()
	}
	return texts
}

// Oldest implements courier.Desk.
func (*WebhookDesk) Oldest(ctx context.Context, now time.Time) (time.Time, error) {
	var rows []struct{ DueAt time.Time }
	err := system(ctx).Raw(lanesSQL+" ORDER BY n.due_at LIMIT 1", map[string]any{"now": now}).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return time.Time{}, translate(err, "look for the oldest delivery")
	}
	return rows[0].DueAt.UTC(), nil
}

// Sweep implements courier.Desk.
func (*WebhookDesk) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	done := system(ctx).Exec(`DELETE FROM webhook_deliveries WHERE id IN
		(SELECT id FROM webhook_deliveries WHERE created_at < ? ORDER BY created_at LIMIT ?)`, before, limit)
	return int(done.RowsAffected), translate(done.Error, "remove old deliveries")
}

// Claim implements courier.Book.
func (*DeliveryStore) Claim(ctx context.Context, ws id.Workspace, w id.Webhook, h courier.Hold) (webhook.Delivery, webhook.Webhook, error) {
	var receiver webhookRow
	if err := scoped(ctx, ws).Where("id = ? AND enabled", w.UUID()).Take(&receiver).Error; err != nil {
		return webhook.Delivery{}, webhook.Webhook{}, translate(err, "read a webhook")
	}
	var rows []deliveryRow
	err := tenant(ctx, ws).Raw(`UPDATE webhook_deliveries SET holder = @holder, leased_until = @until WHERE id =
		(SELECT id FROM webhook_deliveries WHERE workspace_id = @ws AND webhook_id = @webhook AND due_at <= @now
		   AND (leased_until IS NULL OR leased_until <= @now) ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING *`, map[string]any{
		"holder": h.Holder, "until": h.Until, "now": h.Now, "ws": ws.UUID(), "webhook": w.UUID(),
	}).Scan(&rows).Error
	if err == nil && len(rows) == 0 {
		err = gorm.ErrRecordNotFound
	}
	if err != nil {
		return webhook.Delivery{}, webhook.Webhook{}, translate(err, "claim a delivery")
	}
	return rows[0].delivery(), receiver.webhook(), nil
}

// Finish implements courier.Book.
func (*DeliveryStore) Finish(ctx context.Context, ws id.Workspace, d webhook.Delivery, holder uuid.UUID, now time.Time) error {
	fields := deliveryRowOf(d).progress()
	fields["holder"], fields["leased_until"] = nil, nil
	done := deliveries(ctx, ws, d.Webhook).Where("id = ? AND holder = ?", d.ID.UUID(), holder).Updates(fields)
	if err := changed(done, "keep what came of a delivery"); err != nil {
		return err
	}
	health := map[string]any{"failing_since": gorm.Expr("coalesce(failing_since, ?)", now)}
	if d.State == webhook.Delivered {
		health = map[string]any{"failing_since": nil, "last_delivered_at": now}
	}
	done = scoped(ctx, ws).Model(&webhookRow{}).Where("id = ?", d.Webhook.UUID()).UpdateColumns(health)
	return changed(done, "keep how a webhook does")
}

var (
	_ courier.Desk = (*WebhookDesk)(nil)
	_ courier.Book = (*DeliveryStore)(nil)
)
