package feed

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const readers = 16 // documents read at once when all are read again

// A long way behind, reading what is held again costs less than following.
const (
	followFactor = 4
	followFloor  = 5_000
)

// follows decides how to close the gap between mark and end.
func follows(mark, end wire.Position, held int) (follow bool) {
	if mark.Stream != end.Stream || end.Sequence < mark.Sequence {
		return false
	}
	return end.Sequence-mark.Sequence <= uint64(followFloor+followFactor*held)
}

// catchUpKeys brings the keyring to where the bucket stands. Unconfirmed
// documents are read again in any case.
func (f *Feed) catchUpKeys(ctx context.Context) error {
	state, err := f.reader.State(ctx, wire.BucketKeys)
	if err != nil {
		return err
	}
	mark := f.position(func(m *marks) *wire.Position { return &m.keys })
	held := f.o.Keys.Held(false)
	if !follows(mark, state.End, len(held)) {
		f.o.Keys.Renew()
		held = f.o.Keys.Held(false) // what landed before Renew is in here, what lands later is new
		if err := f.rereadKeys(ctx, held); err != nil {
			return err
		}
		f.advance(func(m *marks) *wire.Position { return &m.keys }, state.End)
		f.gap()
		return nil
	}
	if state.End.Sequence > mark.Sequence {
		at := mark
		err := f.reader.Since(ctx, wire.BucketKeys, document.KeyFilter, mark.Sequence, func(e document.Entry) error {
			f.behind.Add(1)
			if err := f.key(e); err != nil {
				f.reject("key document", err)
			}
			at.Sequence = e.Sequence
			return nil
		})
		f.advance(func(m *marks) *wire.Position { return &m.keys }, at)
		if err != nil {
			return err
		}
	}
	return f.rereadKeys(ctx, f.o.Keys.Held(true))
}

func (f *Feed) rereadKeys(ctx context.Context, kids []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, kid := range kids {
		group.Go(func() error {
			k, err := f.source.KeyAtLeader(ctx, kid)
			switch {
			case err == nil:
				f.o.Keys.Apply(k)
				f.receipts.add(wire.AppliedEntry{Workspace: k.Workspace, KID: k.KID, Revision: k.Revision})
			case fault.Is(err, fault.NotFound):
				f.o.Keys.Forget(kid)
			case errors.Is(err, errFilling):
				// NATS lost its data and is being filled: the document stays.
			default:
				return err
			}
			return nil
		})
	}
	return group.Wait()
}

// catchUpPolicies brings the snapshot store to where the bucket stands.
func (f *Feed) catchUpPolicies(ctx context.Context) error {
	state, err := f.reader.State(ctx, wire.BucketPolicy)
	if err != nil {
		return err
	}
	mark := f.position(func(m *marks) *wire.Position { return &m.policy })
	if !follows(mark, state.End, len(f.o.Policies.Held(false))) {
		f.o.Policies.Renew()
		if err := f.rereadPolicies(ctx, f.o.Policies.Held(false)); err != nil {
			return err
		}
		f.advance(func(m *marks) *wire.Position { return &m.policy }, state.End)
		f.gap()
		return nil
	}
	if state.End.Sequence > mark.Sequence {
		if err := f.followPolicies(ctx, mark); err != nil {
			return err
		}
	}
	return f.rereadPolicies(ctx, f.o.Policies.Held(true))
}

// followPolicies applies the pointers written after mark. The mark moves only
// when all of them were applied.
func (f *Feed) followPolicies(ctx context.Context, mark wire.Position) error {
	at := mark
	var failed atomic.Pointer[error]
	group, inGroup := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	err := f.reader.Since(ctx, wire.BucketPolicy, document.PointerFilter, mark.Sequence, func(e document.Entry) error {
		f.behind.Add(1)
		at.Sequence = e.Sequence
		group.Go(func() error {
			if err := f.pointer(inGroup, e); err != nil {
				failed.Store(&err)
			}
			return nil
		})
		return nil
	})
	_ = group.Wait() // its functions report through failed: one bad policy must not stop the others
	if one := failed.Load(); one != nil {
		err = errors.Join(err, *one)
	}
	if err == nil {
		f.advance(func(m *marks) *wire.Position { return &m.policy }, at)
	}
	return err
}

func (f *Feed) pointer(ctx context.Context, e document.Entry) error {
	ws, err := pointerOwner(e.Key)
	if err != nil {
		f.reject("pointer", err)
		return nil
	}
	if e.Deleted {
		f.o.Policies.Forget(ws)
		return nil
	}
	p, err := decodePointer(e, nil)
	if err != nil {
		f.reject("pointer", err)
		if errors.Is(err, policy.ErrSchema) {
			return err // of a newer control plane: passed over, it would count as applied
		}
		return nil
	}
	return f.pointerOf(ctx, ws, p)
}

func (f *Feed) pointerOf(ctx context.Context, ws id.Workspace, p policy.Pointer) error {
	if f.o.Policies.Wants(ws, p) {
		return f.apply(ctx, ws, p)
	}
	f.receipts.add(wire.AppliedEntry{Workspace: ws, Revision: p.Revision})
	return nil
}

func (f *Feed) rereadPolicies(ctx context.Context, list []id.Workspace) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, ws := range list {
		group.Go(func() error {
			p, err := f.source.PolicyAtLeader(ctx, ws)
			if fault.Is(err, fault.NotFound) {
				// A workspace never loses its pointer but by a loss of data; a
				// removal is pushed as one.
				return nil
			}
			if err != nil {
				return err
			}
			return f.pointerOf(ctx, ws, p)
		})
	}
	return group.Wait()
}

func (f *Feed) catchUpCatalog(ctx context.Context) error {
	state, err := f.reader.State(ctx, wire.BucketCatalog)
	if err != nil {
		return err
	}
	mark := f.position(func(m *marks) *wire.Position { return &m.catalog })
	if mark == state.End && !f.o.Policies.Status().CatalogStale {
		return nil
	}
	p, err := f.source.CatalogAtLeader(ctx)
	if fault.Is(err, fault.NotFound) {
		return nil // nothing published yet
	}
	if err == nil {
		err = f.apply(ctx, id.Workspace{}, p)
	}
	if err == nil {
		f.advance(func(m *marks) *wire.Position { return &m.catalog }, state.End)
	}
	return err
}

func (f *Feed) position(of func(*marks) *wire.Position) wire.Position {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *of(&f.marks)
}

func (f *Feed) advance(of func(*marks) *wire.Position, to wire.Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*of(&f.marks) = to
}
