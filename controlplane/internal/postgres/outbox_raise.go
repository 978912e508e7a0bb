package postgres

import (
	"context"

	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Raise implements publish.Outbox. Everything that was not published yet moves
// by the same step, so that each key document stays with the change that made
// it; and wholly beyond the old numbers, which are unique at every moment.
func (o *Outbox) Raise(ctx context.Context, r outbox.Raise) (raised bool, err error) {
	ws := r.Workspace.UUID()
	err = o.system.InTx(ctx, func(ctx context.Context) error {
		raised = false
		// The revision's row first, as every change does.
		var now int64
		err := system(ctx).Raw("SELECT revision FROM workspace_revisions WHERE workspace_id = ? FOR UPDATE", ws).Scan(&now).Error
		if err != nil {
			return translate(err, "lock a revision")
		}
		if now != r.Compiled {
			return nil
		}
		lowest, err := lowestWaiting(system(ctx), r.Workspace, now)
		if err != nil || lowest > r.Above && lowest <= now { // raised meanwhile
			return err
		}
		lowest = min(lowest, now)
		step := max(r.Above, now) + 1 - lowest
		for _, statement := range []string{
			"UPDATE workspace_revisions SET revision = revision + ? WHERE workspace_id = ? AND revision >= ?",
			"UPDATE publications SET revision = revision + ? WHERE workspace_id = ? AND revision >= ? AND published_at IS NULL",
			"UPDATE outbox SET revision = revision + ? WHERE workspace_id = ? AND revision >= ?",
			"UPDATE api_keys SET revision = revision + ? WHERE workspace_id = ? AND revision >= ?",
			"UPDATE presets SET public_revision = public_revision + ? WHERE workspace_id = ? AND public_revision >= ?",
		} {
			if err := system(ctx).Exec(statement, step, ws, lowest).Error; err != nil {
				return translate(err, "raise what waits")
			}
		}
		raised = true
		return nil
	})
	return raised, err
}

// lowestWaiting is the lowest revision of ws that is not published, as far as
// the database knows: the one after now, the present one, when all of it is.
func lowestWaiting(db *gorm.DB, ws id.Workspace, now int64) (int64, error) {
	var lowest int64
	err := db.Raw(`SELECT least(?::bigint,
			(SELECT min(revision) FROM publications WHERE workspace_id = ? AND published_at IS NULL),
			(SELECT min(revision) FROM api_keys WHERE workspace_id = ? AND revision >
				coalesce((SELECT revision FROM published_policies WHERE workspace_id = ?), 0)))`,
		now+1, ws.UUID(), ws.UUID(), ws.UUID()).Scan(&lowest).Error
	return lowest, translate(err, "read what waits")
}
