// Package rotation owns the keyring of a process that runs while the keyring's
// file changes: it takes a changed file in one step, and keeps the keyring that
// it has where the new one cannot be taken. It knows nothing of what is sealed.
package rotation

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// Every is how often the file is looked at.
const Every = 5 * time.Second

// Options are the rest of what a Keyring works with.
type Options struct {
	Log *slog.Logger
	// Again has the file looked at at once, as SIGHUP does; nil: only every
	// Every.
	Again <-chan os.Signal
}

// Keyring is the keyring that a file has at present. It is safe for concurrent
// use. Without Run it stays as it was opened.
type Keyring struct {
	path  string
	log   *slog.Logger
	again <-chan os.Signal
	held  atomic.Pointer[held]

	metrics metrics
	wanting chan struct{} // something is sealed by a key that is not here yet

	mu      sync.Mutex    // of the rest
	changed chan struct{} // closed and replaced when another keyring is taken
	refusal string        // why the file is not taken, "" when it is
}

// held is a keyring with what is derived of it. It is frozen.
type held struct {
	*seal.Keyring
	names *seal.Identifiers
}

func hold(ring *seal.Keyring) (*held, error) {
	names, err := ring.Identifiers()
	if err != nil {
		return nil, err
	}
	return &held{Keyring: ring, names: names}, nil
}

// Open reads the file.
func Open(path string, o Options) (*Keyring, error) {
	ring, err := seal.LoadFile(path)
	if err != nil {
		return nil, err
	}
	first, err := hold(ring)
	if err != nil {
		return nil, err
	}
	k := &Keyring{path: path, log: o.Log, again: o.Again, wanting: make(chan struct{}, 1), changed: make(chan struct{})}
	k.held.Store(first)
	return k, nil
}

// Current is the keyring at this moment.
func (k *Keyring) Current() *seal.Keyring { return k.held.Load().Keyring }

// Changed returns a channel that is closed when another keyring is taken.
func (k *Keyring) Changed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changed
}

// Seal is the present keyring's.
func (k *Keyring) Seal(plain secret.String, associated ...string) (secret.Sealed, error) {
	return k.held.Load().Seal(plain, associated...)
}

// Open is the present keyring's. What a key sealed that it does not have, has
// the file looked at: the key may have come.
func (k *Keyring) Open(sealed secret.Sealed, associated ...string) (secret.String, error) {
	plain, err := k.held.Load().Open(sealed, associated...)
	if errors.Is(err, seal.ErrUnknownKey) {
		k.metrics.unknown.Add(1)
		select {
		case k.wanting <- struct{}{}:
		default:
		}
	}
	return plain, err
}

// Make is the present keyring's, of its Identifiers.
func (k *Keyring) Make(value []byte, associated ...string) (string, error) {
	return k.held.Load().names.Make(value, associated...)
}

// Read is the present keyring's, of its Identifiers.
func (k *Keyring) Read(identifier string, associated ...string) ([]byte, error) {
	return k.held.Load().names.Read(identifier, associated...)
}

var errForeign = errors.New("it does not have the key that seals now, without which nothing that is sealed could be opened; a restart takes it all the same")

// look takes the file's keyring when it is another one.
func (k *Keyring) look() {
	taken, err := k.take()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil && err.Error() != k.refusal:
		k.refusal = err.Error()
		k.metrics.refused.Add(1)
		k.log.Error("the keyring file cannot be taken; the keyring that is held stays", slog.String("file", k.path), slog.Any("error", err))
	case err == nil && k.refusal != "":
		k.refusal = ""
		k.log.Info("the keyring file can be taken again", slog.String("file", k.path))
	}
	k.metrics.failing.Store(k.refusal != "")
	if !taken {
		return
	}
	k.metrics.taken.Add(1)
	now := k.Current()
	k.log.Info("another keyring was taken", slog.Int("keys", now.Keys()), slog.Uint64("sealing_key_id", uint64(now.PrimaryID())))
	close(k.changed)
	k.changed = make(chan struct{})
}

func (k *Keyring) take() (bool, error) {
	ring, err := seal.LoadFile(k.path)
	if err != nil {
		return false, err
	}
	before := k.Current()
	switch {
	case ring.Equal(before):
		return false, nil
	case !slices.Contains(ring.IDs(), before.PrimaryID()):
		return false, fmt.Errorf("keyring file %s: %w", k.path, errForeign)
	}
	next, err := hold(ring)
	if err != nil {
		return false, fmt.Errorf("keyring file %s: %w", k.path, err)
	}
	k.held.Store(next)
	return true, nil
}
