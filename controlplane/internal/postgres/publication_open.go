package postgres

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
)

// OpenPublications counts over all workspaces, as the system role.
type OpenPublications struct{ db *DB }

// NewOpenPublications returns a reader with transactions of its own.
func NewOpenPublications(db *DB) *OpenPublications { return &OpenPublications{db} }

// Unconfirmed implements reseal.Publications.
func (o *OpenPublications) Unconfirmed(ctx context.Context, change string) (int, error) {
	var count int
	err := o.db.System().Read(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Raw("SELECT count(*) FROM publications WHERE settled_at IS NULL AND changes @> ?", textArray{change}).
			Scan(&count).Error, "count open publications")
	})
	return count, err
}

var _ reseal.Publications = (*OpenPublications)(nil)
