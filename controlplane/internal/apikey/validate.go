package apikey

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

const (
	maxModels       = 256
	maxModelLength  = 200
	maxSurfaces     = 32
	maxScopes       = 64
	maxScopeLength  = 64
	maxSurfaceChars = 64
)

// Validate reports every violation.
func (n NewKey) Validate(now time.Time) error {
	var v rule.Violations
	v.Name("name", n.Name)
	v.Future("expires_at", n.ExpiresAt, now)
	checkScopes(&v, n.Models, n.Surfaces, n.Scopes)
	checkLimits(&v, n.Limits)
	checkAgent(&v, n.Agent)
	return v.Err()
}

// Validate reports every violation.
func (p Patch) Validate(now time.Time) error {
	var v rule.Violations
	if p.Name != nil {
		v.Name("name", *p.Name)
	}
	if p.SetExpiry {
		v.Future("expires_at", p.ExpiresAt, now)
	}
	checkScopes(&v, deref(p.Models), deref(p.Surfaces), deref(p.Scopes))
	if p.Limits != nil {
		checkLimits(&v, p.Limits.New())
	}
	if p.Agent != nil {
		checkAgent(&v, *p.Agent)
	}
	return v.Err()
}

func (p Patch) apply(k Key) Key {
	patch.Set(&k.Name, p.Name)
	if p.SetExpiry {
		k.ExpiresAt = credential.Moment(p.ExpiresAt)
	}
	patch.Set(&k.Models, p.Models)
	patch.Set(&k.Surfaces, p.Surfaces)
	patch.Set(&k.Scopes, p.Scopes)
	patch.Set(&k.Profile, p.Profile)
	patch.Set(&k.Department, p.Department)
	patch.Set(&k.Agent, p.Agent)
	if p.Limits != nil {
		k.Limits = limited(p.Limits.apply(limitsOf(k)))
	}
	return k
}

func checkScopes(v *rule.Violations, models []string, surfaces []catalog.Surface, scopes []string) {
	v.Models("models", models, maxModels, maxModelLength)
	v.Strings("surfaces", texts(surfaces), maxSurfaces, maxSurfaceChars, func(s string) bool {
		return slices.Contains(catalog.Surfaces(), catalog.Surface(s))
	})
	v.Strings("scopes", scopes, maxScopes, maxScopeLength, rule.ModelPattern)
}

func texts(surfaces []catalog.Surface) []string {
	list := make([]string, len(surfaces))
	for i, s := range surfaces {
		list[i] = string(s)
	}
	return list
}

func deref[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}
