package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type byokRow struct {
	ID          uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID uuid.UUID  `gorm:"column:workspace_id"`
	Provider    string     `gorm:"column:provider"`
	Name        string     `gorm:"column:name"`
	Prefix      string     `gorm:"column:prefix"`
	Suffix      string     `gorm:"column:suffix"`
	Sealed      []byte     `gorm:"column:sealed"`
	Use         string     `gorm:"column:use"`
	Position    int        `gorm:"column:position"`
	Enabled     bool       `gorm:"column:enabled"`
	Models      textArray  `gorm:"column:models"`
	APIKeys     textArray  `gorm:"column:api_keys"` // as ids are written
	CreatedBy   *uuid.UUID `gorm:"column:created_by"`
	// Verification is written by BYOKVerifications alone: a change of the row must
	// not undo one that came meanwhile.
	Verification  *jsonColumn[verificationRow] `gorm:"column:verification"`
	KeyGeneration int64                        `gorm:"column:key_generation"`
	Version       int64                        `gorm:"column:version"`
	CreatedAt     time.Time                    `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt     time.Time                    `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (byokRow) TableName() string { return "byok_credentials" }

func byokRowOf(c byok.Credential) byokRow {
	return byokRow{
		ID: c.ID.UUID(), WorkspaceID: c.Workspace.UUID(), Provider: c.Provider, Name: c.Name, Prefix: c.Prefix, Suffix: c.Suffix,
		Sealed: c.Sealed, Use: string(c.Use), Position: c.Position, Enabled: c.Enabled, Models: c.Models, APIKeys: id.Texts(c.APIKeys),
		CreatedBy: uuidPtr(c.CreatedBy.UUID()), Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Verification: verificationRowOf(c.Verification), KeyGeneration: c.KeyGeneration,
	}
}

func (r byokRow) credential() byok.Credential {
	return byok.Credential{
		ID: id.FromUUID[id.CredentialKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Provider: r.Provider,
		Name: r.Name, Prefix: r.Prefix, Suffix: r.Suffix, Sealed: r.Sealed, Use: policy.CredentialUse(r.Use), Position: r.Position,
		Enabled: r.Enabled, Models: r.Models.list(), APIKeys: idsOf[id.KeyKind](r.APIKeys),
		CreatedBy: id.FromUUID[id.UserKind](uuidOf(r.CreatedBy)),
		Version:   r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Verification: verificationOf(r.Verification),
		KeyGeneration: r.KeyGeneration,
	}
}

// changeable are the columns that an update writes.
func (r byokRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "prefix": r.Prefix, "suffix": r.Suffix, "sealed": r.Sealed, "use": r.Use, "position": r.Position,
		"enabled": r.Enabled, "models": r.Models, "api_keys": r.APIKeys, "version": r.Version, "updated_at": r.UpdatedAt,
		"key_generation": r.KeyGeneration,
	}
}

// BYOKStore keeps the keys that workspaces bring.
type BYOKStore struct{}

// NewBYOKStore returns a store that works in the transaction of its context.
func NewBYOKStore() *BYOKStore { return &BYOKStore{} }

// Create implements byok.Store.
func (*BYOKStore) Create(ctx context.Context, ws id.Workspace, c byok.Credential) error {
	row := byokRowOf(c)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a provider key")
}

// Get implements byok.Store.
func (*BYOKStore) Get(ctx context.Context, ws id.Workspace, credential id.Credential) (byok.Credential, error) {
	var row byokRow
	err := scoped(ctx, ws).Where("id = ?", credential.UUID()).Take(&row).Error
	return row.credential(), translate(err, "read a provider key")
}

// Update implements byok.Store.
func (*BYOKStore) Update(ctx context.Context, ws id.Workspace, c byok.Credential) error {
	row := byokRowOf(c)
	own := scoped(ctx, ws).Model(&byokRow{}).Where("id = ?", row.ID)
	done := own.Session(fresh).Where("version = ?", c.Version-1).Updates(row.changeable())
	return versioned(done, own.Session(fresh), "update a provider key")
}

// Delete implements byok.Store.
func (*BYOKStore) Delete(ctx context.Context, ws id.Workspace, c byok.Credential) error {
	own := scoped(ctx, ws).Model(&byokRow{}).Where("id = ?", c.ID.UUID())
	done := own.Session(fresh).Where("version = ?", c.Version).Delete(&byokRow{})
	return versioned(done, own.Session(fresh), "delete a provider key")
}

// List implements byok.Directory.
func (*BYOKStore) List(ctx context.Context, ws id.Workspace, q page.Query, f byok.Filter) (page.Result[byok.Credential], error) {
	db := scoped(ctx, ws)
	if f.Provider != "" {
		db = db.Where("provider = ?", f.Provider)
	}
	db, err := newestFirst(db, "id", q)
	if err != nil {
		return page.Result[byok.Credential]{}, err
	}
	var rows []byokRow
	if err := db.Find(&rows).Error; err != nil {
		return page.Result[byok.Credential]{}, translate(err, "list provider keys")
	}
	return cut(rows, q, func(r byokRow) uuid.UUID { return r.ID }, byokRow.credential), nil
}

// All implements byok.Directory.
func (*BYOKStore) All(ctx context.Context, ws id.Workspace) ([]byok.Credential, error) {
	var rows []byokRow
	err := scoped(ctx, ws).Order("provider, use, position").Find(&rows).Error
	if err != nil {
		return nil, translate(err, "read all provider keys")
	}
	list := make([]byok.Credential, len(rows))
	for i, r := range rows {
		list[i] = r.credential()
	}
	return list, nil
}

// Missing implements byok.Directory.
func (*BYOKStore) Missing(ctx context.Context, ws id.Workspace, keys []id.Key) ([]id.Key, error) {
	return missingKeys(ctx, ws, keys)
}

// missingKeys are those of the ids that name no API key of the workspace.
func missingKeys(ctx context.Context, ws id.Workspace, keys []id.Key) ([]id.Key, error) {
	wanted := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		wanted[i] = k.UUID()
	}
	var rows []apiKeyRow
	if err := scoped(ctx, ws).Select("id").Where("id IN ?", wanted).Find(&rows).Error; err != nil {
		return nil, translate(err, "look for api keys")
	}
	have := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		have[r.ID] = true
	}
	var missing []id.Key
	for _, k := range keys {
		if !have[k.UUID()] {
			missing = append(missing, k)
		}
	}
	return missing, nil
}

// RevokeAll implements workspace.Revoker: the keys are the workspace's own and
// go with it.
func (*BYOKStore) RevokeAll(ctx context.Context, ws id.Workspace, _ int64, _ time.Time) ([]string, error) {
	return nil, translate(scoped(ctx, ws).Delete(&byokRow{}).Error, "delete all provider keys")
}

// BYOKSeals looks over all workspaces for what an old key sealed, as the
// system role.
type BYOKSeals struct{}

// NewBYOKSeals returns a reader that works in the transaction of its context.
func NewBYOKSeals() *BYOKSeals { return &BYOKSeals{} }

// byokSealsSQL are all credentials, each with its seal's mark.
var byokSealsSQL = "SELECT workspace_id, " + markOf("sealed") + " AS mark FROM byok_credentials"

// Stale implements reseal.Seals.
func (*BYOKSeals) Stale(ctx context.Context, marks [][]byte) ([]id.Workspace, error) {
	var rows []uuid.UUID
	err := staleSeals(ctx, byokSealsSQL, "workspace_id", marks, &rows)
	list := make([]id.Workspace, len(rows))
	for i, ws := range rows {
		list[i] = id.FromUUID[id.WorkspaceKind](ws)
	}
	return list, err
}

// Count implements reseal.Seals.
func (*BYOKSeals) Count(ctx context.Context) (reseal.Count, error) {
	return countSeals(ctx, byokSealsSQL)
}

// idsOf reads what id.Texts wrote; nil when empty, as the domain has it. What
// is no id names nothing, and the zero id in its place keeps the list from
// being empty, which would mean all.
func idsOf[K id.Kind](texts textArray) []id.ID[K] {
	if len(texts) == 0 {
		return nil
	}
	list := make([]id.ID[K], len(texts))
	for i, text := range texts {
		list[i], _ = id.Parse[K](text)
	}
	return list
}

var (
	_ byok.Store                 = (*BYOKStore)(nil)
	_ byok.Directory             = (*BYOKStore)(nil)
	_ workspace.Revoker          = (*BYOKStore)(nil)
	_ reseal.Seals[id.Workspace] = (*BYOKSeals)(nil)
)
