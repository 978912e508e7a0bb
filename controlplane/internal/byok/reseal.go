package byok

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Seals look over all workspaces, inside a system transaction.
type Seals interface {
	// Stale are the workspaces with a credential whose seal begins with none of
	// the marks.
	Stale(ctx context.Context, marks [][]byte) ([]id.Workspace, error)
	// Count counts the credentials by the keys that sealed them.
	Count(ctx context.Context) (reseal.Count, error)
}

// ResealerDeps are what a Resealer works with.
type ResealerDeps struct {
	System    txn.System
	Seals     Seals
	Runner    txn.Runner
	Store     Store
	Directory Directory
	Mutator   Mutator
	Now       func() time.Time
}

// Resealer brings the credentials of all workspaces under the key that seals
// at present. That publishes, so that the gateways have the new seals before
// the old key is dropped.
type Resealer struct{ d ResealerDeps }

// NewResealer returns a Resealer over d.
func NewResealer(d ResealerDeps) *Resealer { return &Resealer{d: d} }

// Seals implements reseal.Part.
func (r *Resealer) Seals(ctx context.Context) (reseal.Count, error) {
	var count reseal.Count
	err := r.d.System.Read(ctx, func(ctx context.Context) (err error) {
		count, err = r.d.Seals.Count(ctx)
		return err
	})
	return count, err
}

// Reseal implements reseal.Part: workspace by workspace, each as a change of
// its own. One that fails keeps nobody else's keys under the old key.
func (r *Resealer) Reseal(ctx context.Context, ring reseal.Keyring) (reseal.Report, error) {
	var stale []id.Workspace
	err := r.d.System.Read(ctx, func(ctx context.Context) (err error) {
		stale, err = r.d.Seals.Stale(ctx, ring.Marks())
		return err
	})
	if err != nil {
		return reseal.Report{}, err
	}
	var total reseal.Report
	var first error
	failed := 0
	for _, ws := range stale {
		one, err := r.workspace(ctx, ws, ring)
		if err != nil {
			if failed++; first == nil {
				first = fmt.Errorf("workspace %s: %w", ws, err)
			}
		}
		total.Done += one.Done
		total.Unopened = append(total.Unopened, one.Unopened...)
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
	}
	if first != nil {
		return total, fmt.Errorf("%d of %d workspaces, of which the first is %w", failed, len(stale), first)
	}
	return total, nil
}

// errNothing undoes a change that would change nothing: no revision is raised,
// and nothing is published.
var errNothing = errors.New("nothing is left to seal anew")

// workspace looks before it changes anything: what no key opens stays for ever,
// and must not have every control plane take the workspace's revision for it.
func (r *Resealer) workspace(ctx context.Context, ws id.Workspace, ring reseal.Keyring) (reseal.Report, error) {
	var report reseal.Report
	var due []Credential
	err := r.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		due, report, err = r.due(ctx, ws, ring)
		return err
	})
	if err != nil || len(due) == 0 {
		return report, err
	}
	c := &deploy.Change{
		Actor: audit.Actor{Kind: audit.System, Name: "keyring rotation"}, Action: reseal.Change, TargetType: "workspace", TargetID: ws.String(),
	}
	_, err = r.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) (err error) {
		if due, report, err = r.due(ctx, ws, ring); err != nil {
			return err
		}
		for _, credential := range due {
			credential.Version++
			credential.UpdatedAt = r.d.Now().UTC().Truncate(time.Microsecond)
			if err := r.d.Store.Update(ctx, ws, credential); err != nil {
				return err
			}
			report.Done++
		}
		if report.Done == 0 {
			return errNothing
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNothing) {
		return reseal.Report{}, err
	}
	return report, nil
}

// due are the credentials that come under another key, sealed by it, and a
// report of those that do not open.
func (r *Resealer) due(ctx context.Context, ws id.Workspace, ring reseal.Keyring) (due []Credential, report reseal.Report, err error) {
	all, err := r.d.Directory.All(ctx, ws)
	if err != nil {
		return nil, report, err
	}
	for _, credential := range all {
		renewed, changed, err := reseal.Renew(ring, credential.Sealed, policy.CredentialBinding(ws, credential.Provider))
		switch {
		case err != nil:
			report.Unopened = append(report.Unopened, fmt.Sprintf("%s of %s", credential.ID, ws))
		case changed:
			credential.Sealed = renewed
			due = append(due, credential)
		}
	}
	return due, report, nil
}

var _ reseal.Part = (*Resealer)(nil)
