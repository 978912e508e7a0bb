package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type webhookRow struct {
	ID            uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID   uuid.UUID  `gorm:"column:workspace_id"`
	Name          string     `gorm:"column:name"`
	URL           string     `gorm:"column:url"`
	Host          string     `gorm:"column:host"`
	Events        textArray  `gorm:"column:events"`
	Enabled       bool       `gorm:"column:enabled"`
	Suffix        string     `gorm:"column:suffix"`
	Sealed        []byte     `gorm:"column:sealed"`
	Previous      []byte     `gorm:"column:previous"`
	PreviousUntil *time.Time `gorm:"column:previous_until"`
	// These two are written where a delivery ends: a change of the row must not
	// undo one that came meanwhile.
	FailingSince    *time.Time `gorm:"column:failing_since"`
	LastDeliveredAt *time.Time `gorm:"column:last_delivered_at"`
	CreatedBy       *uuid.UUID `gorm:"column:created_by"`
	Version         int64      `gorm:"column:version"`
	CreatedAt       time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt       time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (webhookRow) TableName() string { return "webhooks" }

func webhookRowOf(w webhook.Webhook) webhookRow {
	row := webhookRow{
		ID: w.ID.UUID(), WorkspaceID: w.Workspace.UUID(), Name: w.Name, URL: w.URL, Host: webhook.HostOf(w.URL), Enabled: w.Enabled,
		Suffix: w.Suffix, Sealed: w.Sealed, Previous: w.Previous, PreviousUntil: w.PreviousUntil, FailingSince: w.FailingSince,
		LastDeliveredAt: w.LastDeliveredAt, CreatedBy: uuidPtr(w.CreatedBy.UUID()), Version: w.Version, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
	for _, t := range w.Events {
		row.Events = append(row.Events, string(t))
	}
	return row
}

func (r webhookRow) webhook() webhook.Webhook {
	w := webhook.Webhook{
		ID: id.FromUUID[id.WebhookKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Name: r.Name, URL: r.URL,
		Enabled: r.Enabled, Suffix: r.Suffix, Sealed: r.Sealed, Previous: r.Previous, PreviousUntil: utc(r.PreviousUntil),
		FailingSince: utc(r.FailingSince), LastDeliveredAt: utc(r.LastDeliveredAt), CreatedBy: id.FromUUID[id.UserKind](uuidOf(r.CreatedBy)),
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	for _, t := range r.Events.list() {
		w.Events = append(w.Events, webhook.Type(t))
	}
	return w
}

// changeable are the columns that an update writes.
func (r webhookRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "url": r.URL, "host": r.Host, "events": r.Events, "enabled": r.Enabled, "suffix": r.Suffix, "sealed": r.Sealed,
		"previous": r.Previous, "previous_until": r.PreviousUntil, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// WebhookStore keeps webhooks.
type WebhookStore struct{}

// NewWebhookStore returns a store that works in the transaction of its context.
func NewWebhookStore() *WebhookStore { return &WebhookStore{} }

// Create implements webhook.Store.
func (*WebhookStore) Create(ctx context.Context, ws id.Workspace, w webhook.Webhook) error {
	row := webhookRowOf(w)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a webhook")
}

// Get implements webhook.Store.
func (*WebhookStore) Get(ctx context.Context, ws id.Workspace, w id.Webhook) (webhook.Webhook, error) {
	var row webhookRow
	err := scoped(ctx, ws).Where("id = ?", w.UUID()).Take(&row).Error
	return row.webhook(), translate(err, "read a webhook")
}

// Update implements webhook.Store.
func (*WebhookStore) Update(ctx context.Context, ws id.Workspace, w webhook.Webhook) error {
	row := webhookRowOf(w)
	own := scoped(ctx, ws).Model(&webhookRow{}).Where("id = ?", row.ID)
	return updated(own, w.Version, row.changeable(), "update a webhook")
}

// Delete implements webhook.Store.
func (*WebhookStore) Delete(ctx context.Context, ws id.Workspace, w webhook.Webhook) error {
	own := scoped(ctx, ws).Model(&webhookRow{}).Where("id = ?", w.ID.UUID())
	done := own.Session(fresh).Where("version = ?", w.Version).Delete(&webhookRow{})
	return versioned(done, own.Session(fresh), "delete a webhook")
}

// List implements webhook.Store.
func (*WebhookStore) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[webhook.Webhook], error) {
	return newest(scoped(ctx, ws), "id", q, func(r webhookRow) uuid.UUID { return r.ID }, webhookRow.webhook, "list webhooks")
}

// Count implements webhook.Directory.
func (*WebhookStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&webhookRow{}), "count webhooks")
}

// Taking implements webhook.Directory.
func (*WebhookStore) Taking(ctx context.Context, ws id.Workspace, t webhook.Type) ([]id.Webhook, error) {
	var ids []uuid.UUID
	err := scoped(ctx, ws).Model(&webhookRow{}).Where("enabled AND ? = ANY (events)", string(t)).Order("id").Pluck("id", &ids).Error
	list := make([]id.Webhook, len(ids))
	for i, u := range ids {
		list[i] = id.FromUUID[id.WebhookKind](u)
	}
	return list, translate(err, "look for webhooks")
}

// Turn implements webhook.Directory.
func (s *WebhookStore) Turn(ctx context.Context, ws id.Workspace, w id.Webhook, now time.Time, every time.Duration) (webhook.Webhook, error) {
	var row struct {
		Webhook  webhookRow `gorm:"embedded"`
		TestedAt *time.Time `gorm:"column:tested_at"`
	}
	own := scoped(ctx, ws).Table("webhooks").Where("id = ?", w.UUID())
	if err := own.Session(fresh).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).Take(&row).Error; err != nil {
		return webhook.Webhook{}, translate(err, "read a webhook")
	}
	if at := row.TestedAt; at != nil && now.Before(at.Add(every)) {
		return webhook.Webhook{}, fault.New(fault.RateLimitExceeded, "The webhook was tested a moment ago. Test it again shortly.").After(at.Add(every).Sub(now))
	}
	done := own.Session(fresh).UpdateColumn("tested_at", now)
	return row.Webhook.webhook(), changed(done, "note the test of a webhook")
}

// RevokeAll implements workspace.Revoker: webhooks go with their workspace, and
// with them their secrets and what was still to be delivered.
func (*WebhookStore) RevokeAll(ctx context.Context, ws id.Workspace, _ int64, _ time.Time) ([]string, error) {
	return nil, translate(scoped(ctx, ws).Delete(&webhookRow{}).Error, "delete all webhooks")
}

var (
	_ webhook.Store     = (*WebhookStore)(nil)
	_ webhook.Directory = (*WebhookStore)(nil)
	_ workspace.Revoker = (*WebhookStore)(nil)
)
