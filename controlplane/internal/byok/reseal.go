package byok

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Keyring seals anew what an older key of it sealed.
type Keyring interface {
	Sealer
	Open(sealed secret.Sealed, associated ...string) (secret.String, error)
	// Mark begins what the present key seals.
	Mark() []byte
}

// Seals look over all workspaces, inside a system transaction.
type Seals interface {
	// Stale are the workspaces with a credential whose seal does not begin with
	// mark.
	Stale(ctx context.Context, mark []byte) ([]id.Workspace, error)
}

// ResealerDeps are what a Resealer works with.
type ResealerDeps struct {
	System    txn.System
	Seals     Seals
	Store     Store
	Directory Directory
	Mutator   Mutator
	Keyring   Keyring // nil: there is nothing to do
	Now       func() time.Time
	Log       *slog.Logger
}

// Resealer brings every credential under the key that seals at present, once
// after each start: a keyring is rotated by a restart with its new file. That
// publishes, so that the gateways have the new seals before the old key is
// dropped.
type Resealer struct{ d ResealerDeps }

// NewResealer returns a Resealer over d.
func NewResealer(d ResealerDeps) *Resealer { return &Resealer{d: d} }

const resealAgain = 5 * time.Second

// Run re-seals until all is done or ctx ends. It never repeats what is done:
// while control planes are restarted one by one, those that still seal with
// the old key must not seal back.
func (r *Resealer) Run(ctx context.Context) {
	if r.d.Keyring == nil {
		return
	}
	for {
		count, err := r.Once(ctx)
		if count > 0 {
			r.d.Log.InfoContext(ctx, "provider keys were sealed anew", slog.Int("count", count))
		}
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			r.d.Log.WarnContext(ctx, "provider keys that an older key sealed are left", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(resealAgain):
		}
	}
}

// Once re-seals everything that an older key sealed, and returns how many
// credentials that were. One that no key opens, such as a row that was moved,
// is told of and left.
func (r *Resealer) Once(ctx context.Context) (int, error) {
	var stale []id.Workspace
	err := r.d.System.Read(ctx, func(ctx context.Context) (err error) {
		stale, err = r.d.Seals.Stale(ctx, r.d.Keyring.Mark())
		return err
	})
	if err != nil {
		return 0, err
	}
	total, left := 0, 0
	for _, ws := range stale {
		done, unopened, err := r.workspace(ctx, ws)
		if err != nil {
			return total, err
		}
		total, left = total+done, left+unopened
	}
	if left == 0 {
		r.d.Log.InfoContext(ctx, "no provider key is sealed by an older key")
	}
	return total, nil
}

func (r *Resealer) workspace(ctx context.Context, ws id.Workspace) (done, unopened int, err error) {
	c := &deploy.Change{
		Actor: audit.Actor{Kind: audit.System, Name: "keyring rotation"}, Action: "byok.reseal", TargetType: "workspace", TargetID: ws.String(),
	}
	_, err = r.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		done, unopened = 0, 0
		all, err := r.d.Directory.All(ctx, ws)
		if err != nil {
			return err
		}
		for _, credential := range all {
			if bytes.HasPrefix(credential.Sealed, r.d.Keyring.Mark()) {
				continue
			}
			renewed, err := r.renewed(credential)
			if err != nil {
				unopened++
				r.d.Log.ErrorContext(ctx, "a provider key does not open and cannot be sealed anew",
					slog.String("workspace", ws.String()), slog.String("credential", credential.ID.String()), slog.Any("error", err))
				continue
			}
			if err := r.d.Store.Update(ctx, ws, renewed); err != nil {
				return err
			}
			done++
		}
		return nil
	})
	return done, unopened, err
}

func (r *Resealer) renewed(c Credential) (Credential, error) {
	binding := policy.CredentialBinding(c.Workspace, c.Provider)
	plain, err := r.d.Keyring.Open(c.Sealed, binding...)
	if err != nil {
		return c, err
	}
	c.Sealed, err = r.d.Keyring.Seal(plain, binding...)
	c.Version, c.UpdatedAt = c.Version+1, r.d.Now().UTC().Truncate(time.Microsecond)
	return c, err
}
