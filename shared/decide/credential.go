package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// CredentialSource says whose credential a provider is called with.
type CredentialSource string

// The sources.
const (
	CredentialManaged CredentialSource = "managed" // the platform's, of the catalog
	CredentialBYOK    CredentialSource = "byok"    // the workspace's own
	CredentialNone    CredentialSource = "none"    // the provider takes none
)

// CredentialUse is one credential that a candidate may be called with.
type CredentialUse struct {
	Source CredentialSource
	ID     id.Credential // of a workspace's own; else zero
}

// The plans without a credential of the workspace's own, which all candidates
// share.
var (
	managedOnly = []CredentialUse{{Source: CredentialManaged}}
	noneNeeded  = []CredentialUse{{Source: CredentialNone}}
)

// credentials is the order in which the credentials of a provider are tried.
func (d *decision) credentials(p *catalog.Provider) []CredentialUse {
	if p.Credential.IsZero() {
		return noneNeeded
	}
	return managedOnly
}
