package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Ledger is what Postgres holds, for comparing it with NATS.
type Ledger interface {
	// KeyRanges and PolicyRanges sum up all key documents and all workspaces.
	KeyRanges(ctx context.Context) (Sums, error)
	PolicyRanges(ctx context.Context) (Sums, error)
	// Keys lists the key documents of one range, Policies the workspaces with
	// their revisions.
	Keys(ctx context.Context, r string) ([]policy.Key, error)
	Policies(ctx context.Context, r string) (map[id.Workspace]int64, error)
}

const (
	compareEvery  = 30 * time.Second // by counts
	compareFully  = 15 * time.Minute // by hashes over ranges, which reads every document
	compareRetry  = 200 * time.Millisecond
	compareWithin = 10 * time.Minute
	healers       = 16
	claimAgain    = 10 * time.Millisecond
)

// reconcile compares NATS with Postgres at the start of a term, after every
// connect and periodically, and heals what differs.
func (l *leader) reconcile(ctx context.Context) {
	var last comparison
	trouble := trouble{log: l.d.Log, what: "comparing NATS with the database fails"}
	for {
		pause := compareEvery
		next, err := l.compare(ctx, last)
		if trouble.met(ctx, l.d.Now(), err) {
			pause = compareRetry
		} else {
			last = next
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-l.comparing:
			last = comparison{}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// comparison is what the last full one found.
type comparison struct {
	at             time.Time
	keys, policies int64 // the streams' creation times
}

// compare does the cheap comparison, and the full one where that is due or the
// cheap one found a difference.
func (l *leader) compare(ctx context.Context, last comparison) (comparison, error) {
	ctx, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	keys, err := l.read.State(ctx, wire.BucketKeys)
	if err != nil {
		return last, err
	}
	policies, err := l.read.State(ctx, wire.BucketPolicy)
	if err != nil {
		return last, err
	}
	now := comparison{at: l.d.Now(), keys: keys.End.Stream, policies: policies.End.Stream}
	same := last.keys == now.keys && last.policies == now.policies && now.at.Sub(last.at) < compareFully
	if same {
		if same, err = l.sameCount(ctx, keys); err != nil || same {
			return last, err
		}
	}
	surplusKeys, err := l.compareKeys(ctx)
	if err != nil {
		return last, fmt.Errorf("compare keys: %w", err)
	}
	surplusPresets, err := l.comparePresets(ctx)
	if err != nil {
		return last, fmt.Errorf("compare presets: %w", err)
	}
	surplusPolicies, err := l.comparePolicies(ctx)
	if err != nil {
		return last, fmt.Errorf("compare policies: %w", err)
	}
	if err := l.removeAll(ctx, surplusKeys, surplusPolicies, surplusPresets); err != nil {
		return last, fmt.Errorf("remove what the database does not know: %w", err)
	}
	l.metrics.reconciled.Add(1)
	return now, nil
}

// sameCount compares the number of key documents, of pointers, and of documents
// of presets; markers of removed ones count until they expire, so a surplus
// proves nothing.
func (l *leader) sameCount(ctx context.Context, keys document.State) (bool, error) {
	sums, err := l.d.Ledger.KeyRanges(ctx)
	if err != nil {
		return false, err
	}
	if keys.Documents < uint64(sums.documents())+1 { // wire.KeysComplete
		return false, nil
	}
	pointers, err := l.read.Count(ctx, wire.BucketPolicy, document.PointerFilter)
	if err != nil {
		return false, err
	}
	if sums, err = l.d.Ledger.PolicyRanges(ctx); err != nil {
		return false, err
	}
	if int64(pointers) < sums.documents() {
		return false, nil
	}
	return l.samePresets(ctx)
}

// compareKeys reads every key document, then the database, writes what NATS
// lacks, and returns the rest: a document that only NATS has by then is one
// that the database does not know.
func (l *leader) compareKeys(ctx context.Context) (surplus, error) {
	sums := make(Sums)
	extra := surplus{bucket: wire.BucketKeys}
	err := l.read.Since(ctx, wire.BucketKeys, document.KeyFilter, 0, func(e document.Entry) error {
		if document.IsKey(e.Key) && !e.Deleted {
			sums.Add(KeyRange(e.Key), e.Key, revisionOf(e))
			extra.held++
		}
		return nil
	})
	if err != nil {
		return extra, err
	}
	known, err := l.d.Ledger.KeyRanges(ctx)
	if err != nil {
		return extra, err
	}
	extra.known = known.documents()
	if differ := sums.Differ(known); len(differ) > 0 {
		if extra.documents, err = l.healKeys(ctx, differ); err != nil {
			return extra, err
		}
	}
	return extra, l.write.Mark(ctx, wire.BucketKeys, wire.KeysComplete, []byte("{}"))
}

func revisionOf(e document.Entry) int64 {
	var d struct {
		Revision int64 `json:"revision"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return -1 // differs from any
	}
	return d.Revision
}

type found struct {
	revision int64
	sequence uint64
}

// healKeys gives the differing ranges what the database holds, and returns the
// documents that it does not know, by sequence.
func (l *leader) healKeys(ctx context.Context, differ map[string]bool) (map[string]uint64, error) {
	there := make(map[string]found)
	err := l.read.Since(ctx, wire.BucketKeys, document.KeyFilter, 0, func(e document.Entry) error {
		if document.IsKey(e.Key) && !e.Deleted && differ[KeyRange(e.Key)] {
			there[e.Key] = found{revisionOf(e), e.Sequence}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(healers)
	for r := range differ {
		keys, err := l.d.Ledger.Keys(ctx, r)
		if err != nil {
			return nil, errors.Join(err, group.Wait())
		}
		for _, k := range keys {
			if at, ok := there[k.KID]; !ok || at.revision < k.Revision {
				group.Go(func() error { return l.healKey(ctx, k) })
			}
			delete(there, k.KID)
		}
	}
	unknown := make(map[string]uint64, len(there))
	for kid, at := range there {
		unknown[kid] = at.sequence
	}
	return unknown, group.Wait()
}

func (l *leader) healKey(ctx context.Context, k policy.Key) error {
	_, err := l.write.Key(ctx, k)
	if err == nil {
		l.metrics.healed.Add(1)
	}
	return err
}

// comparePolicies is compareKeys for the pointers of workspaces, and for the
// bodies that they name.
func (l *leader) comparePolicies(ctx context.Context) (surplus, error) {
	sums := make(Sums)
	there := make(map[id.Workspace]pointed)
	extra := surplus{bucket: wire.BucketPolicy, documents: make(map[string]uint64)}
	err := l.read.Since(ctx, wire.BucketPolicy, document.PointerFilter, 0, func(e document.Entry) error {
		if e.Deleted {
			return nil
		}
		extra.held++
		ws, err := workspaceOf(e.Key)
		if err != nil { // no workspace of any database
			extra.documents[e.Key] = e.Sequence
			return nil
		}
		there[ws] = pointedAt(e)
		sums.Add(PolicyRange(ws), ws.UUID().String(), there[ws].revision)
		return nil
	})
	if err != nil {
		return extra, err
	}
	known, err := l.d.Ledger.PolicyRanges(ctx)
	if err != nil {
		return extra, err
	}
	extra.known = known.documents()
	differ := sums.Differ(known)
	bodiless, err := l.bodiless(ctx, there)
	if err != nil {
		return extra, err
	}
	for _, ws := range bodiless { // as if the pointer were not there
		differ[PolicyRange(ws)] = true
		there[ws] = pointed{found: found{-1, there[ws].sequence}}
	}
	unknown, err := l.healPolicies(ctx, differ, there)
	for ws, at := range unknown {
		extra.documents[wire.PolicyPointer(ws)] = at.sequence
	}
	return extra, err
}

func (l *leader) healPolicies(ctx context.Context, differ map[string]bool, there map[id.Workspace]pointed) (map[id.Workspace]pointed, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(healers)
	unknown := make(map[id.Workspace]pointed)
	for ws, at := range there {
		if differ[PolicyRange(ws)] {
			unknown[ws] = at
		}
	}
	for r := range differ {
		list, err := l.d.Ledger.Policies(ctx, r)
		if err != nil {
			return nil, errors.Join(err, group.Wait())
		}
		for ws, revision := range list {
			at, ok := unknown[ws]
			delete(unknown, ws)
			switch {
			case !ok || at.revision < revision:
				group.Go(func() error { return l.healPolicy(ctx, ws) })
			case at.revision > revision:
				// Only a database that was set back can be behind, by mistake
				// perhaps: what is published stays until the workspace changes.
				l.d.Log.Error("NATS is ahead of the database", slog.String("workspace_id", ws.String()), slog.Int64("published_revision", at.revision), slog.Int64("revision", revision))
			}
		}
	}
	return unknown, group.Wait()
}

func (l *leader) healPolicy(ctx context.Context, ws id.Workspace) error {
	for !l.claim(ws) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(claimAgain):
		}
	}
	defer l.release(ws)
	err := l.publish(ctx, ws)
	if err == nil {
		l.metrics.healed.Add(1)
	}
	return err
}
