package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type allowanceRow struct {
	WorkspaceID uuid.UUID                    `gorm:"column:workspace_id;primaryKey"`
	PerMinute   *int64                       `gorm:"column:per_minute"`
	FreePerDay  *int64                       `gorm:"column:free_per_day"`
	Users       jsonColumn[map[string]int64] `gorm:"column:users"` // by uuid
	Version     int64                        `gorm:"column:version"`
	UpdatedAt   time.Time                    `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (allowanceRow) TableName() string { return "allowances" }

func allowanceRowOf(o allowance.Overrides) allowanceRow {
	users := make(map[string]int64, len(o.Users))
	for user, n := range o.Users {
		users[user.UUID().String()] = n
	}
	return allowanceRow{
		WorkspaceID: o.Workspace.UUID(), PerMinute: o.PerMinute, FreePerDay: o.FreePerDay, Users: jsonColumn[map[string]int64]{users},
		Version: o.Version, UpdatedAt: o.UpdatedAt,
	}
}

func (r allowanceRow) overrides() (allowance.Overrides, error) {
	o := allowance.Overrides{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), PerMinute: r.PerMinute, FreePerDay: r.FreePerDay,
		Version: r.Version, UpdatedAt: r.UpdatedAt.UTC(),
	}
	for text, n := range r.Users.v {
		u, err := uuid.Parse(text)
		if err != nil {
			return o, errors.New("read an allowance: a user has no id")
		}
		if o.Users == nil {
			o.Users = make(map[id.User]int64, len(r.Users.v))
		}
		o.Users[id.FromUUID[id.UserKind](u)] = n
	}
	return o, nil
}

// changeable are the columns that an update writes.
func (r allowanceRow) changeable() map[string]any {
	return map[string]any{
		"per_minute": r.PerMinute, "free_per_day": r.FreePerDay, "users": r.Users, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

type standingRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id;primaryKey"`
	Standing    string    `gorm:"column:standing"`
	Deployment  string    `gorm:"column:deployment"`
	PublishedAt time.Time `gorm:"column:published_at"`
}

func (standingRow) TableName() string { return "published_standings" }

// AllowanceStore keeps overrides of allowances, and with what workspaces are
// published.
type AllowanceStore struct{}

// NewAllowanceStore returns a store that works in the transaction of its
// context.
func NewAllowanceStore() *AllowanceStore { return &AllowanceStore{} }

// Account implements allowance.Store.
func (*AllowanceStore) Account(ctx context.Context, ws id.Workspace) (allowance.Account, error) {
	var row struct {
		CreatedAt  time.Time
		Paid       money.Nanos
		Billing    *policy.Billing
		PerMinute  *int64
		FreePerDay *int64
		Users      jsonColumn[map[string]int64]
		Version    int64
		UpdatedAt  *time.Time
	}
	err := tenant(ctx, ws).Table("workspaces").
		Select("workspaces.created_at, coalesce(w.paid_nanos, 0) AS paid, w.billing, "+
			"a.per_minute, a.free_per_day, coalesce(a.users, '{}') AS users, coalesce(a.version, 1) AS version, a.updated_at").
		Joins("LEFT JOIN wallets w ON w.workspace_id = workspaces.id LEFT JOIN allowances a ON a.workspace_id = workspaces.id").
		Where("workspaces.id = ?", ws.UUID()).Take(&row).Error
	if err != nil {
		return allowance.Account{}, translate(err, "read what an allowance follows from")
	}
	own := allowanceRow{
		WorkspaceID: ws.UUID(), PerMinute: row.PerMinute, FreePerDay: row.FreePerDay, Users: row.Users, Version: row.Version,
	}
	if row.UpdatedAt != nil {
		own.UpdatedAt = *row.UpdatedAt
	}
	overrides, err := own.overrides()
	return allowance.Account{CreatedAt: row.CreatedAt.UTC(), Paid: row.Paid, Billing: row.Billing, Overrides: overrides}, err
}

// SetOverrides implements allowance.Store.
func (*AllowanceStore) SetOverrides(ctx context.Context, ws id.Workspace, o allowance.Overrides) error {
	const what = "change an allowance"
	row := allowanceRowOf(o)
	own := scoped(ctx, ws).Model(&allowanceRow{})
	if o.Version == 2 { // the first that is stored
		done := tenant(ctx, ws).Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		return versioned(done, own, what)
	}
	return updated(own, o.Version, row.changeable(), what)
}

// Missing implements allowance.Store.
func (*AllowanceStore) Missing(ctx context.Context, ws id.Workspace, users []id.User) ([]id.User, error) {
	there, err := plucked[id.UserKind](scoped(ctx, ws).Table("members").Where("user_id IN ?", uuidsOf(users)), "user_id")
	return missingOf(users, there), err
}

// missingOf are those of wanted that are not there.
func missingOf[T comparable](wanted, there []T) []T {
	found := make(map[T]bool, len(there))
	for _, one := range there {
		found[one] = true
	}
	var missing []T
	for _, one := range wanted {
		if !found[one] {
			missing = append(missing, one)
		}
	}
	return missing
}

// SetPublished implements allowance.Store.
func (*AllowanceStore) SetPublished(ctx context.Context, ws id.Workspace, p allowance.Published) error {
	row := standingRow{WorkspaceID: ws.UUID(), Standing: string(p.Standing), Deployment: p.Deployment, PublishedAt: p.At}
	err := tenant(ctx, ws).Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "workspace_id"}}, DoUpdates: clause.AssignmentColumns([]string{"standing", "deployment", "published_at"}),
	}).Create(&row).Error
	return translate(err, "note a standing")
}

// AllowanceDirectory looks across workspaces, as the system role.
type AllowanceDirectory struct{}

// NewAllowanceDirectory returns a directory that works in the transaction of
// its context.
func NewAllowanceDirectory() *AllowanceDirectory { return &AllowanceDirectory{} }

// Accounts implements allowance.Directory.
func (*AllowanceDirectory) Accounts(ctx context.Context, after id.Workspace, digest string, standings bool, limit int) ([]allowance.Seen, error) {
	var rows []struct {
		ID         uuid.UUID
		CreatedAt  time.Time
		Paid       money.Nanos
		Billing    *policy.Billing
		Standing   string
		Deployment string
	}
	err := system(ctx).Raw(`SELECT s.id, s.created_at, coalesce(w.paid_nanos, 0) AS paid, w.billing,
		  coalesce(p.standing, '') AS standing, coalesce(p.deployment, '') AS deployment
		FROM workspaces s LEFT JOIN wallets w ON w.workspace_id = s.id LEFT JOIN published_standings p ON p.workspace_id = s.id
		WHERE s.status = 'active' AND s.id > ? AND (? OR coalesce(p.deployment, '') <> ?) ORDER BY s.id LIMIT ?`,
		after.UUID(), standings, digest, limit).Scan(&rows).Error
	list := make([]allowance.Seen, len(rows))
	for i, r := range rows {
		list[i] = allowance.Seen{
			Workspace: id.FromUUID[id.WorkspaceKind](r.ID),
			Account:   allowance.Account{CreatedAt: r.CreatedAt.UTC(), Paid: r.Paid, Billing: r.Billing},
			Published: allowance.Published{Standing: allowance.Standing(r.Standing), Deployment: r.Deployment},
		}
	}
	return list, translate(err, "look at the standings")
}

var (
	_ allowance.Store     = (*AllowanceStore)(nil)
	_ allowance.Directory = (*AllowanceDirectory)(nil)
)
