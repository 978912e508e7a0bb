package webhook

import (
	"context"
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Seals look over all workspaces, inside a system transaction.
type Seals interface {
	// Stale are the webhooks with a secret whose seal begins with none of the marks.
	Stale(ctx context.Context, marks [][]byte) ([]Place, error)
	// Count counts the secrets by the keys that sealed them.
	Count(ctx context.Context) (reseal.Count, error)
}

// Place is where a webhook is.
type Place struct {
	Workspace id.Workspace
	Webhook   id.Webhook
}

// Renewal keeps secrets that were sealed anew, inside a transaction of ws.
type Renewal interface {
	Get(ctx context.Context, ws id.Workspace, webhook id.Webhook) (Webhook, error)
	// Renew replaces the seals of after where they are still those of before. It is
	// no change of the webhook: the secrets are the same.
	Renew(ctx context.Context, ws id.Workspace, before, after Webhook) error
}

// ResealerDeps are what a Resealer works with.
type ResealerDeps struct {
	System  txn.System
	Seals   Seals
	Runner  txn.Runner
	Renewal Renewal
}

// Resealer brings the secrets of all webhooks under the key that seals at
// present. Gateways know nothing of them, so nothing is published.
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

// Reseal implements reseal.Part. One that fails keeps no other under the old key.
func (r *Resealer) Reseal(ctx context.Context, ring reseal.Keyring) (reseal.Report, error) {
	var stale []Place
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
	for _, p := range stale {
		one, err := r.one(ctx, p, ring)
		if err != nil {
			if failed++; first == nil {
				first = fmt.Errorf("%s of %s: %w", p.Webhook, p.Workspace, err)
			}
		}
		total.Done += one.Done
		total.Unopened = append(total.Unopened, one.Unopened...)
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
	}
	if first != nil {
		return total, fmt.Errorf("%d of %d webhooks, of which the first is %w", failed, len(stale), first)
	}
	return total, nil
}

func (r *Resealer) one(ctx context.Context, p Place, ring reseal.Keyring) (report reseal.Report, err error) {
	err = r.d.Runner.InTx(ctx, p.Workspace, func(ctx context.Context) error {
		report = reseal.Report{}
		before, err := r.d.Renewal.Get(ctx, p.Workspace, p.Webhook)
		if err != nil {
			return err
		}
		after := before
		for _, sealed := range []*secret.Sealed{&after.Sealed, &after.Previous} {
			if sealed.IsZero() {
				continue
			}
			renewed, changed, err := reseal.Renew(ring, *sealed, Binding(p.Workspace, p.Webhook))
			switch {
			case err != nil:
				report.Unopened = append(report.Unopened, fmt.Sprintf("%s of %s", p.Webhook, p.Workspace))
			case changed:
				*sealed = renewed
				report.Done++
			}
		}
		if report.Done == 0 {
			return nil
		}
		return r.d.Renewal.Renew(ctx, p.Workspace, before, after)
	})
	if err != nil {
		return reseal.Report{}, err
	}
	return report, nil
}

var _ reseal.Part = (*Resealer)(nil)
