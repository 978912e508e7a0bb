package webhook

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Place is where a webhook is.
type Place struct {
	Workspace id.Workspace
	Webhook   id.Webhook
}

func (p Place) String() string { return p.Webhook.String() + " of " + p.Workspace.String() }

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
	Seals   reseal.Seals[Place]
	Runner  txn.Runner
	Renewal Renewal
}

// resealer brings the secrets of a webhook under the key that seals at present.
// Gateways know nothing of them, so nothing is published.
type resealer struct{ d ResealerDeps }

// NewResealer returns what brings the secrets of all webhooks under the key that
// seals at present.
func NewResealer(d ResealerDeps) *reseal.Walk[Place] {
	return reseal.NewWalk(d.System, d.Seals, "webhooks", resealer{d}.webhook)
}

func (r resealer) webhook(ctx context.Context, p Place, ring reseal.Keyring) (report reseal.Report, err error) {
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
				report.Unopened = append(report.Unopened, p.String())
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
