package decide

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
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
	// Own is what the id stands for at the revision of the plan; nil for others.
	Own *policy.OwnCredential
}

// The plans without a credential of the workspace's own, which all candidates
// share.
var (
	managedOnly = []CredentialUse{{Source: CredentialManaged}}
	noneNeeded  = []CredentialUse{{Source: CredentialNone}}
)

// credentials is the order in which an endpoint is called with credentials:
// the workspace's own of the use priority, the platform's, the workspace's own
// of the use fallback. What cools comes after all that does not. A rule may
// allow those of one side only; "" allows both.
//
// With the setting byok_fallback_enabled off the platform's is left out where
// one of the workspace's own comes before it, and, once an earlier candidate of
// the plan would be called with one, altogether: nothing of the platform's is
// spent after a failure of the workspace's own. The result may then be empty.
func (d *decision) credentials(o *catalog.Offer, only catalog.Credential) []CredentialUse {
	managed, own := managedOnly, d.in.Policy.Credentials(o.Provider.Slug)
	if only == catalog.ManagedCredential {
		own = nil
	}
	switch p := o.Provider; {
	case only == catalog.BYOKCredential:
		managed = nil
	case p.Keyless && p.Credential.IsZero():
		return noneNeeded
	case p.Credential.IsZero():
		managed = nil
	}
	switch {
	case len(own) == 0 && d.spared:
		return nil
	case len(own) == 0:
		return managed
	}
	uses := d.ownUses(make([]CredentialUse, 0, len(own)+1), own, o.Model, policy.UsePriority)
	if d.settings.BYOKFallback || len(uses) == 0 && !d.spared {
		uses = append(uses, managed...)
	}
	uses = d.ownUses(uses, own, o.Model, policy.UseFallback)
	d.coolingLast(uses)
	return uses
}

func (d *decision) ownUses(uses []CredentialUse, own []*policy.OwnCredential, m *catalog.Model, use policy.CredentialUse) []CredentialUse {
	for _, c := range own {
		if c.Use == use && d.serves(c, m) {
			uses = append(uses, CredentialUse{Source: CredentialBYOK, ID: c.ID, Own: c})
		}
	}
	return uses
}

// serves reports whether a credential's scopes cover the request.
func (d *decision) serves(c *policy.OwnCredential, m *catalog.Model) bool {
	return (len(c.APIKeys) == 0 || slices.Contains(c.APIKeys, d.in.Facts.Key.ID)) && d.scoped(c, m)
}

// coolingLast keeps the order within both parts.
func (d *decision) coolingLast(uses []CredentialUse) {
	if d.in.Health == nil {
		return
	}
	slices.SortStableFunc(uses, func(a, b CredentialUse) int { return d.cooling(a) - d.cooling(b) })
}

func (d *decision) cooling(u CredentialUse) int {
	if u.Own != nil && d.in.Health.Credential(u.ID).Cooling(d.in.Facts.Now) {
		return 1
	}
	return 0
}

// lacksCredential reports whether nothing that a rule allows can authorize a
// call to the endpoint.
func (d *decision) lacksCredential(o *catalog.Offer, only catalog.Credential) bool {
	if only != catalog.BYOKCredential && (!o.Provider.Credential.IsZero() || o.Provider.Keyless) {
		return false
	}
	if only == catalog.ManagedCredential || d.in.Policy == nil { // what is asked of the catalog alone is asked for no workspace
		return true
	}
	return !slices.ContainsFunc(d.in.Policy.Credentials(o.Provider.Slug), func(c *policy.OwnCredential) bool {
		return d.serves(c, o.Model)
	})
}

// candidates are the endpoints of a ranked pool with their credentials. One
// that the workspace's setting leaves without any is dropped, and recorded.
func (d *decision) candidates(m *catalog.Model, pool []*ranked) ([]*ranked, []Candidate) {
	kept, list := pool[:0], make([]Candidate, 0, len(pool))
	for _, r := range pool {
		uses := d.credentials(r.offer, r.credential)
		if len(uses) == 0 {
			d.exclude1(m.ID, r.offer.Endpoint.ID, StageCredential.String(), reasonSpared)
			continue
		}
		if !d.settings.BYOKFallback && slices.ContainsFunc(uses, func(u CredentialUse) bool { return u.Own != nil }) {
			d.spared = true
		}
		list = append(list, Candidate{Endpoint: r.offer.Endpoint, Provider: r.offer.Provider, Rank: len(list), Credentials: uses})
		kept = append(kept, r)
	}
	return kept, list
}
