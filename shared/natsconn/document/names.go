package document

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// BodyFilter selects the bodies of a bucket.
const BodyFilter = "body.>"

// countWithin bounds a count, whose answer names everything that is counted.
const countWithin = 2 * requestWithin

// Count asks a bucket's leader how many documents match filter, with markers
// of removed ones.
func (r *Reader) Count(ctx context.Context, bucket, filter string) (int, error) {
	if err := r.conn.Ready(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	s, err := r.conn.JetStream().Stream(ctx, stream(bucket))
	if err != nil {
		return 0, fmt.Errorf("count documents of %s: %w", bucket, err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(subject(bucket)+filter))
	if err != nil {
		return 0, fmt.Errorf("count documents of %s: %w", bucket, err)
	}
	return len(info.State.Subjects), nil
}

// Names lists the documents of bucket that match filter, without reading them.
func (r *Reader) Names(ctx context.Context, bucket, filter string) (map[string]bool, error) {
	if err := r.conn.Ready(); err != nil {
		return nil, err
	}
	// The watcher lives as long as its context, so that no deadline can bound the
	// questions that begin it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begins := time.AfterFunc(requestWithin, func() { cancel(context.DeadlineExceeded) })
	defer begins.Stop()
	kv, err := r.conn.JetStream().KeyValue(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", bucket, err)
	}
	watcher, err := kv.WatchFiltered(ctx, []string{filter}, jetstream.IgnoreDeletes(), jetstream.MetaOnly())
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", bucket, err)
	}
	begins.Stop()
	names, err := all(ctx, watcher)
	if err := errors.Join(err, ignoreClosed(watcher.Stop())); err != nil {
		return nil, fmt.Errorf("list %s: %w", bucket, err)
	}
	return names, nil
}

// all takes what a watcher has until it says that this is all.
func all(ctx context.Context, w jetstream.KeyWatcher) (map[string]bool, error) {
	names := make(map[string]bool)
	silence := time.NewTimer(requestWithin)
	defer silence.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return nil, errors.New("the list broke off")
			}
			if e == nil {
				return names, nil
			}
			names[e.Key()] = true
			silence.Reset(requestWithin)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-silence.C:
			return nil, errors.New("the list fell silent")
		}
	}
}

// HasLarge reports whether the object store has a body.
func (r *Reader) HasLarge(ctx context.Context, body policy.Body) (bool, error) {
	if err := r.conn.Ready(); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	objects, err := r.conn.JetStream().ObjectStore(ctx, wire.ObjectSnapshots)
	if err != nil {
		return false, fmt.Errorf("open object store: %w", err)
	}
	_, err = objects.GetInfo(ctx, body.Name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a body: %w", err)
	}
	return true, nil
}
