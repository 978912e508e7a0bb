package provider

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Opener opens what was sealed for the same associated data.
type Opener interface {
	Open(sealed secret.Sealed, ad ...string) (secret.String, error)
}

var (
	errNoCredential = errors.New("provider has no credential and is not keyless")
	errNoOwn        = errors.New("the plan names a credential of the workspace's own that is not here")
	errForeignOwn   = errors.New("the plan names a credential of the workspace's own that is for another provider")
)

// credentials keeps opened keys with the tokens that were got for them. An
// entry holds for as long as the catalog has the same ciphertext, type and
// location, so that a new revision with a new key is seen at once and one
// without is not opened again.
type credentials struct {
	opener   Opener
	now      func() time.Time
	tasks    *tasks
	exchange http.RoundTripper // to token endpoints
	metadata http.RoundTripper // to the metadata server

	mu     sync.RWMutex
	opened map[string]opened // by provider slug
	own    ownKeys
}

type opened struct {
	provider string // slug
	sealed   secret.Sealed
	kind     catalog.ProviderType
	location string
	project  string // of the account, when it calls in one of its own
	with     authorizer
}

func (o *opened) fits(p *catalog.Provider, sealed secret.Sealed) bool {
	return o.with != nil && o.kind == p.Type && o.location == p.Location && bytes.Equal(o.sealed, sealed)
}

// of returns what authorizes a request, by the credential that its plan says.
func (c *credentials) of(use decide.CredentialUse, p *catalog.Provider) (opened, error) {
	if use.Source == decide.CredentialBYOK {
		return c.brought(use.Own, p)
	}
	return c.managed(p)
}

// managed returns what authorizes requests with the catalog's credential.
func (c *credentials) managed(p *catalog.Provider) (opened, error) {
	c.mu.RLock()
	had := c.opened[p.Slug]
	c.mu.RUnlock()
	if had.fits(p, p.Credential) {
		return had, nil
	}
	// Under the lock, or each of many first requests would fetch a token of its
	// own.
	c.mu.Lock()
	defer c.mu.Unlock()
	if had = c.opened[p.Slug]; had.fits(p, p.Credential) {
		return had, nil
	}
	with, err := c.open(p)
	if err != nil {
		return opened{}, err
	}
	made := opened{provider: p.Slug, sealed: p.Credential, kind: p.Type, location: p.Location, with: with}
	c.opened[p.Slug] = made
	return made, nil
}

func (c *credentials) open(p *catalog.Provider) (authorizer, error) {
	if p.Credential.IsZero() {
		if p.Keyless {
			return c.keyless(p), nil
		}
		return nil, errNoCredential
	}
	key, err := c.opener.Open(p.Credential, policy.PlatformBinding(p.Slug)...)
	if err != nil {
		return nil, fmt.Errorf("open the managed credential of provider %s: %w", p.Slug, err)
	}
	with, err := c.authorizerOf(p, key)
	if err != nil {
		return nil, fmt.Errorf("managed credential of provider %s: %w", p.Slug, err)
	}
	return with, nil
}
