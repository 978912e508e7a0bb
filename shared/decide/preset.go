package decide

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// PresetKey is what a preset is looked up by: what its name has after the @,
// without regard to case. ok is false for what names no preset.
func PresetKey(name string) (key string, ok bool) {
	rest, ok := strings.CutPrefix(name, "@")
	if !ok || rest == "" || len(name) > maxNameLen {
		return "", false
	}
	return strings.ToLower(rest), true
}

// asPreset puts in an entry's place what its name stands for, where that is a
// preset. needs is the key of one that was not looked up.
func (l *link) asPreset(in *Input) (needs string) {
	key, ok := PresetKey(l.name)
	if !ok {
		return ""
	}
	v, known := in.Presets[key]
	switch {
	case !known && slices.Contains(in.Unread, key):
		l.refusal = fault.New(fault.UpstreamUndetermined, "The preset cannot be read at the moment. Try again shortly.").
			From(fault.Gateway).After(time.Second)
	case !known:
		return key
	case v == nil:
		l.refusal = noPreset(presetMissing(key))
	case strings.HasPrefix(v.Config.Model, "@"):
		l.refusal = noPreset("The preset names another preset as its model, which cannot be followed. Ask its owner to name a model.")
	case v.Config.Model == "":
		l.preset, l.name = v, ""
	default:
		l.preset, l.name, l.rung = v, v.Config.Model, RungPreset
	}
	return ""
}

// presetMissing is what is told of a key that no preset has. One with a version
// may be of a preset that is there.
func presetMissing(key string) string {
	if strings.Contains(key, "#") {
		return "There is no such version of the preset, or no preset with this name."
	}
	return "There is no preset with this name."
}

// unread reports whether an entry is left out because its preset could not be
// read.
func (l *link) unread() bool { return l.refusal != nil && l.refusal.Code == fault.UpstreamUndetermined }

func noPreset(message string) *fault.Error { return notFound(message).Because(fault.PresetNotFound) }

// traceOf is a preset as records show it.
func traceOf(v *policy.PresetVersion) *PresetTrace {
	if v == nil {
		return nil
	}
	return &PresetTrace{Slug: clip(v.Slug), Version: v.Version}
}

// presetLists are the models and providers of a preset, which always bind.
type presetLists struct {
	allowed, blocked *policy.ModelNames
	allow, block     []*catalog.Provider
	allows, blocks   bool // there is such a list of providers
}

// weighted is a provider whose share of the draw is multiplied.
type weighted struct {
	provider *catalog.Provider
	weight   float64
}

// preset takes in what a preset sets beside its routing fields.
func (c *climber) preset(v *policy.PresetVersion) {
	config := &v.Config
	models, providers := &config.Models, &config.Providers
	if len(models.Allow)+len(models.Block)+len(providers.Allow)+len(providers.Block) > 0 {
		lists := &presetLists{
			allowed: policy.NamesOf(models.Allow), blocked: policy.NamesOf(models.Block),
			allows: len(providers.Allow) > 0, blocks: len(providers.Block) > 0,
		}
		var found []*catalog.Provider
		found, lists.allow = known(c.in.Catalog, providers.Allow, found)
		_, lists.block = known(c.in.Catalog, providers.Block, found)
		c.restrictions.preset = lists
	}
	for _, rail := range config.Guardrails {
		c.guardBy(rail)
	}
	for slug, weight := range config.ProviderWeights {
		if p, ok := c.in.Catalog.Provider(slug); ok && weight >= 0 {
			c.weights = append(c.weights, weighted{p, weight})
		}
	}
	slices.SortFunc(c.weights, func(a, b weighted) int {
		return cmp.Or(strings.Compare(a.provider.Slug, b.provider.Slug), cmp.Compare(a.weight, b.weight))
	})
	switch { // a child has the body that the gateway wrote
	case c.in.Facts.Child:
	case c.in.Adds != nil:
		c.added = c.in.Adds(v)
	case c.in.Facts.Surface.TakesInstructions():
		c.added.InputTokens = int64(len(config.SystemPrompt)) / meter.BytesPerToken
	}
}

// refusesModel reports whether the lists are against a model.
func (p *presetLists) refusesModel(m *catalog.Model) bool {
	return !p.allowed.Empty() && !p.allowed.List(m.ID, m.BareName()) || !p.blocked.Empty() && called(p.blocked, m)
}

// refusesProvider: an aggregator picks a provider of its own, and may pick a
// blocked one.
func (p *presetLists) refusesProvider(provider *catalog.Provider) bool {
	return p.allows && !slices.Contains(p.allow, provider) ||
		p.blocks && (provider.Aggregator || slices.Contains(p.block, provider))
}

// recordPreset writes what the first entry's preset sets beside its routing
// fields.
func (d *decision) recordPreset() {
	if d.opening == nil || d.opening.first.preset == nil {
		return
	}
	config := &d.opening.first.preset.Config
	for _, list := range [...]struct {
		field string
		names []string
	}{
		{"preset.models.allow", config.Models.Allow},
		{"preset.models.block", config.Models.Block},
		{"preset.providers.allow", config.Providers.Allow},
		{"preset.providers.block", config.Providers.Block},
	} {
		if len(list.names) > 0 {
			d.field(list.field, RungPreset, d.joined(list.names))
		}
	}
	for _, w := range d.weights {
		d.field("preset.provider_weights."+w.provider.Slug, RungPreset, strconv.FormatFloat(w.weight, 'g', 6, 64))
	}
}

// weigh multiplies the shares of a group by what the preset says of its
// providers, and scales them so that they add up to 1. Where nothing is left
// they stand as they were.
func (l *Ladder) weigh(group []*ranked) {
	if len(l.weights) == 0 {
		return
	}
	sum := 0.0
	for _, r := range group {
		r.weight = l.weightOf(r.offer.Provider)
		sum += r.share * r.weight
	}
	if sum <= 0 {
		return
	}
	for _, r := range group {
		r.share *= r.weight / sum
	}
}

// weightOf is 1 for a provider that the preset does not speak of.
func (l *Ladder) weightOf(p *catalog.Provider) float64 {
	for _, w := range l.weights {
		if w.provider == p {
			return w.weight
		}
	}
	return 1
}

// inputTokens is the estimated input of the entry at hand: the caller's, and what
// its preset adds.
func (d *decision) inputTokens() int64 { return d.in.Facts.InputTokens + d.added.InputTokens }

// outputTokens is the cap of the entry at hand: the caller's, or else that of its
// preset; 0 when there is none.
func (d *decision) outputTokens() int64 {
	return cmp.Or(d.in.Facts.OutputTokens, d.added.OutputTokens)
}

// asks reports whether the entry at hand has a parameter, of the caller or of its
// preset.
func (d *decision) asks(parameter string) bool {
	return slices.Contains(d.in.Facts.Parameters, parameter) || slices.Contains(d.added.Parameters, parameter)
}
