package policy

import "github.com/signalbox-dev/signalbox/shared/id"

// Guardrail restricts which models and providers the requests that it binds
// may reach, and what those do with what they are sent. All that bind a request
// hold together. It travels in the snapshot with what it is bound to, not in
// the documents of keys: a request then sees the rules and all bindings of one
// revision, so that no order in which documents arrive lets through what no
// revision allowed.
type Guardrail struct {
	ID    id.Guardrail   `json:"id"`
	Name  string         `json:"name"`
	Rules GuardrailRules `json:"rules"`

	// What it binds. A member's is every key that they created.
	Workspace bool      `json:"workspace,omitempty"` // every request
	Members   []id.User `json:"members,omitempty"`   // sorted
	Keys      []id.Key  `json:"keys,omitempty"`      // sorted
}

// GuardrailRules are what a guardrail demands.
type GuardrailRules struct {
	Models    Lists `json:"models,omitzero"`    // exact ids or patterns with *
	Providers Lists `json:"providers,omitzero"` // slugs

	RequireZDR   bool `json:"require_zero_data_retention,omitempty"`
	DenyTraining bool `json:"deny_training,omitempty"`
}

// Lists say what may be used: what Allow names, or anything where it is empty,
// and nothing that Block names.
type Lists struct {
	Allow []string `json:"allow,omitempty"`
	Block []string `json:"block,omitempty"`
}

// The bounds of guardrails.
const (
	MaxGuardrails         = 100   // of a workspace
	MaxGuardrailModels    = 256   // entries of a list
	MaxGuardrailProviders = 64    // entries of a list
	MaxGuardrailBindings  = 5_000 // keys and members of all guardrails of a workspace, each time that one is named
)

// GuardrailScope says by what a guardrail binds a request.
type GuardrailScope string

// The scopes, widest first.
const (
	GuardsWorkspace GuardrailScope = "workspace"
	GuardsMember    GuardrailScope = "member" // who created the key
	GuardsKey       GuardrailScope = "key"
)

// BoundGuardrail is a guardrail with the widest scope by which it binds.
type BoundGuardrail struct {
	*Guardrail
	Scope GuardrailScope
	// Allowed and Blocked are the lists of models, for looking one up.
	Allowed, Blocked *ModelNames
}

// Bind is a guardrail as it binds by a scope.
func Bind(g *Guardrail, by GuardrailScope) BoundGuardrail {
	return BoundGuardrail{Guardrail: g, Scope: by, Allowed: NamesOf(g.Rules.Models.Allow), Blocked: NamesOf(g.Rules.Models.Block)}
}

// guardrails are those of a snapshot by what they bind, each list sorted by id.
type guardrails struct {
	workspace []BoundGuardrail
	members   map[id.User][]BoundGuardrail
	keys      map[id.Key][]BoundGuardrail
}

func guardrailsOf(s *Snapshot) guardrails {
	var g guardrails
	if len(s.Guardrails) == 0 {
		return g
	}
	g.members, g.keys = make(map[id.User][]BoundGuardrail), make(map[id.Key][]BoundGuardrail)
	for i := range s.Guardrails {
		one := &s.Guardrails[i]
		bound := Bind(one, GuardsWorkspace)
		if one.Workspace {
			g.workspace = append(g.workspace, bound)
			continue // nothing is added by binding it again
		}
		bound.Scope = GuardsMember
		for _, member := range one.Members {
			g.members[member] = append(g.members[member], bound)
		}
		bound.Scope = GuardsKey
		for _, key := range one.Keys {
			g.keys[key] = append(g.keys[key], bound)
		}
	}
	return g
}

// Guardrails are those that bind a request of a key which owner created, each
// once, widest scope first. Both ids may be zero.
func (v *View) Guardrails(key id.Key, owner id.User) []BoundGuardrail {
	g := &v.guardrails
	members, keys := g.members[owner], g.keys[key]
	if len(members) == 0 && len(keys) == 0 {
		return g.workspace
	}
	bound := make([]BoundGuardrail, 0, len(g.workspace)+len(members)+len(keys))
	bound = append(append(bound, g.workspace...), members...)
	for _, one := range keys {
		if !holds(members, one.Guardrail) {
			bound = append(bound, one)
		}
	}
	return bound
}

// Guardrail returns an enabled guardrail of the workspace.
func (v *View) Guardrail(guardrail id.Guardrail) (*Guardrail, bool) {
	for i := range v.snapshot.Guardrails {
		if g := &v.snapshot.Guardrails[i]; g.ID == guardrail {
			return g, true
		}
	}
	return nil, false
}

func holds(list []BoundGuardrail, g *Guardrail) bool {
	for i := range list {
		if list[i].Guardrail == g {
			return true
		}
	}
	return false
}
