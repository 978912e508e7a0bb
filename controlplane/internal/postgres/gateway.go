package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type gatewayRow struct {
	ID              uuid.UUID `gorm:"column:id;primaryKey"`
	Instance        string    `gorm:"column:instance"`
	Version         string    `gorm:"column:version"`
	Address         string    `gorm:"column:address"`
	StartedAt       time.Time `gorm:"column:started_at"`
	LastSeenAt      time.Time `gorm:"column:last_seen_at"`
	Stopped         bool      `gorm:"column:stopped"`
	CatalogRevision int64     `gorm:"column:catalog_revision"`
	Stale           bool      `gorm:"column:stale"`
	SpoolPending    int64     `gorm:"column:spool_pending"`
}

func (gatewayRow) TableName() string { return "gateways" }

func gatewayRowOf(g gateway.Gateway) gatewayRow {
	return gatewayRow{
		ID: g.ID.UUID(), Instance: g.Instance, Version: g.Version, Address: g.Address, StartedAt: g.StartedAt,
		LastSeenAt: g.LastSeenAt, Stopped: g.State == gateway.Stopped, CatalogRevision: g.CatalogRevision,
		Stale: g.Stale, SpoolPending: g.SpoolPending,
	}
}

// gateway leaves the state at live where the gateway did not stop; whether it
// is gone, the clock says.
func (r gatewayRow) gateway() gateway.Gateway {
	state := gateway.Live
	if r.Stopped {
		state = gateway.Stopped
	}
	return gateway.Gateway{
		ID: id.FromUUID[id.GatewayKind](r.ID), Instance: r.Instance, Version: r.Version, Address: r.Address,
		StartedAt: r.StartedAt.UTC(), LastSeenAt: r.LastSeenAt.UTC(), CatalogRevision: r.CatalogRevision,
		Stale: r.Stale, SpoolPending: r.SpoolPending, State: state,
	}
}

// GatewayStore keeps gateways, as the system role.
type GatewayStore struct{ system *System }

// NewGatewayStore returns a store over db.
func NewGatewayStore(db *DB) *GatewayStore { return &GatewayStore{system: db.System()} }

// All implements gateway.Store.
func (s *GatewayStore) All(ctx context.Context) ([]gateway.Gateway, error) {
	var rows []gatewayRow
	err := s.system.Read(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Order("id").Find(&rows).Error, "list gateways")
	})
	list := make([]gateway.Gateway, len(rows))
	for i, r := range rows {
		list[i] = r.gateway()
	}
	return list, err
}

// Put implements gateway.Store. Rows are written in the order of their ids, so
// that control planes that store the same gateways never wait in a circle.
func (s *GatewayStore) Put(ctx context.Context, list []gateway.Gateway) error {
	rows := make([]gatewayRow, len(list))
	for i, g := range list {
		rows[i] = gatewayRowOf(g)
	}
	return s.system.InTx(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "id"}},
			DoUpdates: clause.AssignmentColumns([]string{
				"instance", "version", "address", "started_at", "last_seen_at", "stopped", "catalog_revision", "stale", "spool_pending",
			}),
			Where: clause.Where{Exprs: []clause.Expression{
				clause.Expr{SQL: "gateways.last_seen_at < excluded.last_seen_at"},
			}},
		}).Create(&rows).Error, "store gateways")
	})
}

// Prune implements gateway.Store.
func (s *GatewayStore) Prune(ctx context.Context, before time.Time) error {
	return s.system.InTx(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Where("last_seen_at < ?", before).Delete(&gatewayRow{}).Error, "delete old gateways")
	})
}

var _ gateway.Store = (*GatewayStore)(nil)
