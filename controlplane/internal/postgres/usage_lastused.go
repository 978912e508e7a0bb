package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// usedSQL notes when keys were last used, once a minute at most, as a busy key
// must not make a new version of its row with every batch. It skips a row that
// somebody else changes now, rather than wait for it out of the order of locks:
// the key's next batch comes soon.
const usedSQL = `WITH used AS (
	SELECT k.id, u.at FROM api_keys k
	JOIN unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS u (workspace_id, id, at) ON k.workspace_id = u.workspace_id AND k.id = u.id
	WHERE k.last_used_at IS NULL OR k.last_used_at <= u.at - interval '1 minute'
	FOR NO KEY UPDATE OF k SKIP LOCKED
) UPDATE api_keys k SET last_used_at = used.at FROM used WHERE k.id = used.id`

// touchKeys notes the latest use of each entry's key.
func touchKeys(ctx context.Context, conn gorm.ConnPool, entries []usage.Entry) error {
	type key struct {
		workspace id.Workspace
		key       id.Key
	}
	latest := make(map[key]time.Time)
	for i := range entries {
		k := key{entries[i].Workspace, entries[i].Key}
		if at := entries[i].StartedAt; !k.key.IsZero() && at.After(latest[k]) {
			latest[k] = at
		}
	}
	if len(latest) == 0 {
		return nil
	}
	var workspaces, keys []uuid.UUID
	var times []time.Time
	for k, at := range latest {
		workspaces, keys, times = append(workspaces, k.workspace.UUID()), append(keys, k.key.UUID()), append(times, at)
	}
	_, err := conn.ExecContext(ctx, usedSQL, workspaces, keys, times)
	return err
}
