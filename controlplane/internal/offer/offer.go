// Package offer owns the catalog that this platform offers: the embedded one,
// with the operator's files over it and the platform's own provider keys
// sealed into it. It knows nothing of how it is published.
package offer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Sealer seals provider keys, so that only gateways can open them.
type Sealer interface {
	Seal(plain secret.String, associated ...string) (secret.Sealed, error)
}

// Options say what the offer is made of.
type Options struct {
	Files []string // catalog files, each laid over the ones before
	// Env looks up the variables that files name in place of keys.
	Env    func(name string) (string, bool)
	Sealer Sealer // nil when there is no keyring
}

// Offer is a catalog ready to publish.
type Offer struct {
	catalog catalog.Catalog
}

// Catalog is what is offered. Its revision is the publisher's to set.
func (o *Offer) Catalog() catalog.Catalog { return o.catalog }

// New builds the offer. Its error lists everything wrong in the first file
// that has something wrong, each at its line.
func New(o Options) (*Offer, catalog.Warnings, error) {
	c, err := catalog.Embedded()
	if err != nil {
		return nil, nil, err
	}
	keys := make(map[string]secret.String)
	var warnings catalog.Warnings
	for _, name := range o.Files {
		var found catalog.Warnings
		if c, found, err = overlay(c, name, o.Env, keys); err != nil {
			return nil, warnings, err
		}
		warnings = append(warnings, found...)
	}
	if err := seal(c, keys, o.Sealer); err != nil {
		return nil, warnings, err
	}
	return &Offer{catalog: c}, warnings, nil
}

func overlay(base catalog.Catalog, name string, env func(string) (string, bool), keys map[string]secret.String) (catalog.Catalog, catalog.Warnings, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return base, nil, fmt.Errorf("catalog_files: there is no file %s", name)
	}
	if err != nil {
		return base, nil, fmt.Errorf("catalog_files: %w", err)
	}
	defer func() { _ = file.Close() }()
	merged, over, warnings, err := catalog.Overlaid(base, file, name, env)
	if err != nil {
		return base, warnings, err
	}
	for slug, key := range over.Keys {
		keys[slug] = key
	}
	return merged, warnings, nil
}

func seal(c catalog.Catalog, keys map[string]secret.String, sealer Sealer) error {
	for i := range c.Providers {
		p := &c.Providers[i]
		key, ok := keys[p.Slug]
		if !ok {
			continue
		}
		if sealer == nil {
			return fmt.Errorf("keyring_file: needed to seal the key of the provider %s, and not set", p.Slug)
		}
		sealed, err := sealer.Seal(key, policy.PlatformBinding(p.Slug)...)
		if err != nil {
			return fmt.Errorf("seal the key of the provider %s: %w", p.Slug, err)
		}
		p.Credential = sealed
	}
	return nil
}
