package byok

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Mutator runs fn in the transaction that raises the workspace's revision, and
// records and publishes the change.
type Mutator interface {
	Mutate(ctx context.Context, ws id.Workspace, change *deploy.Change, fn func(ctx context.Context, revision int64) error) (publication.Publication, error)
}

// ResealerDeps are what a Resealer works with.
type ResealerDeps struct {
	System    txn.System
	Seals     reseal.Seals[id.Workspace]
	Runner    txn.Runner
	Store     Store
	Directory Directory
	Mutator   Mutator
	Now       func() time.Time
}

// resealer brings the credentials of a workspace under the key that seals at
// present, as a change of its own. That publishes, so that the gateways have the
// new seals before the old key is dropped.
type resealer struct{ d ResealerDeps }

// NewResealer returns what brings the credentials of all workspaces under the key
// that seals at present.
func NewResealer(d ResealerDeps) *reseal.Walk[id.Workspace] {
	return reseal.NewWalk(d.System, d.Seals, "workspaces", resealer{d}.workspace)
}

// errNothing undoes a change that would change nothing: no revision is raised,
// and nothing is published.
var errNothing = errors.New("nothing is left to seal anew")

// workspace looks before it changes anything: what no key opens stays for ever,
// and must not have every control plane take the workspace's revision for it.
func (r resealer) workspace(ctx context.Context, ws id.Workspace, ring reseal.Keyring) (reseal.Report, error) {
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
			credential.UpdatedAt = txn.Moment(r.d.Now())
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
func (r resealer) due(ctx context.Context, ws id.Workspace, ring reseal.Keyring) (due []Credential, report reseal.Report, err error) {
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
