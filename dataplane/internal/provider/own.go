package provider

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/account"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// maxOwn bounds how many credentials of workspaces are open at a time. One that
// had to go is opened again when it is used, which takes microseconds, or a
// token exchange.
const maxOwn = 16_384

// ownKeys keeps the opened credentials of workspaces for as long as their
// policies have them. The tokens that were got for one stay over revisions in
// which nothing of it changes.
type ownKeys struct {
	mu   sync.RWMutex
	held map[id.Workspace]*workspaceKeys
	size int // of all of them
	most int
}

type workspaceKeys struct {
	revision int64 // of the latest policy seen
	opened   map[id.Credential]opened
}

func newOwnKeys() ownKeys {
	return ownKeys{held: make(map[id.Workspace]*workspaceKeys), most: maxOwn}
}

// brought returns what authorizes requests with a credential of a workspace's
// own.
func (c *credentials) brought(own *policy.OwnCredential, p *catalog.Provider) (opened, error) {
	if err := fits(own, p); err != nil {
		return opened{}, err
	}
	if had, ok := c.own.get(own); ok && had.fits(p, own.Sealed) {
		return had, nil
	}
	// Under the lock, as for the managed ones.
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	if had, ok := c.own.find(own); ok && had.fits(p, own.Sealed) {
		return had, nil
	}
	made, err := c.openOwn(own, p)
	if err != nil {
		return opened{}, err
	}
	c.own.put(own, made)
	return made, nil
}

// once opens a credential that is not kept.
func (c *credentials) once(use decide.CredentialUse, p *catalog.Provider) (opened, error) {
	own := use.Own
	if err := fits(own, p); err != nil {
		return opened{}, err
	}
	return c.openOwn(own, p)
}

func fits(own *policy.OwnCredential, p *catalog.Provider) error {
	switch {
	case own == nil:
		return errNoOwn
	case own.Provider != p.Slug:
		return errForeignOwn
	}
	return nil
}

// openOwn opens a credential and holds it, once more, to what tenants may give:
// the control plane that took it may have been another version.
func (c *credentials) openOwn(own *policy.OwnCredential, p *catalog.Provider) (opened, error) {
	key, err := c.opener.Open(own.Sealed, policy.CredentialBinding(own.Workspace, own.Provider)...)
	if err != nil {
		return opened{}, fmt.Errorf("open the workspace's credential %s: %w", own.ID, err)
	}
	a, err := account.Read(p.Type, key)
	if err == nil {
		err = a.ByTenant()
	}
	if err != nil {
		return opened{}, fmt.Errorf("the workspace's credential %s: %w: %w", own.ID, upstream.ErrRefusedCredential, err)
	}
	made := opened{provider: p.Slug, sealed: own.Sealed, kind: p.Type, location: p.Location}
	if a.Google != nil {
		made.project = a.Google.Project
	}
	made.with, err = c.authorizerFor(p, a)
	return made, err
}

func (k *ownKeys) get(own *policy.OwnCredential) (opened, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.find(own)
}

// find returns what is open; the lock is held.
func (k *ownKeys) find(own *policy.OwnCredential) (opened, bool) {
	ws, ok := k.held[own.Workspace]
	if !ok {
		return opened{}, false
	}
	o, ok := ws.opened[own.ID]
	return o, ok
}

// put keeps what was opened, unless a later policy than the request's has been
// seen, which may not have the credential any more. The lock is held.
func (k *ownKeys) put(own *policy.OwnCredential, made opened) {
	ws, ok := k.held[own.Workspace]
	switch {
	case !ok:
		ws = &workspaceKeys{revision: own.Revision, opened: make(map[id.Credential]opened)}
		k.held[own.Workspace] = ws
	case own.Revision < ws.revision:
		return
	}
	if _, replaced := ws.opened[own.ID]; !replaced {
		k.size++
	}
	ws.opened[own.ID] = made
	for other := range k.held {
		if k.size <= k.most {
			break
		}
		if other != own.Workspace {
			k.drop(other)
		}
	}
}

func (k *ownKeys) retain(v *policy.View) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ws, ok := k.held[v.Workspace()]
	if !ok || v.Revision() < ws.revision {
		return
	}
	ws.revision = v.Revision()
	for credential, o := range ws.opened {
		if !has(v, credential, o) {
			delete(ws.opened, credential)
			k.size--
		}
	}
}

func has(v *policy.View, credential id.Credential, o opened) bool {
	for _, own := range v.Credentials(o.provider) {
		if own.ID == credential {
			return bytes.Equal(own.Sealed, o.sealed)
		}
	}
	return false
}

func (k *ownKeys) forget(ws id.Workspace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(ws)
}

func (k *ownKeys) drop(ws id.Workspace) {
	if held, ok := k.held[ws]; ok {
		k.size -= len(held.opened)
		delete(k.held, ws)
	}
}
