package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// flight is one first use under way; callers of the same kid share it.
type flight struct {
	done chan struct{}
	key  policy.Key
	err  error
}

// first fetches a document that is not held. The fetch has its own deadline:
// a caller that leaves must not fail the others.
func (k *Keyring) first(ctx context.Context, kid string) (policy.Key, error) {
	k.mu.Lock()
	if d, ok := k.held.Get(kid); ok { // it landed meanwhile
		k.mu.Unlock()
		return d.key, nil
	}
	f, joined := k.flights[kid]
	if !joined {
		f = &flight{done: make(chan struct{})}
		k.flights[kid] = f
	}
	k.mu.Unlock()
	if joined {
		select {
		case <-f.done:
			return f.key, f.err
		case <-ctx.Done():
			return policy.Key{}, fmt.Errorf("%w: %w", ErrUndetermined, ctx.Err())
		}
	}
	fetch, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.o.FetchWithin)
	defer cancel()
	f.key, f.err = k.fetch(fetch, kid)
	close(f.done)
	return f.key, f.err
}

// fetch reads, installs and ends the flight of kid.
func (k *Keyring) fetch(ctx context.Context, kid string) (policy.Key, error) {
	// A key that was pushed lately exists: looking it up is no guess, and must
	// not wait behind those who guess.
	if _, exists := k.recent.Get(kid); !exists && !k.budget.Take(k.o.Now()) {
		k.refused.Add(1)
		return k.land(kid, policy.Key{}, fmt.Errorf("%w: too many look-ups of keys not in use", ErrUndetermined))
	}
	const tries = 3 // each further one means that the subscription broke meanwhile
	for range tries {
		k.mu.Lock()
		epoch, atLeader := k.epoch, k.o.Now().Before(k.leaders)
		k.mu.Unlock()
		doc, err := k.read(ctx, kid, atLeader)
		if err != nil && !errors.Is(err, ErrUnknown) {
			return k.fallBack(kid, err)
		}
		k.mu.Lock()
		if epoch == k.epoch { // and stays so until it has landed: a gap must not come in between
			doc, err = k.landLocked(kid, doc, err)
			k.mu.Unlock()
			return doc, err
		}
		k.mu.Unlock()
	}
	return k.fallBack(kid, errors.New("the subscription keeps breaking"))
}

// read asks any replica first. Absence and a document older than one that was
// pushed are settled by the leader.
func (k *Keyring) read(ctx context.Context, kid string, atLeader bool) (doc policy.Key, err error) {
	if !atLeader {
		doc, err = k.o.Source.Key(ctx, kid)
		pushed, _ := k.recent.Get(kid)
		atLeader = fault.Is(err, fault.NotFound) || (err == nil && doc.Revision < pushed)
	}
	if atLeader {
		doc, err = k.o.Source.KeyAtLeader(ctx, kid)
	}
	if fault.Is(err, fault.NotFound) {
		return policy.Key{}, ErrUnknown
	}
	return doc, err
}

// land ends the flight of kid with what was read. What a push brought
// meanwhile wins when it is newer.
func (k *Keyring) land(kid string, doc policy.Key, err error) (policy.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.landLocked(kid, doc, err)
}

func (k *Keyring) landLocked(kid string, doc policy.Key, err error) (policy.Key, error) {
	delete(k.flights, kid)
	if err == nil {
		k.budget.Refund() // only look-ups that find nothing are dear
		k.fetched.Add(1)
		k.install(doc, false)
	}
	if d, ok := k.held.Get(kid); ok {
		return d.key, nil
	}
	if errors.Is(err, ErrUnknown) {
		k.unknown.Add(1)
		k.absent.Put(kid, k.o.Now().Add(k.o.AbsentFor))
	}
	return policy.Key{}, err
}

// fallBack serves the last-known-good document when NATS could not be asked.
// It is marked stale until the feed has confirmed it.
func (k *Keyring) fallBack(kid string, cause error) (policy.Key, error) {
	doc, err := k.fromDisk(kid)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.flights, kid)
	if err == nil {
		k.budget.Refund()
		k.install(doc, true)
	}
	if d, ok := k.held.Get(kid); ok {
		return d.key, nil
	}
	k.failures.Add(1)
	return policy.Key{}, fmt.Errorf("%w: %w", ErrUndetermined, cause)
}

func (k *Keyring) fromDisk(kid string) (policy.Key, error) {
	body, err := k.o.Disk.Load(lastgood.Keys, kid)
	if err != nil {
		return policy.Key{}, err
	}
	doc, err := policy.DecodeKey(body)
	if err != nil {
		k.o.Log.Warn("last-known-good key document is not usable", slog.String("kid", kid), slog.Any("error", err))
		return policy.Key{}, err
	}
	if doc.KID != kid {
		return policy.Key{}, errors.New("last-known-good key document has another kid")
	}
	if pushed, _ := k.recent.Get(kid); doc.Revision < pushed {
		return policy.Key{}, errors.New("last-known-good key document is out of date")
	}
	return doc, nil
}

// install puts doc in place unless a later revision is there. The caller holds
// mu, which orders it against pushes.
func (k *Keyring) install(doc policy.Key, stale bool) {
	next := &document{key: doc, stale: stale}
	var before *document
	done := false
	gone, evicted := k.held.Update(doc.KID, func(old *document, ok bool) (*document, bool) {
		before = old
		done = !ok || doc.Revision > old.key.Revision || (doc.Revision == old.key.Revision && !stale)
		return next, done
	})
	if !done {
		return
	}
	if evicted {
		// Its file stays until the directory is pruned: should NATS be away at
		// the next use, it is better than nothing.
		k.o.Log.Debug("key document let go", slog.String("kid", gone))
	}
	if stale || (before != nil && before.key.Revision == doc.Revision && !before.stale) {
		return
	}
	if body, err := json.Marshal(doc); err == nil {
		k.o.Disk.Save(lastgood.Keys, doc.KID, body)
	}
}
