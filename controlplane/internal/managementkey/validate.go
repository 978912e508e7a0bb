package managementkey

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
)

const (
	maxScopes      = 64
	maxScopeLength = 64
)

// Validate reports every violation.
func (n NewKey) Validate(now time.Time) error {
	var v rule.Violations
	v.Name("name", n.Name)
	v.Future("expires_at", n.ExpiresAt, now)
	switch {
	case n.Template != "" && len(n.Scopes) > 0:
		v.Add("scopes", rule.NotAllowed, "give either a template or scopes")
	case n.Template != "" && n.Template.Scopes() == nil:
		v.Add("template", rule.NotAllowed, "must be read-only, read-write or full-control")
	case n.Template == "" && len(n.Scopes) == 0:
		v.Add("scopes", rule.Required, "give a template or at least one scope")
	}
	v.Strings("scopes", n.Scopes, maxScopes, maxScopeLength, func(s string) bool { return slices.Contains(Scopes(), s) })
	return v.Err()
}

// granted are the scopes that the key will carry.
func (n NewKey) granted() []string {
	if n.Template != "" {
		return n.Template.Scopes()
	}
	return slices.Sorted(slices.Values(n.Scopes))
}
