package reseal

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Source gives the catalog to publish.
type Source interface {
	Catalog(ctx context.Context) (catalog.Catalog, int64, error)
	Published(ctx context.Context, version, revision int64, at time.Time) error
}

// Offered is a source whose platform keys are under the key that seals now:
// those of catalog files were sealed when the process started. What it seals
// anew stays the same until it is stale again, since each other ciphertext is
// another catalog to publish. It is a Part too: a control plane that does not
// publish must not be left with keys that only a dropped one opens.
type Offered struct {
	Source
	ring Ring

	mu      sync.Mutex
	renewed map[string]renewal // by provider slug
}

type renewal struct{ from, to secret.Sealed }

// NewOffered returns a source over another; ring is nil where there is no
// keyring.
func NewOffered(source Source, ring Ring) *Offered {
	return &Offered{Source: source, ring: ring, renewed: make(map[string]renewal)}
}

// Catalog is the source's, sealed anew where that is due. A key that does not
// open is left: it keeps no other from being published.
func (o *Offered) Catalog(ctx context.Context) (catalog.Catalog, int64, error) {
	c, version, err := o.Source.Catalog(ctx)
	if err != nil || o.ring == nil {
		return c, version, err
	}
	c.Providers, _ = o.under(o.ring.Current(), c.Providers)
	return c, version, nil
}

// Reseal implements Part.
func (o *Offered) Reseal(ctx context.Context, ring Keyring) (Report, error) {
	c, _, err := o.Source.Catalog(ctx)
	if err != nil {
		return Report{}, err
	}
	_, report := o.under(ring, c.Providers)
	return report, nil
}

// Seals implements Part: what this process would publish.
func (o *Offered) Seals(ctx context.Context) (Count, error) {
	c, _, err := o.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	count := make(Count)
	for i := range c.Providers {
		if p := &c.Providers[i]; !p.Credential.IsZero() {
			count.Add(p.Credential)
		}
	}
	return count, nil
}

// under returns the providers with their keys under the one that seals. It goes
// on from what it sealed the last time: the key that sealed the source's own may
// have been dropped since.
func (o *Offered) under(ring Keyring, providers []catalog.Provider) (renewed []catalog.Provider, report Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	renewed = slices.Clone(providers)
	for i := range renewed {
		p := &renewed[i]
		if p.Credential.IsZero() || !ring.IsStale(p.Credential) {
			continue
		}
		had, ok := o.renewed[p.Slug]
		if !ok || !bytes.Equal(had.from, p.Credential) {
			had = renewal{from: p.Credential, to: p.Credential}
		}
		if ring.IsStale(had.to) {
			to, err := renew(ring, had.to, policy.PlatformBinding(p.Slug))
			if err != nil {
				report.Unopened = append(report.Unopened, "of the platform at "+p.Slug)
			} else {
				had.to = to
				report.Done++
			}
		}
		o.renewed[p.Slug], p.Credential = had, had.to
	}
	return renewed, report
}

func renew(ring Keyring, sealed secret.Sealed, binding []string) (secret.Sealed, error) {
	plain, err := ring.Open(sealed, binding...)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return ring.Seal(plain, binding...)
}

// Renew seals anew what is stale, for the same associated data.
func Renew(ring Keyring, sealed secret.Sealed, binding []string) (renewed secret.Sealed, changed bool, err error) {
	if !ring.IsStale(sealed) {
		return sealed, false, nil
	}
	renewed, err = renew(ring, sealed, binding)
	return renewed, err == nil, err
}
