package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

type overrideRow struct {
	Version     int64                                `gorm:"column:version;primaryKey;autoIncrement:false"`
	Document    jsonColumn[override.Document]        `gorm:"column:document"`
	Keys        jsonColumn[map[string]secret.Sealed] `gorm:"column:keys"`
	ActorKind   string                               `gorm:"column:actor_kind"`
	ActorName   string                               `gorm:"column:actor_name"`
	CreatedAt   time.Time                            `gorm:"column:created_at;autoCreateTime:false"`
	Revision    *int64                               `gorm:"column:revision"`
	PublishedAt *time.Time                           `gorm:"column:published_at"`
}

func (overrideRow) TableName() string { return "platform_catalogs" }

func overrideRowOf(s override.State) overrideRow {
	row := overrideRow{
		Version: s.Version, Document: jsonColumn[override.Document]{s.Document}, Keys: jsonColumn[map[string]secret.Sealed]{s.Keys},
		ActorKind: string(s.By.Kind), ActorName: s.By.Name, CreatedAt: s.CreatedAt, PublishedAt: s.PublishedAt,
	}
	if s.Revision != 0 {
		row.Revision = &s.Revision
	}
	return row
}

func (r overrideRow) state() override.State {
	s := override.State{
		Version: r.Version, Document: r.Document.v, Keys: r.Keys.v, CreatedAt: r.CreatedAt.UTC(), PublishedAt: utc(r.PublishedAt),
		By: audit.Actor{Kind: audit.ActorKind(r.ActorKind), Name: r.ActorName},
	}
	if r.Revision != nil {
		s.Revision = *r.Revision
	}
	return s
}

type platformAuditRow struct {
	ID         uuid.UUID                   `gorm:"column:id;primaryKey"`
	At         time.Time                   `gorm:"column:at"`
	ActorKind  string                      `gorm:"column:actor_kind"`
	ActorName  string                      `gorm:"column:actor_name"`
	Action     string                      `gorm:"column:action"`
	TargetType string                      `gorm:"column:target_type"`
	TargetID   string                      `gorm:"column:target_id"`
	Diff       jsonColumn[[]auditRowField] `gorm:"column:diff"`
	RequestID  string                      `gorm:"column:request_id"`
	Version    int64                       `gorm:"column:version"`
}

func (platformAuditRow) TableName() string { return "platform_audit_events" }

func platformAuditRowOf(e audit.Event) platformAuditRow {
	r := auditRowOf(e)
	return platformAuditRow{
		ID: r.ID, At: r.At, ActorKind: r.ActorKind, ActorName: r.ActorName, Action: r.Action, TargetType: r.TargetType,
		TargetID: r.TargetID, Diff: r.Diff, RequestID: r.RequestID, Version: r.Revision,
	}
}

func (r platformAuditRow) event() audit.Event {
	return auditRow{
		ID: r.ID, At: r.At, ActorKind: r.ActorKind, ActorName: r.ActorName, Action: r.Action, TargetType: r.TargetType,
		TargetID: r.TargetID, Diff: r.Diff, RequestID: r.RequestID, Revision: r.Version,
	}.event()
}

// overrideLock is the advisory lock of changes of the operator's catalog: "sbcat".
const overrideLock = 0x7362636174

// OverrideStore keeps the operator's catalog, in the system transaction of its
// context.
type OverrideStore struct{}

// NewOverrideStore returns a store.
func NewOverrideStore() *OverrideStore { return &OverrideStore{} }

// Lock implements override.Store.
func (*OverrideStore) Lock(ctx context.Context) error {
	return translate(system(ctx).Exec("SELECT pg_advisory_xact_lock(?)", int64(overrideLock)).Error, "lock the operator's catalog")
}

// Latest implements override.Store and override.Releases.
func (*OverrideStore) Latest(ctx context.Context) (override.State, error) {
	var row overrideRow
	err := system(ctx).Order("version DESC").Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return override.State{}, nil
	}
	return row.state(), translate(err, "read the operator's catalog")
}

// At implements override.History.
func (*OverrideStore) At(ctx context.Context, version int64) (override.State, error) {
	var row overrideRow
	err := system(ctx).Where("version = ?", version).Take(&row).Error
	return row.state(), translate(err, "read a version of the operator's catalog")
}

// Append implements override.Store.
func (*OverrideStore) Append(ctx context.Context, s override.State, e audit.Event) error {
	row, event := overrideRowOf(s), platformAuditRowOf(e)
	if err := system(ctx).Create(&row).Error; err != nil {
		return translate(err, "add a version of the operator's catalog")
	}
	if err := system(ctx).Create(&event).Error; err != nil {
		return translate(err, "append a platform audit event")
	}
	if err := markExecuted(ctx, system(ctx)); err != nil {
		return err
	}
	return translate(system(ctx).Exec("SELECT pg_notify(?, '')", outbox.Channel).Error, "wake the publisher")
}

// Trim implements override.Store.
func (*OverrideStore) Trim(ctx context.Context, present int64, keep int) error {
	db := system(ctx)
	if err := db.Exec("DELETE FROM platform_catalogs WHERE version <= ?", present-int64(keep)).Error; err != nil {
		return translate(err, "delete old versions of the operator's catalog")
	}
	return translate(db.Exec(`UPDATE platform_catalogs
		SET keys = (SELECT jsonb_object_agg(slug, NULL) FROM jsonb_object_keys(keys) slug)
		WHERE version < ? AND EXISTS (SELECT FROM jsonb_each(keys) WHERE value <> 'null')`, present).Error, "take keys from old versions of the operator's catalog")
}

// Version implements override.Releases.
func (*OverrideStore) Version(ctx context.Context) (int64, error) {
	var version int64
	err := system(ctx).Raw("SELECT coalesce(max(version), 0) FROM platform_catalogs").Scan(&version).Error
	return version, translate(err, "read the version of the operator's catalog")
}

// Published implements override.Releases.
func (*OverrideStore) Published(ctx context.Context, version, revision int64, at time.Time) error {
	return translate(system(ctx).Model(&overrideRow{}).Where("version <= ? AND revision IS NULL", version).
		Updates(map[string]any{"revision": revision, "published_at": at}).Error, "note a published catalog")
}

// Covering implements override.History.
func (*OverrideStore) Covering(ctx context.Context, version int64) (int64, error) {
	var revision int64
	err := system(ctx).Raw(`SELECT coalesce(min(revision), 0) FROM platform_catalogs WHERE version >= ?`, version).Scan(&revision).Error
	return revision, translate(err, "look a published catalog up")
}

// Events implements override.History.
func (*OverrideStore) Events(ctx context.Context, q page.Query) (page.Result[audit.Event], error) {
	return newest(system(ctx), "id", q, func(r platformAuditRow) uuid.UUID { return r.ID }, platformAuditRow.event, "list platform audit events")
}

var (
	_ override.Store    = (*OverrideStore)(nil)
	_ override.History  = (*OverrideStore)(nil)
	_ override.Releases = (*OverrideStore)(nil)
)
