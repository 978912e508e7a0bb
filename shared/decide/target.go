package decide

import (
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// target is one entry of the chain, resolved: a model, perhaps at one
// provider, perhaps in a mode of its own.
type target struct {
	model         *catalog.Model
	provider      *catalog.Provider // of the qualifier; nil when there is none
	providerAlias bool              // the qualifier named the provider by an alias
	mode          policy.Mode       // of the suffix
	allowed       bool              // by the key's patterns
	guarded       *guard            // the widest guardrail that does not allow the model; nil when all do
	outside       bool              // the preset does not allow the model
	anyFree       bool              // signalbox/free; model is nil
	anyAuto       bool              // signalbox/auto; model is nil
	auto          *autoFilter       // of a model that signalbox/auto considers; nil for one that was named

	credential catalog.Credential // whose keys a rule allows
	gratis     bool               // nothing may cost anything, whatever the model's id says
	asked      *catalog.Model     // on which the rule sits that leads to model; nil: none does
}

// target resolves a name. The refusal is about the name itself: that nothing
// serves the model is found out later.
func (d *decision) target(text string) (target, *fault.Error) {
	name, refusal := ParseName(text)
	if refusal != nil {
		return target{}, refusal
	}
	if name.Preset != "" { // one that may stand here was put in its place before
		return target{}, noPreset("A preset cannot stand here.")
	}
	t := target{mode: name.Mode, anyFree: name.Model == catalog.FreeModel, anyAuto: name.Model == catalog.AutoModel}
	if t.anyAuto && !isConversation(d.in.Facts.Surface) {
		return target{}, fault.New(fault.UnsupportedModelOrEndpoint,
			"signalbox/auto answers chat, responses, messages and gemini requests. Name a model here.").Because(fault.AutoNotSupported)
	}
	if name.Provider != "" {
		if refusal := d.qualify(&t, name.Provider); refusal != nil {
			return target{}, refusal
		}
	}
	if t.anyFree || t.anyAuto {
		if t.provider != nil {
			return target{}, badName(name.Model + " takes no provider; provider.only restricts where it may go")
		}
		return t, nil
	}
	m, refusal := d.model(name.Model)
	if refusal != nil {
		return target{}, refusal
	}
	return d.about(t, m), nil
}

// about is t for a model: with what the key, the guardrails and the preset say
// of it.
func (d *decision) about(t target, m *catalog.Model) target {
	s := d.permission(m)
	t.model, t.allowed, t.guarded, t.outside = m, s.allowed, s.guarded, s.outside
	return t
}

// model resolves a canonical id, an alias or a bare name.
func (d *decision) model(name string) (*catalog.Model, *fault.Error) {
	if m, ok := d.in.Catalog.Model(name); ok {
		return m, nil
	}
	found := d.in.Catalog.Resolve(name)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, notFound(noSuchModel)
	}
	ids := make([]string, 0, maxNamed)
	for _, m := range found[:min(len(found), maxNamed)] {
		ids = append(ids, m.ID)
	}
	return nil, notFound("Several models have this name: " + strings.Join(ids, ", ") + ". Write the one you mean with its author.")
}

// maxNamed bounds the models that an error names.
const maxNamed = 8

const noSuchModel = "There is no model with this id."

// helpful adds to the refusal of a name that nothing has what may have been
// meant. The search is worth its time only for a refusal that is answered.
func (d *decision) helpful(text string, refusal *fault.Error) *fault.Error {
	name, wrong := ParseName(text)
	if wrong != nil || refusal.Code != fault.ModelNotFound || name.Preset != "" || len(d.in.Catalog.Resolve(name.Model)) > 0 {
		return refusal
	}
	return d.unknownModel(name.Model)
}

func (d *decision) unknownModel(name string) *fault.Error {
	text := noSuchModel
	if unknownSuffix(name) {
		text = "There is no model with this id; the suffixes are :free, which is part of the id and comes first, :nitro, :cheap and :fast."
		if i := strings.IndexByte(name, ':'); i > 0 && strings.IndexByte(name[:i], '/') > 0 {
			name = name[:i]
		}
	}
	if near := d.in.Catalog.Suggest(name); len(near) > 0 {
		text += " Did you mean " + strings.Join(near, ", ") + "?"
	} else {
		text += " GET /v1/models lists those that your key may use."
	}
	return notFound(text)
}

func notFound(message string) *fault.Error {
	e := fault.New(fault.ModelNotFound, message)
	e.Violations = []fault.Violation{{Path: "model", Code: string(fault.ModelNotFound), Message: message}}
	return e
}

// qualify resolves the provider of a qualified name. Naming one that
// some rung excludes is a contradiction, not an empty pool.
func (d *decision) qualify(t *target, slug string) *fault.Error {
	p, ok := d.in.Catalog.Provider(slug)
	if !ok {
		return refuseName(fault.UnknownProviderSlug,
			"no provider has the name before the colon. GET /v1/providers lists them.")
	}
	if by, field := d.restrictions.excluding(p); by != RungPlatform {
		return conflict(p, by, field)
	}
	t.provider, t.providerAlias = p, !strings.EqualFold(slug, p.Slug)
	return nil
}

func conflict(p *catalog.Provider, by Rung, field string) *fault.Error {
	message := field + " excludes the provider that the model names. Remove one of them."
	if by != RungRequest {
		message = field + " of the " + by.title() + " excludes the provider that the model names. Remove the provider before the colon."
	}
	return refuseName(fault.ProviderQualifiedModelConflict, message).
		With("provider", p.Slug).With("field", field).With("rung", by.String())
}
