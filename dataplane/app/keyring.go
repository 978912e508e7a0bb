package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/signalbox-dev/signalbox/dataplane/internal/job"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/rotation"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// openKeyring returns what opens credentials, and what names the things that
// providers keep.
func (a *App) openKeyring() (provider.Opener, *job.Names, error) {
	index, log := job.NewIndex(a.nats), a.deps.Log
	if a.cfg.KeyringFile == "" {
		return noKeyring{}, job.NewNames(nil, index, log), nil
	}
	ring, err := rotation.Open(a.cfg.KeyringFile, rotation.Options{Log: log, Again: a.deps.Reload})
	if err != nil {
		return nil, nil, fmt.Errorf("keyring_file: %w", err)
	}
	a.keyring = ring
	a.registry.MustRegister(ring)
	return ring, job.NewNames(ring, index, log), nil
}

// followKeyring takes the keyring's file when it changes, and names
// conversations with the secret of the key that seals then.
func (a *App) followKeyring(ctx context.Context) error {
	if a.keyring == nil {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.keyring.Run(ctx)
	}()
	for {
		changed := a.keyring.Changed()
		rekey(a.pins, a.keyring, a.deps.Log)
		select {
		case <-ctx.Done():
			<-ended
			return nil
		case <-changed:
		}
	}
}

// maker makes what stands for a value, for who has the keyring alone.
type maker interface {
	Make(value []byte, associated ...string) (string, error)
}

// conversationSecret is what conversations are named with. Without a keyring
// there is none, and who can read NATS can try out which conversation a name
// is of. With one it is never empty.
func (a *App) conversationSecret() ([]byte, error) {
	if a.keyring == nil {
		return nil, nil
	}
	return secretOf(a.keyring)
}

func secretOf(ring maker) ([]byte, error) {
	derived, err := ring.Make([]byte("conversations"), "affinity")
	if err != nil {
		return nil, fmt.Errorf("make the secret that names conversations: %w", err)
	}
	return []byte(derived), nil
}

// pinned are named with a secret.
type pinned interface{ Rekey(secret []byte) }

// rekey names conversations anew. Where there is no secret of the new key they
// keep the one that they have: a name without one tells what it is of.
func rekey(pins pinned, ring maker, log *slog.Logger) {
	secret, err := secretOf(ring)
	if err != nil {
		log.Error("conversations are named with the secret of the keyring before", slog.Any("error", err))
		return
	}
	pins.Rekey(secret)
}

// noKeyring stands where keyring_file is not set.
type noKeyring struct{}

var errNoKeyring = fmt.Errorf("%w: keyring_file is not set", seal.ErrOpen)

// Open implements provider.Opener.
func (noKeyring) Open(secret.Sealed, ...string) (secret.String, error) {
	return secret.String{}, errNoKeyring
}
