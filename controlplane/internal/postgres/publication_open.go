package postgres

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// PublicationProgress tells how far changes have come over all workspaces, as
// the system role.
type PublicationProgress struct{ db *DB }

// NewPublicationProgress returns a reader with transactions of its own.
func NewPublicationProgress(db *DB) *PublicationProgress { return &PublicationProgress{db} }

// Progress implements reseal.Publications.
func (p *PublicationProgress) Progress(ctx context.Context, change string) (open int, reach []wire.Position, err error) {
	var rows []struct {
		Open     int
		Stream   int64
		Sequence int64
	}
	err = p.db.System().Read(ctx, func(ctx context.Context) error {
		rows = nil
		return translate(system(ctx).Raw(`SELECT count(*) FILTER (WHERE settled_at IS NULL) AS open,
			policy_stream AS stream, max(policy_sequence) AS sequence
			FROM publications WHERE changes @> ? GROUP BY policy_stream ORDER BY policy_stream`, textArray{change}).
			Scan(&rows).Error, "look how far publications have come")
	})
	for _, r := range rows {
		open += r.Open
		if r.Stream != 0 { // of those that wrote nothing, such as what waits to be published
			reach = append(reach, wire.Position{Stream: r.Stream, Sequence: uint64(r.Sequence)})
		}
	}
	return open, reach, err
}

var _ reseal.Publications = (*PublicationProgress)(nil)
