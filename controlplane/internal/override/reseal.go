package override

import (
	"context"
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

// Keys are the sealed keys of one version, by provider.
type Keys struct {
	Version int64
	Sealed  map[string]secret.Sealed
}

// Sealings keep versions with their sealed keys. It is called inside a system
// transaction.
type Sealings interface {
	Lock(ctx context.Context) error
	Latest(ctx context.Context) (State, error)
	Append(ctx context.Context, s State, e audit.Event) error
	// Keys are those of every version that is kept and has any.
	Keys(ctx context.Context) ([]Keys, error)
	// ReplaceKeys changes how the keys of a version are sealed, and nothing else.
	ReplaceKeys(ctx context.Context, k Keys) error
}

// ResealerDeps are what a Resealer works with.
type ResealerDeps struct {
	System txn.System
	Store  Sealings
	IDs    *id.Source
	Now    func() time.Time
}

// Resealer brings the operator's provider keys under the key that seals at
// present: the latest ones as a version of their own, which is published;
// those of versions before it where they are.
type Resealer struct{ d ResealerDeps }

// NewResealer returns a Resealer over d.
func NewResealer(d ResealerDeps) *Resealer { return &Resealer{d: d} }

// Seals implements reseal.Part, over all versions that are kept.
func (r *Resealer) Seals(ctx context.Context) (reseal.Count, error) {
	count := make(reseal.Count)
	err := r.d.System.Read(ctx, func(ctx context.Context) error {
		versions, err := r.d.Store.Keys(ctx)
		for _, k := range versions {
			for _, sealed := range k.Sealed {
				if !sealed.IsZero() {
					count.Add(sealed)
				}
			}
		}
		return err
	})
	return count, err
}

// Reseal implements reseal.Part.
func (r *Resealer) Reseal(ctx context.Context, ring reseal.Keyring) (reseal.Report, error) {
	var report reseal.Report
	err := r.d.System.InTx(ctx, func(ctx context.Context) error {
		report = reseal.Report{}
		if err := r.d.Store.Lock(ctx); err != nil {
			return err
		}
		latest, err := r.d.Store.Latest(ctx)
		if err != nil {
			return err
		}
		versions, err := r.d.Store.Keys(ctx)
		if err != nil {
			return err
		}
		p := pass{ring: ring, renewed: make(map[string]secret.Sealed), report: &report}
		for _, k := range versions {
			sealed, changed := p.keys(k)
			if !changed {
				continue
			}
			if err := r.d.Store.ReplaceKeys(ctx, Keys{Version: k.Version, Sealed: sealed}); err != nil {
				return err
			}
			if k.Version == latest.Version {
				if err := r.append(ctx, latest, sealed); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return reseal.Report{}, err
	}
	return report, nil
}

// append has the latest version published with its new seals.
func (r *Resealer) append(ctx context.Context, latest State, sealed map[string]secret.Sealed) error {
	before := latest
	latest.Keys = sealed
	latest.Version, latest.By = before.Version+1, audit.Actor{Kind: audit.System, Name: "keyring rotation"}
	latest.CreatedAt, latest.Revision, latest.PublishedAt = r.d.Now().UTC().Truncate(time.Microsecond), 0, nil
	return r.d.Store.Append(ctx, latest, audit.Event{
		ID: id.New[id.AuditEventKind](r.d.IDs), At: latest.CreatedAt, Actor: latest.By, Action: "catalog.reseal", TargetType: "catalog",
		TargetID: "catalog", Diff: diff(&before, &latest), Revision: latest.Version,
	})
}

// pass seals the same ciphertext, which many versions may have, anew once.
type pass struct {
	ring    reseal.Keyring
	renewed map[string]secret.Sealed // by slug and ciphertext
	report  *reseal.Report
}

func (p *pass) keys(k Keys) (sealed map[string]secret.Sealed, changed bool) {
	sealed = maps.Clone(k.Sealed)
	for _, slug := range slices.Sorted(maps.Keys(sealed)) {
		if sealed[slug].IsZero() {
			continue // a version that only says that there was a key
		}
		name := slug + "\x00" + string(sealed[slug])
		if known, ok := p.renewed[name]; ok {
			sealed[slug], changed = known, true
			continue
		}
		renewed, different, err := reseal.Renew(p.ring, sealed[slug], policy.PlatformBinding(slug))
		switch {
		case err != nil:
			p.report.Unopened = append(p.report.Unopened, fmt.Sprintf("of the platform for %s, version %d", slug, k.Version))
		case different:
			p.renewed[name] = renewed
			sealed[slug], changed = renewed, true
			p.report.Done++
		}
	}
	return sealed, changed
}

var _ reseal.Part = (*Resealer)(nil)
