package provider

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Opener opens what was sealed for the same associated data.
type Opener interface {
	Open(sealed secret.Sealed, ad ...string) (secret.String, error)
}

// sealedFor is the first part of the associated data of managed credentials;
// the second is the provider's slug.
const sealedFor = "platform"

var errNoCredential = errors.New("provider has no credential and is not keyless")

// credentials keeps opened keys. An entry holds for as long as the catalog has
// the same ciphertext, so that a new revision with a new key is seen at once
// and one without is not opened again.
type credentials struct {
	opener Opener
	mu     sync.RWMutex
	opened map[string]opened // by provider slug
}

type opened struct {
	sealed secret.Sealed
	key    secret.String
}

func newCredentials(opener Opener) *credentials {
	return &credentials{opener: opener, opened: make(map[string]opened)}
}

// of returns the provider's key, zero for a keyless provider.
func (c *credentials) of(p *catalog.Provider) (secret.String, error) {
	if p.Credential.IsZero() {
		if p.Keyless {
			return secret.String{}, nil
		}
		return secret.String{}, errNoCredential
	}
	c.mu.RLock()
	had, ok := c.opened[p.Slug]
	c.mu.RUnlock()
	if ok && bytes.Equal(had.sealed, p.Credential) {
		return had.key, nil
	}
	key, err := c.opener.Open(p.Credential, sealedFor, p.Slug)
	if err != nil {
		return secret.String{}, fmt.Errorf("open the managed credential of provider %s: %w", p.Slug, err)
	}
	c.mu.Lock()
	c.opened[p.Slug] = opened{sealed: p.Credential, key: key}
	c.mu.Unlock()
	return key, nil
}
