package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
)

type catalogRevisionRow struct {
	Revision  int64     `gorm:"column:revision;primaryKey;autoIncrement:false"`
	Digest    string    `gorm:"column:digest"`
	CreatedAt time.Time `gorm:"column:created_at;autoCreateTime:false"`
}

func (catalogRevisionRow) TableName() string { return "catalog_revisions" }

// CatalogRevisions numbers catalogs, as the system role.
type CatalogRevisions struct{ system *System }

// NewCatalogRevisions returns the numbering of db.
func NewCatalogRevisions(db *DB) *CatalogRevisions { return &CatalogRevisions{system: db.System()} }

// Of implements publish.Revisions. Two processes that number at once collide
// at the primary key; one of them fails and asks again.
func (c *CatalogRevisions) Of(ctx context.Context, digest string, floor int64, at time.Time) (int64, error) {
	var revision int64
	err := c.system.InTx(ctx, func(ctx context.Context) error {
		var rows []catalogRevisionRow
		if err := system(ctx).Order("revision DESC").Limit(1).Find(&rows).Error; err != nil {
			return translate(err, "read the catalog revision")
		}
		var latest catalogRevisionRow
		if len(rows) > 0 {
			latest = rows[0]
		}
		if latest.Digest == digest && latest.Revision >= floor {
			revision = latest.Revision
			return nil
		}
		next := catalogRevisionRow{Revision: max(latest.Revision, floor) + 1, Digest: digest, CreatedAt: at}
		revision = next.Revision
		return translate(system(ctx).Create(&next).Error, "add a catalog revision")
	})
	return revision, err
}

var _ publish.Revisions = (*CatalogRevisions)(nil)
