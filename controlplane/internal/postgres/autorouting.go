package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type autoRoutingRow struct {
	WorkspaceID    uuid.UUID         `gorm:"column:workspace_id;primaryKey"`
	Objective      string            `gorm:"column:objective"`
	SpendProfile   string            `gorm:"column:spend_profile"`
	InputPrice     *money.PerMillion `gorm:"column:input_price"` // of the custom profile, as OutputPrice
	OutputPrice    *money.PerMillion `gorm:"column:output_price"`
	Models         textArray         `gorm:"column:models"`
	AllowFallbacks bool              `gorm:"column:allow_fallbacks"`
	Version        int64             `gorm:"column:version"`
	UpdatedAt      time.Time         `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (autoRoutingRow) TableName() string { return "auto_routing" }

func autoRoutingRowOf(ws id.Workspace, c autorouting.Config) autoRoutingRow {
	r := autoRoutingRow{
		WorkspaceID: ws.UUID(), Objective: string(c.Objective), SpendProfile: string(c.Spend), Models: c.Models,
		AllowFallbacks: c.AllowFallbacks, Version: c.Version, UpdatedAt: c.UpdatedAt,
	}
	if c.Prices != nil {
		r.InputPrice, r.OutputPrice = &c.Prices.Input, &c.Prices.Output
	}
	return r
}

func (r autoRoutingRow) config() autorouting.Config {
	c := autorouting.Config{
		Auto: policy.Auto{
			Version: r.Version, Objective: policy.Objective(r.Objective), Spend: policy.SpendProfile(r.SpendProfile),
			Models: r.Models.list(), AllowFallbacks: r.AllowFallbacks,
		},
		UpdatedAt: r.UpdatedAt.UTC(),
	}
	if r.InputPrice != nil && r.OutputPrice != nil { // one alone the table refuses
		c.Prices = &policy.SpendLimit{Input: *r.InputPrice, Output: *r.OutputPrice}
	}
	return c
}

// changeable are the columns that an update writes.
func (r autoRoutingRow) changeable() map[string]any {
	return map[string]any{
		"objective": r.Objective, "spend_profile": r.SpendProfile, "input_price": r.InputPrice, "output_price": r.OutputPrice,
		"models": r.Models, "allow_fallbacks": r.AllowFallbacks, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// AutoRoutingStore keeps the configurations of signalbox/auto.
type AutoRoutingStore struct{}

// NewAutoRoutingStore returns a store that works in the transaction of its
// context.
func NewAutoRoutingStore() *AutoRoutingStore { return &AutoRoutingStore{} }

// Get implements autorouting.Store.
func (*AutoRoutingStore) Get(ctx context.Context, ws id.Workspace) (autorouting.Config, error) {
	var row autoRoutingRow
	err := scoped(ctx, ws).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return autorouting.Default(), nil
	}
	return row.config(), translate(err, "read the configuration of auto")
}

// Update implements autorouting.Store.
func (*AutoRoutingStore) Update(ctx context.Context, ws id.Workspace, c autorouting.Config) error {
	const what = "update the configuration of auto"
	row := autoRoutingRowOf(ws, c)
	own := scoped(ctx, ws).Model(&autoRoutingRow{})
	if c.Version == autorouting.Default().Version+1 {
		done := tenant(ctx, ws).Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		return versioned(done, own, what)
	}
	return updated(own, c.Version, row.changeable(), what)
}

// publishedAuto is nil where nothing was ever set.
func publishedAuto(ctx context.Context, ws id.Workspace) (*policy.Auto, error) {
	c, err := NewAutoRoutingStore().Get(ctx, ws)
	if err != nil || c.Version == autorouting.Default().Version {
		return nil, err
	}
	return &c.Auto, nil
}

var _ autorouting.Store = (*AutoRoutingStore)(nil)
