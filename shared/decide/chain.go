package decide

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// MaxModels is how many fallback models a request may name.
const MaxModels = 25

// link is one entry of the chain before its model is resolved.
type link struct {
	name     string // what is tried; "" where nobody names a model
	said     string // what the entry says, before a route or a preset put something in its place
	reason   SwitchReason
	replaced bool        // the route put something in the place of what it says
	rung     Rung        // whose name it is
	caller   bool        // the caller wrote the entry
	gratis   bool        // it stands in for what costs nothing
	auto     *autoFilter // of signalbox/auto, whose choice it was; nil: it was none

	walk    *walk                 // of the key's dynamic route; nil: it has none
	preset  *policy.PresetVersion // that it is under; nil: none
	refusal *fault.Error          // of the route, or about the preset
}

// links are the entries to try: the request's model, its models, then the
// ladder's fallback models. The dynamic route's own fallbacks take the place of
// both. Duplicates are left out.
func (d *decision) links() ([]link, *fault.Error) {
	f := &d.in.Facts
	if len(f.Models) > 0 {
		if refusal := d.checkModels(); refusal != nil {
			return nil, refusal
		}
	}
	first := d.opening.first
	if f.Child {
		return []link{first}, nil
	}
	if f.Model == "" && len(f.Models) == 0 && first.rung != RungRoute && first.preset == nil {
		// An earlier turn's choice stands between the ladder and the request.
		if session, pinned := d.sessionModel(); pinned {
			session.walk = first.walk
			first = session
		}
	}
	if first.name == "" {
		return nil, noDefault(first.preset)
	}
	if first.rung == RungRoute && isAuto(cmp.Or(first.said, d.prefer.defaultModel.value)) && !isAuto(first.name) {
		d.exclude1(catalog.AutoModel, "", stageRoute, reasonOverridden)
	}
	fallbacks := &d.prefer.fallbackModels
	links := append(make([]link, 0, 1+len(f.Models)+len(fallbacks.value)), first)
	own := f.Models
	if f.Model == "" && len(own) > 0 {
		own = own[1:] // checkModels has let it through: the first one is the model
	}
	for _, name := range own {
		if fallbacks.rung == RungRoute {
			d.exclude1(clip(name), "", stageRoute, reasonRouteFallbacks)
			continue
		}
		links = d.addLink(links, link{name: name, said: name, rung: RungRequest, caller: true})
	}
	for _, name := range fallbacks.value {
		links = d.addLink(links, link{name: name, said: name, rung: fallbacks.rung})
	}
	return links, nil
}

// noDefault refuses a request for which nobody names a model.
func noDefault(preset *policy.PresetVersion) *fault.Error {
	text := "The request names no model, and neither the workspace nor a routing profile of this key has a default model."
	if preset != nil {
		text = "The preset names no model, and neither the workspace nor a routing profile of this key has a default model."
	}
	e := fault.New(fault.NoDefaultModel, text)
	e.Violations = []fault.Violation{{Path: "model", Code: "required", Message: "is required"}}
	return e
}

// addLink puts a further entry behind the others, unless it is there already or
// the dynamic route does not let it through. The route is walked again for what
// it did not name itself.
func (d *decision) addLink(links []link, l link) []link {
	if l.name == "" || named(links, l.name) {
		return links
	}
	l.reason = SwitchFallbackModel
	if d.opening.walker != nil {
		l.walk = links[0].walk
		if l.rung != RungRoute {
			if d.matches == nil {
				d.matches = make(matches)
			}
			l.walk = d.opening.walker.again(l.name, l.walk, d.matches)
			d.plan.UnknownAt = cmp.Or(d.plan.UnknownAt, l.walk.unknownAt)
			if l.walk.action.Reject != nil {
				d.exclude1(clip(l.said), "", stageRoute, reasonRouteRejects)
				return links
			}
			l.routed()
		}
	}
	d.applyPreset(links, &l)
	if slices.ContainsFunc(links, func(have link) bool { return have.name == l.name && have.preset == l.preset }) {
		if l.replaced {
			d.exclude1(clip(l.said), "", stageRoute, reasonRouteModel)
		}
		return links
	}
	return append(links, l)
}

// named reports whether an entry was there already, as it was written.
func named(links []link, name string) bool {
	return slices.ContainsFunc(links, func(l link) bool { return l.said == name })
}

// applyPreset puts an entry under its preset: the one that it names, or else the
// one that it stands in for.
func (d *decision) applyPreset(links []link, l *link) {
	if key := l.asPreset(d.in); key != "" {
		if !slices.Contains(d.plan.NeedsPresets, key) {
			d.plan.NeedsPresets = append(d.plan.NeedsPresets, key)
		}
		return
	}
	first := &links[0]
	switch {
	case l.refusal != nil:
	case l.preset != nil && l.name == "":
		d.nameByLadder(l)
	case l.preset == nil && !l.caller && first.preset != nil && (first.caller || l.rung == RungPreset):
		l.preset = first.preset
	}
}

// nameByLadder gives an entry whose preset names no model the ladder's default.
func (d *decision) nameByLadder(l *link) {
	var own Ladder
	own.climb(d.in, l.preset, l.walk)
	l.name, l.rung = own.prefer.defaultModel.value, own.prefer.defaultModel.rung
	if _, isPreset := PresetKey(l.name); isPreset || l.name == "" {
		l.refusal = noPreset("The preset names no model, and there is no default model that is one.")
	}
}

// enter takes the ladder of a further entry in, where it is another one than the
// first entry's.
func (d *decision) enter(l, first *link) *fault.Error {
	if l.refusal != nil {
		return l.refusal
	}
	same := l.preset == first.preset && l.walk == first.walk
	if !same && l.preset == first.preset && l.walk != nil && first.walk != nil {
		same = slices.Equal(l.walk.trace.Nodes, first.walk.trace.Nodes) // the same path has the same outcome
	}
	switch {
	case !same:
		d.Ladder = &Ladder{}
		d.climb(d.in, l.preset, l.walk)
	case d.apart:
		d.Ladder = &d.opening.Ladder
	default:
		return nil
	}
	d.apart, d.permissions.models = !same, nil // those are under the ladder before
	return d.refusedBy()
}

// aim resolves one name of the chain.
func (d *decision) aim(l *link) (target, *fault.Error) {
	t, refusal := d.target(l.name)
	if refusal != nil {
		return t, refusal
	}
	t.auto = l.auto
	return t, d.staleTarget(l, &t)
}

// checkModels refuses a list that breaks the rules for models.
func (d *decision) checkModels() *fault.Error {
	f := &d.in.Facts
	invalid := func(path, code, message string) *fault.Error {
		return fault.Invalid(fault.Violation{Path: path, Code: code, Message: message})
	}
	if slices.Contains([]catalog.Surface{catalog.Batches, catalog.Files, catalog.Realtime}, f.Surface) {
		return invalid("models", "not_supported", "is not supported here")
	}
	if len(f.Models) > MaxModels {
		return invalid("models", "too_many", "takes 1 to 25 models")
	}
	if f.Model == "" && d.settings.ModelsWithoutModel != policy.ModelsUseFirst {
		return invalid("model", "required", "is required beside models")
	}
	if isAuto(f.Model) {
		return invalid("models", "not_supported", "cannot be combined with signalbox/auto")
	}
	var wrong []fault.Violation
	for i, name := range f.Models {
		path := "models[" + strconv.Itoa(i) + "]"
		switch {
		case name == "":
			wrong = append(wrong, fault.Violation{Path: path, Code: string(fault.InvalidModelName), Message: "is empty, and no model's name"})
		case isAuto(name):
			wrong = append(wrong, fault.Violation{Path: path, Code: "not_supported", Message: "signalbox/auto cannot be a fallback"})
		}
	}
	if len(wrong) > 0 {
		return fault.Invalid(wrong...)
	}
	return nil
}

// isAuto also finds signalbox/auto behind a qualifier or before a suffix.
func isAuto(name string) bool {
	if !strings.Contains(name, catalog.AutoModel) {
		return false
	}
	n, refusal := ParseName(name)
	return refusal == nil && n.Model == catalog.AutoModel
}
