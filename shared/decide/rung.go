package decide

import (
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Rung is a place on the policy ladder that a routing field comes from.
type Rung uint8

// The rungs, widest first. A preference is the narrowest rung's that sets it;
// restrictions of all rungs hold together.
const (
	RungPlatform         Rung = iota // what holds where nobody says otherwise
	RungWorkspace                    // the workspace's settings
	RungWorkspaceProfile             // the profile bound to the workspace
	RungDepartment                   // the profile of the key's department
	RungKey                          // the profile of the key
	RungPreset
	RungRequest
	RungRoute  // a model node of the key's dynamic route
	RungSuffix // of the model's name; for the mode alone

	// Guardrails stand beside the ladder: they only restrict. One that demands
	// what a rung demands too is not what is told of.
	RungWorkspaceGuardrail
	RungMemberGuardrail
	RungKeyGuardrail
)

var rungNames = [...]string{
	RungPlatform: "platform", RungWorkspace: "workspace", RungWorkspaceProfile: "workspace_profile",
	RungDepartment: "department", RungKey: "key", RungPreset: "preset", RungRequest: "request",
	RungRoute: "route", RungSuffix: "suffix",
	RungWorkspaceGuardrail: "workspace_guardrail", RungMemberGuardrail: "member_guardrail", RungKeyGuardrail: "key_guardrail",
}

// String is the rung's name in records and errors.
func (r Rung) String() string { return rungNames[r] }

// rung is one step of the ladder with what it sets.
type rung struct {
	name    Rung
	set     *policy.Routing
	profile *policy.Profile // nil where it is none
	saved   bool            // was checked when it was saved: what it names has to be there
	binds   bool            // its restrictions hold and its preferences do not count
}

// Ladder is what the policy ladder comes to for one request, or for one entry of
// its chain. It is frozen.
type Ladder struct {
	prefer       preferences
	restrictions restrictions
	weights      []weighted        // of the preset
	added        Added             // by the preset
	unknown      []fault.Violation // names of providers in the request that nobody has
	refusal      *fault.Error      // of a rung, the first
}

// Climb works the ladder out, without the rungs of presets and dynamic routes. It
// depends on the policy, the catalog, the key and what the request says of
// routing, and neither on its surface nor on its model or size: in.Ladder may
// serve everything that asks about one request.
func Climb(in *Input) *Ladder {
	if in.Policy == nil || in.Catalog == nil {
		return nil
	}
	l := &Ladder{}
	l.climb(in, nil, nil)
	return l
}

// climb works the ladder out for an entry of the chain; preset and route may be
// nil.
func (l *Ladder) climb(in *Input, preset *policy.PresetVersion, route *walk) {
	c := climber{in: in, Ladder: l}
	l.refusal = c.climb(preset, route)
}

// climber is the state of one Climb call.
type climber struct {
	*Ladder
	in *Input
}

// climb takes the rungs of the request in, widest first. It goes on after a
// refusal, so that what else holds is known, and returns the first.
func (c *climber) climb(preset *policy.PresetVersion, route *walk) (refusal *fault.Error) {
	c.prefer = platformPreferences()
	c.guard()
	f := &c.in.Facts
	step := func(r *rung) {
		if e := c.step(r); refusal == nil {
			refusal = e
		}
	}
	var workspace policy.Routing
	c.workspaceRung(&workspace)
	step(&rung{name: RungWorkspace, set: &workspace, binds: f.OAuth})
	for _, b := range c.in.bindings() {
		switch {
		case b.missing && refusal == nil:
			refusal = undetermined()
		case b.profile != nil:
			step(&rung{name: b.rung, set: &b.profile.Routing, profile: b.profile, saved: true, binds: f.OAuth})
		}
	}
	if preset != nil {
		step(&rung{name: RungPreset, set: &preset.Config.Routing, saved: true})
		c.preset(preset)
	}
	request := policy.Routing{Mode: f.Routing.Mode, Provider: f.Provider, Timeouts: f.Timeouts, Affinity: f.Routing.SessionAffinity}
	step(&rung{name: RungRequest, set: &request})
	if route != nil {
		step(&rung{name: RungRoute, set: &route.set, saved: true})
	}
	if refusal == nil {
		refusal = c.prefer.listed.value.refusal
	}
	return refusal
}

// workspaceRung is what the settings say about routing. What is as on the
// platform is left to it.
func (c *climber) workspaceRung(set *policy.Routing) {
	s := c.in.Policy.Settings()
	set.DefaultModel, set.FallbackModels = s.DefaultModel, s.FallbackModels
	set.Provider.RequireZDR, set.Provider.DenyTraining = s.RequireZDR, s.DenyTraining
	if s.RoutingMode != policy.Balanced {
		set.Mode = s.RoutingMode
	}
	if !s.CacheAwareRouting {
		off := false
		set.Provider.CacheAware = &off
	}
}

// binding is a rung that may have a profile. One that is named and not in this
// snapshot may restrict anything: nothing is decided without it.
type binding struct {
	rung    Rung
	profile *policy.Profile
	missing bool
}

func (in *Input) bindings() (bound [3]binding) {
	view, key := in.Policy, &in.Facts.Key
	bind := func(rung Rung, profile id.Profile) (b binding) {
		b.rung = rung
		if !profile.IsZero() {
			p, ok := view.Profile(profile)
			b.profile, b.missing = p, !ok
		}
		return b
	}
	bound[0] = bind(RungWorkspaceProfile, view.WorkspaceProfile())
	if !key.Department.IsZero() {
		if department, ok := view.Department(key.Department); ok {
			bound[1] = bind(RungDepartment, department.Profile)
		} else {
			bound[1].missing = true
		}
	}
	bound[2] = bind(RungKey, key.Profile)
	return bound
}

// step takes one rung in: its restrictions join those before it, its
// preferences replace them.
func (c *climber) step(r *rung) *fault.Error {
	refusal := c.restrict(r)
	if r.binds {
		return refusal
	}
	c.prefer.take(r)
	if names := r.set.Provider.Order; len(names) > 0 {
		c.prefer.listed.rung = r.name
		l := &c.prefer.listed.value
		*l = listing{providersOf: providersOf{rung: r.name}}
		l.refusal = c.providers(r, names, "provider.order", &l.providersOf, &l.unknown)
	}
	return refusal
}

func undetermined() *fault.Error {
	e := fault.New(fault.UpstreamUndetermined,
		"This gateway has not received the routing profile of this key yet. Try again in a moment.")
	e.Retryable = true
	return e
}
