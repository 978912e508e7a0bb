package publish

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"
)

// surplus is what one bucket holds that the database does not know.
type surplus struct {
	bucket    string
	held      int               // documents in the bucket
	known     int64             // documents that the database wants there
	documents map[string]uint64 // the unknown ones, with their sequences
}

// guardFrom is the least number of documents of which half is a mass.
const guardFrom = 100

// excessive reports whether removing the surplus looks like a mistake rather
// than a repair. The database keeps a row of every key and workspace that ever
// was, so documents that it does not know are few, unless it is the wrong one,
// or an empty one.
func (s surplus) excessive() bool {
	return s.held >= guardFrom && 2*len(s.documents) > s.held
}

// removeAll takes all surplus away, or none of it: a control plane
// that was pointed at another database must not take the policy of every
// gateway away. What was refused once stays refused while this process lives,
// because the wrong database fills up too.
func (l *leader) removeAll(ctx context.Context, keys, policies, presets surplus) error {
	count := len(keys.documents) + len(policies.documents) + len(presets.documents)
	if count == 0 {
		l.metrics.kept.Store(0)
		return nil
	}
	strange := policies.known == 0 || keys.excessive() || policies.excessive() || presets.excessive() || l.metrics.kept.Load() > 0
	if strange && !l.d.AllowMassRemoval {
		l.metrics.kept.Store(int64(count))
		l.d.Log.Error("the database does not know most of what is published, so nothing is removed; is it the right one? if it is, set publish.allow_mass_removal and restart",
			slog.Int("unknown_keys", len(keys.documents)), slog.Int("published_keys", keys.held), slog.Int64("database_keys", keys.known),
			slog.Int("unknown_presets", len(presets.documents)), slog.Int("published_presets", presets.held), slog.Int64("database_presets", presets.known),
			slog.Int("unknown_workspaces", len(policies.documents)), slog.Int("published_workspaces", policies.held), slog.Int64("database_workspaces", policies.known))
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(healers)
	for _, s := range []surplus{keys, policies, presets} {
		for name, sequence := range s.documents {
			group.Go(func() error { return l.remove(ctx, s.bucket, name, sequence) })
		}
	}
	return group.Wait()
}

func (l *leader) remove(ctx context.Context, bucket, key string, sequence uint64) error {
	err := l.write.Remove(ctx, bucket, key, sequence)
	if err == nil {
		l.metrics.removed.Add(1)
		l.d.Log.Warn("document that the database does not know was removed from NATS", slog.String("bucket", bucket), slog.String("key", key))
	}
	return err
}
