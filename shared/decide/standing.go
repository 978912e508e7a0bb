package decide

import (
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// staleTarget refuses a model of a routing profile that names a provider which
// was switched off since: like a provider in its lists, it is not defaulted.
func (d *decision) staleTarget(l *link, t *target) *fault.Error {
	if t.provider == nil || !t.provider.Disabled || !l.rung.profiled() {
		return nil
	}
	r := rung{name: l.rung, profile: d.profileOf(l.rung)}
	return r.stale(l.field(), t.provider.Slug)
}

// standing is the refusal of a name that the request did not give: it says
// whose it is, since the caller has not seen it.
func (d *decision) standing(l *link, refusal *fault.Error) *fault.Error {
	if l.rung == RungRequest || refusal.Reason == fault.ProfileProviderDisabled || refusal.Code == fault.RouteRejected {
		return refusal
	}
	if refusal.Reason == fault.UnknownProviderSlug && l.rung.profiled() {
		name, _ := ParseName(l.name)
		r := rung{name: l.rung, profile: d.profileOf(l.rung)}
		return r.stale(l.field(), name.Provider)
	}
	own := *refusal // that of an opening stays as it is
	own.Message = "The " + l.title() + " of the " + l.rung.title() + " cannot be used. " + refusal.Message
	if _, told := own.Fields["rung"]; told { // of the rung that is against it
		return &own
	}
	own.Fields = nil
	for name, value := range refusal.Fields {
		_ = own.With(name, value) // itself
	}
	return own.With("rung", l.rung.String()).With("field", l.field())
}

// field is the routing field that a link of a rung comes from.
func (l *link) field() string {
	switch {
	case l.reason == SwitchFallbackModel:
		return "fallback_models"
	case l.rung == RungRoute, l.rung == RungPreset:
		return "model"
	}
	return "default_model"
}

// title is how an error speaks of what a rung names.
func (l *link) title() string {
	if l.field() == "model" {
		return "model"
	}
	return "default model"
}

// profiled reports whether a rung is a saved set of routing fields.
func (r Rung) profiled() bool {
	switch r {
	case RungWorkspaceProfile, RungDepartment, RungKey, RungPreset, RungRoute:
		return true
	default:
		return false
	}
}

// profileOf is the profile of a rung, nil where it has none.
func (d *decision) profileOf(r Rung) *policy.Profile {
	for _, b := range d.in.bindings() {
		if b.rung == r {
			return b.profile
		}
	}
	return nil
}

// unresolved is the reason why an entry of the chain after the first is left
// out.
func unresolved(refusal *fault.Error) string {
	if refusal.Code == fault.UpstreamUndetermined {
		return reasonPresetUnread
	}
	switch refusal.Reason {
	case fault.ProviderQualifiedModelConflict:
		return reasonQualifierConflict
	case fault.ProfileProviderDisabled:
		return reasonProviderDisabled
	case fault.PresetNotFound:
		return string(fault.PresetNotFound)
	default:
		return reasonUnresolvable
	}
}
