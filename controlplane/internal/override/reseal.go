package override

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// ResealerDeps are what a Resealer works with.
type ResealerDeps struct {
	System txn.System
	Store  Store
	IDs    *id.Source
	Now    func() time.Time
}

// Resealer brings the operator's provider keys under the key that seals at
// present, as a version of its own, which is published. Versions before it have
// none.
type Resealer struct{ d ResealerDeps }

// NewResealer returns a Resealer over d.
func NewResealer(d ResealerDeps) *Resealer { return &Resealer{d: d} }

// Seals implements reseal.Part.
func (r *Resealer) Seals(ctx context.Context) (reseal.Count, error) {
	count := make(reseal.Count)
	err := r.d.System.Read(ctx, func(ctx context.Context) error {
		latest, err := r.d.Store.Latest(ctx)
		for _, sealed := range latest.Keys {
			count.Add(sealed)
		}
		return err
	})
	return count, err
}

// errNothing undoes a change that would change nothing: no version is made.
var errNothing = errors.New("nothing is left to seal anew")

// Reseal implements reseal.Part.
func (r *Resealer) Reseal(ctx context.Context, ring reseal.Keyring) (reseal.Report, error) {
	var report reseal.Report
	err := r.d.System.InTx(ctx, func(ctx context.Context) error {
		report = reseal.Report{}
		if err := r.d.Store.Lock(ctx); err != nil {
			return err
		}
		before, err := r.d.Store.Latest(ctx)
		if err != nil {
			return err
		}
		after := before
		after.Keys, report = renewed(ring, before.Keys)
		if report.Done == 0 {
			return errNothing
		}
		return r.append(ctx, before, after)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return reseal.Report{}, err
	}
	return report, nil
}

func renewed(ring reseal.Keyring, keys map[string]secret.Sealed) (map[string]secret.Sealed, reseal.Report) {
	var report reseal.Report
	keys = maps.Clone(keys)
	for _, slug := range slices.Sorted(maps.Keys(keys)) {
		sealed, changed, err := reseal.Renew(ring, keys[slug], policy.PlatformBinding(slug))
		switch {
		case err != nil:
			report.Unopened = append(report.Unopened, "of the platform for "+slug)
		case changed:
			keys[slug] = sealed
			report.Done++
		}
	}
	return keys, report
}

// append has the new seals published, and takes the old ones away.
func (r *Resealer) append(ctx context.Context, before, after State) error {
	after.Version, after.By = before.Version+1, audit.Actor{Kind: audit.System, Name: "keyring rotation"}
	after.CreatedAt, after.Revision, after.PublishedAt = txn.Moment(r.d.Now()), 0, nil
	err := r.d.Store.Append(ctx, after, audit.Event{
		ID: id.New[id.AuditEventKind](r.d.IDs), At: after.CreatedAt, Actor: after.By, Action: "catalog.reseal", TargetType: "catalog",
		TargetID: "catalog", Diff: diff(&before, &after), Revision: after.Version,
	})
	if err != nil {
		return fmt.Errorf("keep the keys that were sealed anew: %w", err)
	}
	return r.d.Store.Trim(ctx, after.Version, Kept)
}

var _ reseal.Part = (*Resealer)(nil)
