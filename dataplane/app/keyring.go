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
		a.pins.Rekey(a.conversationSecret())
		select {
		case <-ctx.Done():
			<-ended
			return nil
		case <-changed:
		}
	}
}

// conversationSecret is what conversations are named with. Without a keyring
// there is none, and who can read NATS can try out which conversation a name
// is of.
func (a *App) conversationSecret() []byte {
	if a.keyring == nil {
		return nil
	}
	derived, err := a.keyring.Make([]byte("conversations"), "affinity")
	if err != nil { // cannot be: it encrypts a constant
		a.deps.Log.Error("no secret for the names of conversations", slog.Any("error", err))
	}
	return []byte(derived)
}

// noKeyring stands where keyring_file is not set.
type noKeyring struct{}

var errNoKeyring = fmt.Errorf("%w: keyring_file is not set", seal.ErrOpen)

// Open implements provider.Opener.
func (noKeyring) Open(secret.Sealed, ...string) (secret.String, error) {
	return secret.String{}, errNoKeyring
}
