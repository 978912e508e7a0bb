package postgres

import (
	"context"
	"encoding/hex"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// WebhookSeals looks over all workspaces for what an old key sealed, as the
// system role.
type WebhookSeals struct{}

// NewWebhookSeals returns a reader that works in the transaction of its context.
func NewWebhookSeals() *WebhookSeals { return &WebhookSeals{} }

// webhookSealsSQL are all secrets of webhooks, each with its seal's mark.
const webhookSealsSQL = `SELECT w.workspace_id, w.id, encode(substring(s.sealed FROM 1 FOR 5), 'hex') AS mark
	FROM webhooks w CROSS JOIN LATERAL (VALUES (w.sealed), (w.previous)) s (sealed) WHERE s.sealed IS NOT NULL`

// Stale implements webhook.Seals.
func (*WebhookSeals) Stale(ctx context.Context, marks [][]byte) ([]webhook.Place, error) {
	current := make(textArray, len(marks))
	for i, mark := range marks {
		current[i] = hex.EncodeToString(mark)
	}
	var rows []struct{ WorkspaceID, ID uuid.UUID }
	err := system(ctx).Raw("SELECT DISTINCT workspace_id, id FROM ("+webhookSealsSQL+") s WHERE mark <> ALL (?) ORDER BY 1, 2", current).Scan(&rows).Error
	list := make([]webhook.Place, len(rows))
	for i, r := range rows {
		list[i] = webhook.Place{Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Webhook: id.FromUUID[id.WebhookKind](r.ID)}
	}
	return list, translate(err, "look for old seals of webhooks")
}

// Count implements webhook.Seals.
func (*WebhookSeals) Count(ctx context.Context) (reseal.Count, error) {
	var rows []struct {
		Mark  string
		Count int
	}
	err := system(ctx).Raw("SELECT mark, count(*) AS count FROM (" + webhookSealsSQL + ") s GROUP BY 1").Scan(&rows).Error
	count := make(reseal.Count, len(rows))
	for _, r := range rows {
		mark, _ := hex.DecodeString(r.Mark) // Postgres wrote it
		key, _ := seal.SealedBy(mark)
		count[key] += r.Count
	}
	return count, translate(err, "count seals of webhooks")
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
	_ webhook.Seals   = (*WebhookSeals)(nil)
	_ webhook.Renewal = (*WebhookStore)(nil)
)
