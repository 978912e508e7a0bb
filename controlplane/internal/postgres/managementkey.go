package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type managementKeyRow struct {
	ID            uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID   uuid.UUID  `gorm:"column:workspace_id"`
	KID           string     `gorm:"column:kid"`
	Name          string     `gorm:"column:name"`
	Suffix        string     `gorm:"column:suffix"`
	Status        string     `gorm:"column:status"`
	SecretHash    []byte     `gorm:"column:secret_hash"`
	PreviousHash  []byte     `gorm:"column:previous_hash"`
	PreviousUntil *time.Time `gorm:"column:previous_until"`
	CreatedBy     uuid.UUID  `gorm:"column:created_by"`
	Template      string     `gorm:"column:template"`
	Scopes        textArray  `gorm:"column:scopes"`
	ExpiresAt     *time.Time `gorm:"column:expires_at"`
	LastUsedAt    *time.Time `gorm:"column:last_used_at"`
	Version       int64      `gorm:"column:version"`
	CreatedAt     time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt     time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (managementKeyRow) TableName() string { return "management_keys" }

func managementKeyRowOf(k managementkey.Key) managementKeyRow {
	return managementKeyRow{
		ID: k.ID.UUID(), WorkspaceID: k.Workspace.UUID(), KID: k.KID, Name: k.Name, Suffix: k.Suffix, Status: string(k.Status),
		SecretHash: hashBytes(k.SecretHash), PreviousHash: hashBytes(k.PreviousHash), PreviousUntil: k.PreviousUntil,
		CreatedBy: k.CreatedBy.UUID(), Template: string(k.Template), Scopes: k.Scopes, ExpiresAt: k.ExpiresAt,
		LastUsedAt: k.LastUsedAt, Version: k.Version, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
}

func (r managementKeyRow) key() managementkey.Key {
	return managementkey.Key{
		ID: id.FromUUID[id.ManagementKeyKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), KID: r.KID,
		Name: r.Name, Suffix: r.Suffix, Status: policy.KeyStatus(r.Status), CreatedBy: id.FromUUID[id.UserKind](r.CreatedBy),
		SecretHash: hashOf(r.SecretHash), PreviousHash: hashOf(r.PreviousHash), PreviousUntil: utc(r.PreviousUntil),
		ExpiresAt: utc(r.ExpiresAt), LastUsedAt: utc(r.LastUsedAt), Template: managementkey.Template(r.Template),
		Scopes: r.Scopes.list(), Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes. last_used_at is not one:
// it is noted beside, and a change must not set it back.
func (r managementKeyRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "suffix": r.Suffix, "status": r.Status, "secret_hash": r.SecretHash,
		"previous_hash": r.PreviousHash, "previous_until": r.PreviousUntil, "template": r.Template, "scopes": r.Scopes,
		"expires_at": r.ExpiresAt, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// ManagementKeyStore keeps management keys.
type ManagementKeyStore struct{}

// NewManagementKeyStore returns a store that works in the transaction of its context.
func NewManagementKeyStore() *ManagementKeyStore { return &ManagementKeyStore{} }

// Create implements managementkey.Store.
func (*ManagementKeyStore) Create(ctx context.Context, ws id.Workspace, k managementkey.Key) error {
	row := managementKeyRowOf(k)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a management key")
}

// Get implements managementkey.Store.
func (*ManagementKeyStore) Get(ctx context.Context, ws id.Workspace, key id.ManagementKey) (managementkey.Key, error) {
	var row managementKeyRow
	err := scoped(ctx, ws).Where("id = ?", key.UUID()).Take(&row).Error
	return row.key(), translate(err, "read a management key")
}

// List implements managementkey.Store.
func (*ManagementKeyStore) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[managementkey.Key], error) {
	return newest(scoped(ctx, ws), "id", q, func(r managementKeyRow) uuid.UUID { return r.ID }, managementKeyRow.key, "list management keys")
}

// Update implements managementkey.Store.
func (*ManagementKeyStore) Update(ctx context.Context, ws id.Workspace, k managementkey.Key) error {
	row := managementKeyRowOf(k)
	own := scoped(ctx, ws).Model(&managementKeyRow{}).Where("id = ?", row.ID)
	return updated(own, k.Version, row.changeable(), "update a management key")
}

// RevokeAll implements workspace.Revoker. Management keys are not published,
// so it names no kids.
func (*ManagementKeyStore) RevokeAll(ctx context.Context, ws id.Workspace, _ int64, at time.Time) ([]string, error) {
	err := scoped(ctx, ws).Model(&managementKeyRow{}).Where("status <> ?", string(policy.KeyRevoked)).Updates(map[string]any{
		"status": string(policy.KeyRevoked), "previous_hash": nil, "previous_until": nil,
		"version": gorm.Expr("version + 1"), "updated_at": at,
	}).Error
	return nil, translate(err, "revoke all management keys")
}

// ManagementKeyDirectory finds management keys of any workspace, as the system role.
type ManagementKeyDirectory struct{}

// NewManagementKeyDirectory returns a directory that works in the system
// transaction of its context.
func NewManagementKeyDirectory() *ManagementKeyDirectory { return &ManagementKeyDirectory{} }

// ByKID implements managementkey.Directory.
func (*ManagementKeyDirectory) ByKID(ctx context.Context, kid string) (managementkey.Key, workspace.Member, error) {
	var row managementKeyRow
	if err := system(ctx).Where("kid = ?", kid).Take(&row).Error; err != nil {
		return managementkey.Key{}, workspace.Member{}, translate(err, "look a management key up")
	}
	var person personRow
	err := people(system(ctx)).Where("members.workspace_id = ? AND members.user_id = ?", row.WorkspaceID, row.CreatedBy).Take(&person).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row.key(), workspace.Member{}, nil
	}
	return row.key(), person.member(), translate(err, "look a member up")
}

// Touch implements managementkey.Directory.
func (*ManagementKeyDirectory) Touch(ctx context.Context, key id.ManagementKey, at time.Time) error {
	done := system(ctx).Model(&managementKeyRow{}).Where("id = ?", key.UUID()).UpdateColumn("last_used_at", at)
	return changed(done, "note the use of a management key")
}

var (
	_ managementkey.Store     = (*ManagementKeyStore)(nil)
	_ managementkey.Directory = (*ManagementKeyDirectory)(nil)
	_ workspace.Revoker       = (*ManagementKeyStore)(nil)
)
