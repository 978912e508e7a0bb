package publish

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// raises bounds how often a publication starts again because NATS is ahead:
// once is the rule, and once more for each change that is committed meanwhile.
const raises = 4

// expected fails with document.AheadError when NATS has policy that the database
// does not know to be published, unless it is the one that is about to be. After
// a database was set back, gateways have acknowledged revisions that it is about
// to give out again: their old receipts must not count for the new ones, even
// where the new ones have overtaken the pointer.
func (l *leader) expected(ctx context.Context, c Compiled, digest string) error {
	e, err := l.read.Leader(ctx, wire.BucketPolicy, wire.PolicyPointer(c.Snapshot.Workspace))
	if errors.Is(err, document.ErrAbsent) {
		return nil
	}
	if err != nil {
		return err
	}
	var there policy.Pointer
	if json.Unmarshal(e.Data, &there) != nil { // unreadable: replaced
		return nil
	}
	if there.Revision < c.Since || there.Revision == c.Snapshot.Revision && there.Digest == digest {
		return nil
	}
	return &document.AheadError{Revision: there.Revision}
}

// raise numbers what waits anew, above what NATS holds. It is left to the next
// compilation where the workspace went on meanwhile: this one was only late.
func (l *leader) raise(ctx context.Context, c Compiled, above int64) error {
	r := outbox.Raise{Workspace: c.Snapshot.Workspace, Compiled: c.Snapshot.Revision, Above: above}
	raised, err := l.d.Outbox.Raise(ctx, r)
	if err != nil || !raised {
		return err
	}
	l.metrics.raised.Add(1)
	l.d.Log.Warn("NATS was ahead of the database, whose changes are numbered anew; was it set back?",
		slog.String("workspace_id", r.Workspace.String()), slog.Int64("published_revision", above), slog.Int64("revision", r.Compiled))
	return nil
}
