package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type auditRow struct {
	ID          uuid.UUID                   `gorm:"column:id;primaryKey"`
	WorkspaceID uuid.UUID                   `gorm:"column:workspace_id"`
	At          time.Time                   `gorm:"column:at"`
	ActorKind   string                      `gorm:"column:actor_kind"`
	ActorID     string                      `gorm:"column:actor_id"`
	ActorUser   *uuid.UUID                  `gorm:"column:actor_user"`
	ActorName   string                      `gorm:"column:actor_name"`
	Action      string                      `gorm:"column:action"`
	TargetType  string                      `gorm:"column:target_type"`
	TargetID    string                      `gorm:"column:target_id"`
	Diff        jsonColumn[[]auditRowField] `gorm:"column:diff"`
	RequestID   string                      `gorm:"column:request_id"`
	Revision    int64                       `gorm:"column:revision"`
}

// auditRowField is one element of the column diff.
type auditRowField struct {
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func (auditRow) TableName() string { return "audit_events" }

func auditRowOf(e audit.Event) auditRow {
	fields := make([]auditRowField, len(e.Diff))
	for i, c := range e.Diff {
		fields[i] = auditRowField(c)
	}
	return auditRow{
		ID: e.ID.UUID(), WorkspaceID: e.Workspace.UUID(), At: e.At, ActorKind: string(e.Actor.Kind), ActorID: e.Actor.ID,
		ActorUser: uuidPtr(e.Actor.User.UUID()), ActorName: e.Actor.Name, Action: e.Action, TargetType: e.TargetType,
		TargetID: e.TargetID, Diff: jsonColumn[[]auditRowField]{fields}, RequestID: e.RequestID, Revision: e.Revision,
	}
}

func (r auditRow) event() audit.Event {
	var diff []audit.Change
	for _, f := range r.Diff.v {
		diff = append(diff, audit.Change(f))
	}
	return audit.Event{
		ID: id.FromUUID[id.AuditEventKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), At: r.At.UTC(),
		Actor: audit.Actor{
			Kind: audit.ActorKind(r.ActorKind), ID: r.ActorID, User: id.FromUUID[id.UserKind](uuidOf(r.ActorUser)), Name: r.ActorName,
		},
		Action: r.Action, TargetType: r.TargetType, TargetID: r.TargetID, Diff: diff, RequestID: r.RequestID, Revision: r.Revision,
	}
}

// AuditStore keeps audit events.
type AuditStore struct{}

// NewAuditStore returns a store that works in the transaction of its context.
func NewAuditStore() *AuditStore { return &AuditStore{} }

// Append implements audit.Store.
func (*AuditStore) Append(ctx context.Context, ws id.Workspace, e audit.Event) error {
	row := auditRowOf(e)
	return translate(tenant(ctx, ws).Create(&row).Error, "append an audit event")
}

// List implements audit.Store.
func (*AuditStore) List(ctx context.Context, ws id.Workspace, q page.Query, f audit.Filter) (page.Result[audit.Event], error) {
	return newest(filtered(scoped(ctx, ws), f), "id", q, func(r auditRow) uuid.UUID { return r.ID }, auditRow.event, "list audit events")
}

func filtered(db *gorm.DB, f audit.Filter) *gorm.DB {
	for column, value := range map[string]string{"action": f.Action, "target_type": f.TargetType, "target_id": f.TargetID} {
		if value != "" {
			db = db.Where(map[string]any{column: value})
		}
	}
	if f.Actor != "" {
		by := db.Session(&gorm.Session{NewDB: true}).Where("actor_id = ?", f.Actor)
		if user, err := id.Parse[id.UserKind](f.Actor); err == nil {
			by = by.Or("actor_user = ?", user.UUID())
		}
		db = db.Where(by)
	}
	if !f.Since.IsZero() {
		db = db.Where("at >= ?", f.Since)
	}
	if !f.Until.IsZero() {
		db = db.Where("at < ?", f.Until)
	}
	return db
}

var _ audit.Store = (*AuditStore)(nil)
