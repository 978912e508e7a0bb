package decide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// order is how the candidates of one model are put in order.
type order struct {
	mode  policy.Mode
	fixed bool // no draw: the same for every seed
}

// how resolves the mode from the narrowest rung that sets one: suffix, then
// the request, then the workspace, then the platform.
func (d *decision) how(t *target) order {
	f := &d.in.Facts
	switch {
	case t.mode != "":
		return order{mode: t.mode, fixed: true}
	case f.Provider.Sort != "":
		return order{mode: f.Provider.Sort, fixed: true}
	case f.Routing.Mode != "":
		return order{mode: f.Routing.Mode}
	case d.settings.RoutingMode != "":
		return order{mode: d.settings.RoutingMode}
	}
	return order{mode: policy.Balanced}
}

// resolveRestrictions turns the names of providers into providers, joins the
// restrictions of request and workspace, and records every field that is set.
func (d *decision) resolveRestrictions() *fault.Error {
	p := &d.in.Facts.Provider
	var violations []fault.Violation
	d.only = d.providers(p.Only, "provider.only", &violations)
	d.ignore = d.providers(p.Ignore, "provider.ignore", &violations)
	if len(violations) > 0 {
		return fault.Invalid(violations...).Because(fault.UnknownProviderSlug)
	}
	// An unknown name in a preference costs only the preference.
	var unknown []fault.Violation
	d.order = d.providers(p.Order, "provider.order", &unknown)
	for _, v := range unknown {
		d.plan.Record.Degraded = append(d.plan.Record.Degraded, v.Path+": unknown provider")
	}
	d.requireZDR = p.RequireZDR || d.settings.RequireZDR
	d.denyTraining = p.DenyTraining || d.settings.DenyTraining
	d.recordLadder()
	return nil
}

func (d *decision) providers(names []string, path string, violations *[]fault.Violation) []*catalog.Provider {
	if len(names) == 0 {
		return nil
	}
	found := make([]*catalog.Provider, 0, len(names))
	for i, name := range names {
		p, ok := d.in.Catalog.Provider(name)
		if !ok {
			*violations = append(*violations, fault.Violation{
				Path: path + "[" + strconv.Itoa(i) + "]", Code: string(fault.UnknownProviderSlug),
				Message: "no provider has this name. GET /v1/providers lists them.",
			})
			continue
		}
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// recordLadder writes the fields that some rung sets.
func (d *decision) recordLadder() {
	f, s := &d.in.Facts, &d.settings
	name, _ := ParseName(f.Model)
	switch {
	case name.Mode != "":
		d.field("routing_mode", rungSuffix, string(name.Mode))
	case f.Provider.Sort != "":
		d.field("provider.sort", rungRequest, string(f.Provider.Sort))
	case f.Routing.Mode != "":
		d.field("routing_mode", rungRequest, string(f.Routing.Mode))
	case s.RoutingMode != "" && s.RoutingMode != policy.Balanced:
		d.field("routing_mode", rungWorkspace, string(s.RoutingMode))
	default:
		d.field("routing_mode", rungPlatform, string(policy.Balanced))
	}
	d.fieldSlugs("provider.only", d.only)
	d.fieldSlugs("provider.ignore", d.ignore)
	d.fieldSlugs("provider.order", d.order)
	if f.Provider.Region != "" {
		d.field("provider.required_region", rungRequest, clip(f.Provider.Region))
	}
	d.fieldFlag("provider.require_zero_data_retention", f.Provider.RequireZDR, s.RequireZDR)
	d.fieldFlag("provider.deny_training", f.Provider.DenyTraining, s.DenyTraining)
	d.fieldFlag("provider.require_parameters", f.Provider.RequireParameters, false)
	if m := f.Provider.MaxInputPrice; m != nil {
		d.field("provider.max_price.input", rungRequest, m.String())
	}
	if m := f.Provider.MaxOutputPrice; m != nil {
		d.field("provider.max_price.output", rungRequest, m.String())
	}
	if a := f.Provider.AllowFallbacks; a != nil {
		d.field("provider.allow_fallbacks", rungRequest, strconv.FormatBool(*a))
	}
}

func (d *decision) field(name, rung, value string) {
	if len(value) > maxFieldValue {
		value = value[:maxFieldValue]
	}
	d.plan.Record.Policy = append(d.plan.Record.Policy, ResolvedField{Field: name, Rung: rung, Value: value})
}

func (d *decision) fieldSlugs(name string, providers []*catalog.Provider) {
	if len(providers) == 0 {
		return
	}
	slugs := make([]string, len(providers))
	for i, p := range providers {
		slugs[i] = p.Slug
	}
	d.field(name, rungRequest, strings.Join(slugs, ","))
}

// fieldFlag records a restriction with the widest rung that set it: narrower
// ones could not have lifted it.
func (d *decision) fieldFlag(name string, request, workspace bool) {
	switch {
	case workspace:
		d.field(name, rungWorkspace, "true")
	case request:
		d.field(name, rungRequest, "true")
	}
}
