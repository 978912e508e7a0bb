package postgres

import (
	"context"
	"maps"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type apiKeyRow struct {
	ID               uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID      uuid.UUID  `gorm:"column:workspace_id"`
	KID              string     `gorm:"column:kid"`
	Name             string     `gorm:"column:name"`
	Suffix           string     `gorm:"column:suffix"`
	Status           string     `gorm:"column:status"`
	SecretHash       []byte     `gorm:"column:secret_hash"`
	PreviousHash     []byte     `gorm:"column:previous_hash"`
	PreviousUntil    *time.Time `gorm:"column:previous_until"`
	CreatedBy        *uuid.UUID `gorm:"column:created_by"`
	ExpiresAt        *time.Time `gorm:"column:expires_at"`
	LastUsedAt       *time.Time `gorm:"column:last_used_at"`
	Models           textArray  `gorm:"column:models"`
	Surfaces         textArray  `gorm:"column:surfaces"`
	Scopes           textArray  `gorm:"column:scopes"`
	RoutingProfileID *uuid.UUID `gorm:"column:routing_profile_id"`
	DepartmentID     *uuid.UUID `gorm:"column:department_id"`
	RouteID          *uuid.UUID `gorm:"column:route_id"`
	Limits           limitsRow  `gorm:"embedded"`
	Agent            string     `gorm:"column:agent"`
	Version          int64      `gorm:"column:version"`
	Revision         int64      `gorm:"column:revision"`
	MinRevision      int64      `gorm:"column:min_revision"`
	CreatedAt        time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt        time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (apiKeyRow) TableName() string { return "api_keys" }

func apiKeyRowOf(k apikey.Key) apiKeyRow {
	return apiKeyRow{
		ID: k.ID.UUID(), WorkspaceID: k.Workspace.UUID(), KID: k.KID, Name: k.Name, Suffix: k.Suffix, Status: string(k.Status),
		SecretHash: hashBytes(k.SecretHash), PreviousHash: hashBytes(k.PreviousHash), PreviousUntil: k.PreviousUntil,
		CreatedBy: uuidPtr(k.CreatedBy.UUID()), ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt,
		Models: k.Models, Surfaces: textsOf(k.Surfaces), Scopes: k.Scopes,
		RoutingProfileID: uuidPtr(k.Profile.UUID()), DepartmentID: uuidPtr(k.Department.UUID()), RouteID: uuidPtr(k.Route.UUID()),
		Limits: limitsRowOf(k.Limits), Agent: k.Agent,
		Version: k.Version, Revision: k.Revision, MinRevision: k.MinRevision, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
}

func (r apiKeyRow) key() apikey.Key {
	return apikey.Key{
		ID: id.FromUUID[id.KeyKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), KID: r.KID, Name: r.Name,
		Suffix: r.Suffix, Status: policy.KeyStatus(r.Status), CreatedBy: id.FromUUID[id.UserKind](uuidOf(r.CreatedBy)),
		SecretHash: hashOf(r.SecretHash), PreviousHash: hashOf(r.PreviousHash), PreviousUntil: utc(r.PreviousUntil),
		ExpiresAt: utc(r.ExpiresAt), LastUsedAt: utc(r.LastUsedAt),
		Models: r.Models.list(), Surfaces: surfacesOf(r.Surfaces), Scopes: r.Scopes.list(),
		Profile: id.FromUUID[id.ProfileKind](uuidOf(r.RoutingProfileID)), Department: id.FromUUID[id.DepartmentKind](uuidOf(r.DepartmentID)),
		Route:  id.FromUUID[id.RouteKind](uuidOf(r.RouteID)),
		Limits: r.Limits.limits(), Agent: r.Agent,
		Version: r.Version, Revision: r.Revision, MinRevision: r.MinRevision,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes. last_used_at is not one:
// it is noted beside, and a change must not set it back.
func (r apiKeyRow) changeable() map[string]any {
	columns := map[string]any{
		"name": r.Name, "suffix": r.Suffix, "status": r.Status, "secret_hash": r.SecretHash,
		"previous_hash": r.PreviousHash, "previous_until": r.PreviousUntil, "expires_at": r.ExpiresAt,
		"models": r.Models, "surfaces": r.Surfaces, "scopes": r.Scopes,
		"routing_profile_id": r.RoutingProfileID, "department_id": r.DepartmentID, "route_id": r.RouteID, "version": r.Version, "revision": r.Revision,
		"min_revision": r.MinRevision, "updated_at": r.UpdatedAt, "agent": r.Agent,
	}
	maps.Copy(columns, r.Limits.changeable())
	return columns
}

// APIKeyStore keeps API keys.
type APIKeyStore struct{}

// NewAPIKeyStore returns a store that works in the transaction of its context.
func NewAPIKeyStore() *APIKeyStore { return &APIKeyStore{} }

// Create implements apikey.Store.
func (*APIKeyStore) Create(ctx context.Context, ws id.Workspace, k apikey.Key) error {
	row := apiKeyRowOf(k)
	return translate(tenant(ctx, ws).Create(&row).Error, "create an api key")
}

// Get implements apikey.Store.
func (*APIKeyStore) Get(ctx context.Context, ws id.Workspace, key id.Key) (apikey.Key, error) {
	var row apiKeyRow
	err := scoped(ctx, ws).Where("id = ?", key.UUID()).Take(&row).Error
	return row.key(), translate(err, "read an api key")
}

// List implements apikey.Store.
func (*APIKeyStore) List(ctx context.Context, ws id.Workspace, q page.Query, f apikey.Filter, now time.Time) (page.Result[apikey.Key], error) {
	return newest(withStatus(scoped(ctx, ws), f.Status, now), "id", q, func(r apiKeyRow) uuid.UUID { return r.ID }, apiKeyRow.key, "list api keys")
}

// withStatus narrows to the effective status.
func withStatus(db *gorm.DB, status policy.KeyStatus, now time.Time) *gorm.DB {
	switch status {
	case "":
		return db
	case policy.KeyRevoked:
		return db.Where("status = ?", string(status))
	case credential.Expired:
		return db.Where("status <> ? AND expires_at <= ?", string(policy.KeyRevoked), now)
	default:
		return db.Where("status = ? AND (expires_at IS NULL OR expires_at > ?)", string(status), now)
	}
}

// Update implements apikey.Store.
func (*APIKeyStore) Update(ctx context.Context, ws id.Workspace, k apikey.Key) error {
	row := apiKeyRowOf(k)
	own := scoped(ctx, ws).Model(&apiKeyRow{}).Where("id = ?", row.ID)
	return updated(own, k.Version, row.changeable(), "update an api key")
}

// ByKIDs returns the keys of the workspace that have one of the kids, for
// their documents.
func (*APIKeyStore) ByKIDs(ctx context.Context, ws id.Workspace, kids []string) ([]apikey.Key, error) {
	var rows []apiKeyRow
	err := scoped(ctx, ws).Where("kid = ANY(?::text[])", textArray(kids)).Order("id").Find(&rows).Error
	if err != nil {
		return nil, translate(err, "read api keys")
	}
	keys := make([]apikey.Key, len(rows))
	for i, r := range rows {
		keys[i] = r.key()
	}
	return keys, nil
}

// Listing implements lifecycle.Keys.
func (*APIKeyStore) Listing(ctx context.Context, ws id.Workspace, names []string) ([]lifecycle.Key, error) {
	var rows []apiKeyRow
	err := scoped(ctx, ws).Select("id", "name", "models").Where("status <> ?", string(policy.KeyRevoked)).
		Where("models && ?::text[] OR array_to_string(models, ' ') LIKE '%*%'", textArray(names)).Order("id").Find(&rows).Error
	if err != nil {
		return nil, translate(err, "read api keys that list models")
	}
	keys := make([]lifecycle.Key, len(rows))
	for i, r := range rows {
		keys[i] = lifecycle.Key{ID: id.FromUUID[id.KeyKind](r.ID), Name: r.Name, Models: r.Models.list()}
	}
	return keys, nil
}

// RevokeAll implements workspace.Revoker.
func (*APIKeyStore) RevokeAll(ctx context.Context, ws id.Workspace, revision int64, at time.Time) ([]string, error) {
	var kids []string
	err := tenant(ctx, ws).Raw(`UPDATE api_keys SET status = 'revoked', previous_hash = NULL, previous_until = NULL,
			version = version + 1, revision = ?, updated_at = ?
		WHERE workspace_id = ? AND status <> 'revoked' RETURNING kid`, revision, at, ws.UUID()).Scan(&kids).Error
	return kids, translate(err, "revoke all api keys")
}

func textsOf(surfaces []catalog.Surface) textArray {
	list := make(textArray, len(surfaces))
	for i, s := range surfaces {
		list[i] = string(s)
	}
	return list
}

func surfacesOf(texts textArray) []catalog.Surface {
	if len(texts) == 0 {
		return nil
	}
	list := make([]catalog.Surface, len(texts))
	for i, s := range texts {
		list[i] = catalog.Surface(s)
	}
	return list
}

var (
	_ apikey.Store      = (*APIKeyStore)(nil)
	_ workspace.Revoker = (*APIKeyStore)(nil)
	_ lifecycle.Keys    = (*APIKeyStore)(nil)
)
