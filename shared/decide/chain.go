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
}

// links are the names to try: the request's model, its models, then the
// ladder's fallback models. Duplicates are left out.
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
	links := make([]link, 0, 1+len(f.Models)+len(fallbacks.value))
	session, pinned := "", false
	if f.Model == "" && len(f.Models) == 0 {
		session, pinned = d.sessionModel()
	}
	switch {
	case f.Model != "":
		links = append(links, link{name: f.Model, rung: RungRequest})
	case len(f.Models) > 0: // checkModels has let it through: the first one is the model
	case pinned: // an earlier turn's choice stands between the ladder and the request
		links = append(links, link{name: session, reason: SwitchSessionPin, rung: RungRequest})
	case standing.rung != RungPlatform:
		links = append(links, link{name: standing.value, rung: standing.rung})
	default:
		e := fault.New(fault.NoDefaultModel, "The request names no model, and neither the workspace nor a routing profile of this key has a default model.")
		e.Violations = []fault.Violation{{Path: "model", Code: "required", Message: "is required"}}
		return nil, e
	}
	for _, name := range f.Models {
		links = addLink(links, name, RungRequest)
	}
	for _, name := range fallbacks.value {
		links = addLink(links, name, fallbacks.rung)
	}
	return links, nil
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
	for i, name := range f.Models {
		if isAuto(name) {
			return invalid("models["+strconv.Itoa(i)+"]", "not_supported", "signalbox/auto cannot be a fallback")
		}
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

// withReplacement puts the replacement of a retired first model after the
// request's own models, where the workspace wants that.
func (d *decision) withReplacement(links []link, m *catalog.Model) []link {
	if m == nil || !d.settings.RetiredRouting || m.Lifecycle.Replacement == "" ||
		m.StateAt(d.in.Facts.Now) != catalog.Retired {
		return links
	}
	at := 1
	for at < len(links) && links[at].rung == RungRequest {
		at++
	}
	return slices.Insert(links, at, link{name: m.Lifecycle.Replacement, reason: SwitchRetired, rung: RungWorkspace})
}
