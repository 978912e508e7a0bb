package policy

import (
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Credential is a key that the workspace brings for a provider. Snapshots hold
// the enabled ones, in the order in which those of one provider and use are
// tried. They are part of the snapshot and no documents of their own: there
// are few, MaxCredentials at most, and a request then sees the keys, the
// settings and the bindings of one revision.
type Credential struct {
	ID       id.Credential `json:"id"`
	Provider string        `json:"provider"` // slug
	Use      CredentialUse `json:"use"`
	Models   []string      `json:"models,omitempty"`   // exact ids or patterns with *; empty: all
	APIKeys  []id.Key      `json:"api_keys,omitempty"` // whose requests it serves; empty: all
	Sealed   secret.Sealed `json:"sealed"`             // opens with CredentialBinding
}

// OwnCredential is a credential as a view holds it, with the revision that it
// is of and the workspace that it opens for. It is frozen.
type OwnCredential struct {
	Credential
	Workspace id.Workspace
	Revision  int64
}

// CredentialUse says when a credential is tried.
type CredentialUse string

// The uses.
const (
	UsePriority CredentialUse = "priority" // before the platform's own credential
	UseFallback CredentialUse = "fallback" // after it
)

// MaxCredentials is how many a workspace may have.
const MaxCredentials = 128

// CredentialBinding is the associated data that a workspace's credential is
// sealed with: in a row of another workspace or provider it does not open.
func CredentialBinding(ws id.Workspace, provider string) []string {
	return []string{"byok", ws.String(), provider}
}

// PlatformBinding is the associated data that the platform's own credential of
// a provider is sealed with.
func PlatformBinding(provider string) []string { return []string{"platform", provider} }

// ownCredentials indexes a snapshot's credentials; nil where there are none.
func ownCredentials(s *Snapshot) map[string][]*OwnCredential {
	if len(s.Credentials) == 0 {
		return nil
	}
	own := make(map[string][]*OwnCredential)
	for i := range s.Credentials {
		c := &s.Credentials[i]
		own[c.Provider] = append(own[c.Provider], &OwnCredential{Credential: *c, Workspace: s.Workspace, Revision: s.Revision})
	}
	return own
}

// Credentials are the workspace's own for a provider; those of one use are in
// the order in which they are tried.
func (v *View) Credentials(provider string) []*OwnCredential { return v.own[provider] }
