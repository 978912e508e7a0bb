package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// permissions remember what the lists of models that bind a request say of each
// model. The lists may be long, and a decision asks for each endpoint, surface
// and step of its chain: each list is matched once. They are of one call, which
// nothing shares, where the ladder is shared.
type permissions struct {
	models map[*catalog.Model]permission
	scopes map[scope]bool
}

// permission is what the key, the guardrails and the preset say of a model.
type permission struct {
	allowed bool   // by the key's patterns
	guarded *guard // the widest guardrail that does not allow it; nil when all do
	outside bool   // the preset's lists are against it
}

// scope is a credential that may be for a model.
type scope struct {
	credential *policy.OwnCredential
	model      *catalog.Model
}

// permission of a model that no list is about takes no memory.
func (d *decision) permission(m *catalog.Model) permission {
	lists := d.restrictions.preset
	if len(d.in.Facts.Key.Models)+len(d.restrictions.guards) == 0 && lists == nil {
		return permission{allowed: true}
	}
	s, known := d.permissions.models[m]
	if !known {
		s = permission{
			allowed: allows(d.in.Facts.Key.Models, m), guarded: d.restrictions.guardingModel(m),
			outside: lists != nil && lists.refusesModel(m),
		}
		d.permissions.models = remember(d.permissions.models, m, s)
	}
	return s
}

// scoped reports whether a credential is for a model.
func (d *decision) scoped(c *policy.OwnCredential, m *catalog.Model) bool {
	if len(c.Models) == 0 {
		return true
	}
	of := scope{c, m}
	holds, known := d.permissions.scopes[of]
	if !known {
		holds = allows(c.Models, m)
		d.permissions.scopes = remember(d.permissions.scopes, of, holds)
	}
	return holds
}

func remember[K comparable, V any](in map[K]V, of K, said V) map[K]V {
	if in == nil {
		in = make(map[K]V)
	}
	in[of] = said
	return in
}
