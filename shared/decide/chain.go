package decide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// MaxModels is how many fallback models a request may name.
const MaxModels = 25

// link is one name of the chain before it is resolved.
type link struct {
	name   string
	reason SwitchReason // why this one is not what the caller asked for first
	rung   Rung
	gratis bool        // it stands in for what costs nothing
	auto   *autoFilter // of signalbox/auto, whose choice it was; nil: it was none
}

// links are the names to try: the request's model, its models, then the
// ladder's fallback models. The dynamic route's own fallbacks take the place of
// both. Duplicates are left out.
func (d *decision) links() ([]link, *fault.Error) {
	f, standing, fallbacks := &d.in.Facts, &d.prefer.defaultModel, &d.prefer.fallbackModels
	if len(f.Models) > 0 {
		if refusal := d.checkModels(); refusal != nil {
			return nil, refusal
		}
	}
	if f.Child {
		return []link{{name: f.Model, rung: RungRequest}}, nil
	}
	if f.Route != nil && f.Route.DefaultModel != "" {
		return d.routed(), nil
	}
	links := make([]link, 0, 1+len(f.Models)+len(fallbacks.value))
	var session link
	pinned := false
	if f.Model == "" && len(f.Models) == 0 {
		session, pinned = d.sessionModel()
	}
	switch {
	case f.Model != "":
		links = append(links, link{name: f.Model, rung: RungRequest})
	case len(f.Models) > 0: // checkModels has let it through: the first one is the model
	case pinned: // an earlier turn's choice stands between the ladder and the request
		links = append(links, session)
	case standing.rung != RungPlatform:
		links = append(links, link{name: standing.value, rung: standing.rung})
	default:
		e := fault.New(fault.NoDefaultModel, "The request names no model, and neither the workspace nor a routing profile of this key has a default model.")
		e.Violations = []fault.Violation{{Path: "model", Code: "required", Message: "is required"}}
		return nil, e
	}
	for _, name := range f.Models {
		if fallbacks.rung == RungRoute && len(links) > 0 {
			d.exclude1(clip(name), "", "model", reasonRouteFallbacks)
			continue
		}
		links = addLink(links, name, RungRequest)
	}
	for _, name := range fallbacks.value {
		links = addLink(links, name, fallbacks.rung)
	}
	return links, nil
}

// routed are the names to try when the key's dynamic route fixes the model.
// Each model of the chain walks the route again, which would fix it to the same
// one: every entry of the request's and of the ladder's counts as made. Only the
// route's own fallbacks follow.
func (d *decision) routed() []link {
	f := &d.in.Facts
	first := link{name: f.Route.DefaultModel, rung: RungRoute}
	if f.Model != first.name {
		first.reason = SwitchDynamicRoute
	}
	links := append(make([]link, 0, 1+len(f.Route.FallbackModels)), first)
	for _, name := range f.Route.FallbackModels {
		links = addLink(links, name, RungRoute)
	}
	for _, name := range f.Models {
		d.exclude1(clip(name), "", "model", reasonRouteModel)
	}
	return links
}

func addLink(links []link, name string, rung Rung) []link {
	if name == "" || slices.ContainsFunc(links, func(l link) bool { return l.name == name }) {
		return links
	}
	l := link{name: name, rung: rung}
	if len(links) > 0 {
		l.reason = SwitchFallbackModel
	}
	return append(links, l)
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
