package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type deliveryRow struct {
	ID          uuid.UUID                        `gorm:"column:id;primaryKey"`
	WorkspaceID uuid.UUID                        `gorm:"column:workspace_id"`
	WebhookID   uuid.UUID                        `gorm:"column:webhook_id"`
	EventID     uuid.UUID                        `gorm:"column:event_id"`
	Type        string                           `gorm:"column:type"`
	Body        string                           `gorm:"column:body"`
	State       string                           `gorm:"column:state"`
	Round       int                              `gorm:"column:round"`
	Attempts    jsonColumn[[]deliveryAttemptRow] `gorm:"column:attempts"`
	DueAt       *time.Time                       `gorm:"column:due_at"`
	CreatedAt   time.Time                        `gorm:"column:created_at;autoCreateTime:false"`
}

type deliveryAttemptRow struct {
	At       time.Time     `json:"at"`
	Status   int           `json:"status,omitempty"`
	Duration time.Duration `json:"duration_ns"`
	Trouble  string        `json:"trouble,omitempty"`
}

func (deliveryRow) TableName() string { return "webhook_deliveries" }

func deliveryRowOf(d webhook.Delivery) deliveryRow {
	row := deliveryRow{
		ID: d.ID.UUID(), WorkspaceID: d.Workspace.UUID(), WebhookID: d.Webhook.UUID(), EventID: d.Event.UUID(), Type: string(d.Type),
		Body: d.Body, State: string(d.State), Round: d.Round, DueAt: d.DueAt, CreatedAt: d.CreatedAt,
	}
	row.Attempts.v = make([]deliveryAttemptRow, len(d.Attempts))
	for i, a := range d.Attempts {
		row.Attempts.v[i] = deliveryAttemptRow{At: a.At, Status: a.Status, Duration: a.Duration, Trouble: string(a.Trouble)}
	}
	return row
}

func (r deliveryRow) delivery() webhook.Delivery {
	d := webhook.Delivery{
		ID: id.FromUUID[id.DeliveryKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID),
		Webhook: id.FromUUID[id.WebhookKind](r.WebhookID), Event: id.FromUUID[id.EventKind](r.EventID), Type: webhook.Type(r.Type),
		Body: r.Body, State: webhook.State(r.State), Round: r.Round, DueAt: utc(r.DueAt), CreatedAt: r.CreatedAt.UTC(),
	}
	for _, a := range r.Attempts.v {
		d.Attempts = append(d.Attempts, webhook.Attempt{At: a.At.UTC(), Status: a.Status, Duration: a.Duration, Trouble: webhook.Trouble(a.Trouble)})
	}
	return d
}

// progress are the columns that say how far a delivery has come.
func (r deliveryRow) progress() map[string]any {
	return map[string]any{"state": r.State, "round": r.Round, "attempts": r.Attempts, "due_at": r.DueAt}
}

// DeliveryStore keeps deliveries.
type DeliveryStore struct{}

// NewDeliveryStore returns a store that works in the transaction of its context.
func NewDeliveryStore() *DeliveryStore { return &DeliveryStore{} }

// Add implements webhook.Deliveries.
func (*DeliveryStore) Add(ctx context.Context, ws id.Workspace, list []webhook.Delivery) error {
	if len(list) == 0 {
		return nil
	}
	rows := make([]deliveryRow, len(list))
	for i, d := range list {
		rows[i] = deliveryRowOf(d)
	}
	return translate(tenant(ctx, ws).Create(&rows).Error, "put an event on its way")
}

// Get implements webhook.Deliveries.
func (*DeliveryStore) Get(ctx context.Context, ws id.Workspace, w id.Webhook, d id.Delivery) (webhook.Delivery, error) {
	var row deliveryRow
	err := deliveries(ctx, ws, w).Where("id = ?", d.UUID()).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).Take(&row).Error
	return row.delivery(), translate(err, "read a delivery")
}

// List implements webhook.Deliveries.
func (*DeliveryStore) List(ctx context.Context, ws id.Workspace, w id.Webhook, q page.Query, f webhook.Filter) (page.Result[webhook.Delivery], error) {
	db := deliveries(ctx, ws, w)
	if f.State != "" {
		db = db.Where("state = ?", string(f.State))
	}
	return newest(db, "id", q, func(r deliveryRow) uuid.UUID { return r.ID }, deliveryRow.delivery, "list deliveries")
}

// Requeue implements webhook.Deliveries.
func (*DeliveryStore) Requeue(ctx context.Context, ws id.Workspace, d webhook.Delivery) error {
	done := deliveries(ctx, ws, d.Webhook).Where("id = ?", d.ID.UUID()).Updates(map[string]any{
		"state": string(d.State), "round": d.Round, "due_at": d.DueAt,
	})
	return changed(done, "put a delivery on its way again")
}

// Abandon implements webhook.Deliveries.
func (*DeliveryStore) Abandon(ctx context.Context, ws id.Workspace, w id.Webhook) error {
	err := deliveries(ctx, ws, w).Where("due_at IS NOT NULL").Updates(map[string]any{
		"state": string(webhook.GivenUp), "due_at": nil, "holder": nil, "leased_until": nil,
	}).Error
	return translate(err, "give deliveries up")
}

func deliveries(ctx context.Context, ws id.Workspace, w id.Webhook) *gorm.DB {
	return scoped(ctx, ws).Model(&deliveryRow{}).Where("webhook_id = ?", w.UUID())
}

var _ webhook.Deliveries = (*DeliveryStore)(nil)
