// Package byok owns the keys that a workspace brings for providers: their
// rules, their order, when they are tried and for what, and that nothing but
// their sealed form is kept. It knows nothing of SQL, HTTP or NATS.
package byok

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Credential is a key of a workspace for a provider.
type Credential struct {
	ID        id.Credential
	Workspace id.Workspace
	Provider  string // slug; never changes: the seal is bound to it
	Name      string
	Prefix    string // of what names it, for people; may be empty
	Suffix    string
	Sealed    secret.Sealed // bound to workspace and provider
	// KeyGeneration tells keys of the credential apart: it rises when the key is
	// replaced, from 1, and stays when it is sealed anew.
	KeyGeneration int64

	Use      policy.CredentialUse
	Position int // among those of the provider with the same use, from 1; gaps are possible
	Enabled  bool
	Models   []string // ids or patterns with *; empty: all
	APIKeys  []id.Key // whose requests it serves; empty: all

	Verification *Verification // of the present key; nil: never

	CreatedBy id.User // zero when an operator created it
	Version   int64   // rises with every change, from 1
	CreatedAt time.Time
	UpdatedAt time.Time
}

// NewCredential is what a caller gives.
type NewCredential struct {
	Provider string // slug or alias
	Name     string
	Key      secret.String
	Use      policy.CredentialUse // "" is priority
	Disabled bool
	Models   []string
	APIKeys  []id.Key
}

// Patch changes a credential; nil fields stay.
type Patch struct {
	Name    *string
	Key     *secret.String
	Use     *policy.CredentialUse // moves it to the end of the others of that use
	Models  *[]string
	APIKeys *[]id.Key
	IfMatch *int64
}

// Order is the whole order of a provider's credentials of one use.
type Order struct {
	Provider    string
	Use         policy.CredentialUse
	Credentials []id.Credential
	IfMatch     *int64 // the version of the order that the caller saw
}

// Filter narrows a list.
type Filter struct {
	Provider string // slug; "" for all
}

// Published is what gateways get of a credential.
func Published(c Credential) policy.Credential {
	return policy.Credential{ID: c.ID, Provider: c.Provider, Use: c.Use, Models: c.Models, APIKeys: c.APIKeys, Sealed: c.Sealed}
}
