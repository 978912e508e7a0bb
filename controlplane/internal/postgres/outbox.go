package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Outbox is what waits for the publisher, and its accounts, over all
// workspaces, as the system role.
type Outbox struct{ system *System }

// NewOutbox returns the outbox of db.
func NewOutbox(db *DB) *Outbox { return &Outbox{system: db.System()} }

// Pending implements publish.Outbox.
func (o *Outbox) Pending(ctx context.Context, limit int, skip []id.Workspace) ([]outbox.Batch, error) {
	not := make(textArray, len(skip))
	for i, ws := range skip {
		not[i] = ws.UUID().String()
	}
	var rows []publicationRow
	err := o.system.Read(ctx, func(ctx context.Context) error {
		rows = nil
		return translate(system(ctx).Raw(`
			SELECT p.* FROM outbox o
			JOIN publications p ON p.id = o.publication_id
			JOIN (SELECT workspace_id, min(created_at) AS since FROM outbox
				WHERE workspace_id <> ALL(?::uuid[])
				GROUP BY workspace_id ORDER BY min(created_at) LIMIT ?) w ON w.workspace_id = o.workspace_id
			ORDER BY w.since, o.workspace_id, o.revision`, not, limit).Scan(&rows).Error, "read the outbox")
	})
	if err != nil {
		return nil, err
	}
	var batches []outbox.Batch
	for _, row := range rows {
		p := row.record().Publication
		if n := len(batches); n == 0 || batches[n-1].Workspace != p.Workspace {
			batches = append(batches, outbox.Batch{Workspace: p.Workspace})
		}
		last := &batches[len(batches)-1]
		last.Publications = append(last.Publications, p)
	}
	return batches, nil
}

// Done implements publish.Outbox. Changes of one workspace commit in the order
// of their revisions, because the revision row is locked first; so every row
// up to the revision that was compiled was seen by the compilation.
func (o *Outbox) Done(ctx context.Context, d outbox.Done) ([]publication.Publication, error) {
	var rows []publicationRow
	err := o.system.InTx(ctx, func(ctx context.Context) error {
		rows = nil
		err := system(ctx).Raw(`UPDATE publications
			SET published_at = ?, keys_stream = ?, keys_sequence = ?, policy_stream = ?, policy_sequence = ?
			WHERE workspace_id = ? AND revision <= ? AND published_at IS NULL
			RETURNING *`,
			d.At, d.Keys.Stream, int64(d.Keys.Sequence), d.Policy.Stream, int64(d.Policy.Sequence),
			d.Workspace.UUID(), d.Revision).Scan(&rows).Error
		if err != nil {
			return translate(err, "mark publications published")
		}
		err = system(ctx).Exec("DELETE FROM outbox WHERE workspace_id = ? AND revision <= ?", d.Workspace.UUID(), d.Revision).Error
		if err != nil {
			return translate(err, "take from the outbox")
		}
		err = system(ctx).Exec(`INSERT INTO published_policies (workspace_id, revision, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (workspace_id) DO UPDATE
			SET revision = greatest(published_policies.revision, excluded.revision), updated_at = excluded.updated_at`,
			d.Workspace.UUID(), d.Revision, d.At).Error
		return translate(err, "note the published revision")
	})
	if err != nil {
		return nil, err
	}
	covered := make([]publication.Publication, len(rows))
	for i, row := range rows {
		covered[i] = row.record().Publication
	}
	return covered, nil
}

// Open implements publish.Accounts.
func (o *Outbox) Open(ctx context.Context, limit int) ([]publication.Record, error) {
	var rows []publicationRow
	err := o.system.Read(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Where("settled_at IS NULL AND published_at IS NOT NULL").
			Order("published_at DESC").Limit(limit).Find(&rows).Error, "read open publications")
	})
	list := make([]publication.Record, len(rows))
	for i, row := range rows {
		list[i] = row.record()
	}
	return list, err
}

// Settle implements publish.Accounts.
func (o *Outbox) Settle(ctx context.Context, list []publication.Publication, at time.Time) error {
	return o.system.InTx(ctx, func(ctx context.Context) error {
		for _, p := range list {
			row := publicationRowOf(publication.Record{Publication: p})
			err := system(ctx).Exec(`UPDATE publications
				SET settled_at = ?, gateways = ?, applied = ?, pending = ?::uuid[], p50_us = ?, p99_us = ?
				WHERE id = ? AND settled_at IS NULL AND published_at IS NOT NULL`,
				at, row.Gateways, row.Applied, row.Pending, row.P50us, row.P99us, row.ID).Error
			if err != nil {
				return translate(err, "settle a publication")
			}
		}
		return nil
	})
}

// Prune implements publish.Accounts.
func (o *Outbox) Prune(ctx context.Context, before time.Time, limit int) error {
	return o.system.InTx(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Exec(`DELETE FROM publications WHERE id IN
			(SELECT id FROM publications WHERE settled_at < ? ORDER BY settled_at LIMIT ?)`, before, limit).Error,
			"delete old publications")
	})
}

var (
	_ publish.Outbox   = (*Outbox)(nil)
	_ publish.Accounts = (*Outbox)(nil)
)
