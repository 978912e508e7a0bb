package postgres

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// WebhookSeals looks over all workspaces for what an old key sealed, as the
// system role.
type WebhookSeals struct{}

// NewWebhookSeals returns a reader that works in the transaction of its context.
func NewWebhookSeals() *WebhookSeals { return &WebhookSeals{} }

// webhookSealsSQL are all secrets of webhooks, each with its seal's mark.
var webhookSealsSQL = "SELECT w.workspace_id, w.id, " + markOf("s.sealed") + ` AS mark
	FROM webhooks w CROSS JOIN LATERAL (VALUES (w.sealed), (w.previous)) s (sealed) WHERE s.sealed IS NOT NULL`

// Stale implements reseal.Seals.
func (*WebhookSeals) Stale(ctx context.Context, marks [][]byte) ([]webhook.Place, error) {
	var rows []struct{ WorkspaceID, ID uuid.UUID }
	err := staleSeals(ctx, webhookSealsSQL, "workspace_id, id", marks, &rows)
	list := make([]webhook.Place, len(rows))
	for i, r := range rows {
		list[i] = webhook.Place{Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Webhook: id.FromUUID[id.WebhookKind](r.ID)}
	}
	return list, err
}

// Count implements reseal.Seals.
func (*WebhookSeals) Count(ctx context.Context) (reseal.Count, error) {
	return countSeals(ctx, webhookSealsSQL)
}

// Renew implements webhook.Renewal. Where a rotation came between, its new seals
// stay.
func (*WebhookStore) Renew(ctx context.Context, ws id.Workspace, before, after webhook.Webhook) error {
	err := scoped(ctx, ws).Model(&webhookRow{}).
		Where("id = ? AND sealed = ? AND previous IS NOT DISTINCT FROM ?", before.ID.UUID(), []byte(before.Sealed), []byte(before.Previous)).
		UpdateColumns(map[string]any{"sealed": []byte(after.Sealed), "previous": []byte(after.Previous)}).Error
	return translate(err, "keep renewed seals of a webhook")
}

var (
	_ reseal.Seals[webhook.Place] = (*WebhookSeals)(nil)
	_ webhook.Renewal             = (*WebhookStore)(nil)
)
