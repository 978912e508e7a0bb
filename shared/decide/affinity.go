package decide

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// PinSource says by what a conversation was recognized.
type PinSource string

// The sources, the first that there is counts.
const (
	FromSession  PinSource = "session"          // the caller's session id
	FromCacheKey PinSource = "prompt_cache_key" // the caller's prompt_cache_key
	FromOpening  PinSource = "opening"          // model, system, tools and first user turn
)

// MaxPins is how many models of one conversation are remembered.
const MaxPins = 8

// pinErrors is the smoothed share of recent calls that failed (see trouble) at
// which a conversation leaves its endpoint before the breaker opens. A move
// costs one turn at the full price of the input, about ten times the cached
// one; a third of the turns that fail cost each of their callers an attempt.
// Three failures of three calls reach it, two of two do not.
const pinErrors = 1.0 / 3

// Conversation is what was remembered, before the decision, of the
// conversation that a request belongs to. The zero value is a request that is
// recognized as part of none.
type Conversation struct {
	Source PinSource
	// Sure: the caller names the conversation or asks for caching, so that its
	// first good answer pins it. Else only caching that a provider reports does.
	Sure bool
	// Model is the model of earlier turns that named none; "" when there is none.
	Model string
	Pins  []Pin // at most one for a model, the latest first
}

// Pin is where the turns of a conversation with one model go.
type Pin struct {
	Model    string // canonical id
	Provider string // slug
	Endpoint string // id
}

// pin is the place of a model's pin, -1 when it has none.
func (c *Conversation) pin(model string) int {
	return slices.IndexFunc(c.Pins, func(p Pin) bool { return p.Model == model })
}

// AffinityRules say which part a request may have in affinity.
type AffinityRules struct {
	// CacheAware is false when affinity is off altogether: nothing is looked up,
	// written, or told to the provider.
	CacheAware bool
	// Session is false when the session id does not count: neither its endpoint
	// nor its model is pinned.
	Session bool
}

// The names of the two switches in the record.
const (
	OffCacheAware = "cache_aware_routing"
	OffSession    = "session_affinity"
)

// Affinity is what the ladder says of the two switches, for the look-up that
// comes before the decision.
func (in *Input) Affinity() AffinityRules {
	if in.Policy == nil || in.Catalog == nil || in.Facts.Owner != "" || !pinnable(in.Facts.Surface) {
		return AffinityRules{}
	}
	o := in.opened()
	cacheAware := o.prefer.cacheAware.value
	return AffinityRules{CacheAware: cacheAware, Session: cacheAware && o.prefer.affinity.value}
}

// pinnable are the surfaces whose calls are turns of conversations.
func pinnable(s catalog.Surface) bool { return isText(s) && s != catalog.Realtime }

// recognize begins the record's account of affinity.
func (d *decision) recognize() {
	off := ""
	switch {
	case !pinnable(d.in.Facts.Surface):
	case !d.prefer.cacheAware.value:
		off = OffCacheAware
	case !d.prefer.affinity.value:
		off = OffSession
	}
	if source := d.in.Conversation.Source; source != "" || off != "" {
		d.plan.Record.Affinity = &AffinityTrace{Source: string(source), Off: off}
	}
}

// unpinned is the bit of a tier that the pinned endpoint lacks: it stands below
// cooling down and provider.order, and above all else that orders candidates.
const unpinned = 1 << 7

// favor puts the endpoint that the conversation is pinned to before those
// that neither a breaker nor provider.order sets apart from it. A fixed order
// is what the caller asked for, pin or not.
func (d *decision) favor(pool []*ranked, how order) {
	at := d.in.Conversation.pin(pool[0].offer.Model.ID)
	if at < 0 || how.fixed {
		return
	}
	for _, r := range pool {
		if r.offer.Endpoint.ID == d.in.Conversation.Pins[at].Endpoint && unsound(r) == "" {
			r.pinned = true
			r.tier &^= unpinned
		}
	}
}

// unsound says why a conversation leaves a candidate; "" when it stays.
func unsound(r *ranked) CacheBreak {
	switch {
	case r.cooling && !r.health.CoolingUntil.IsZero():
		return BreakCooling
	case r.cooling:
		return BreakOpen
	}
	if errors, _ := trouble(&r.health); errors >= pinErrors {
		return BreakErrors
	}
	return ""
}

// tracePin says what the pin did for the first model of the chain.
func (d *decision) tracePin(t *target, pool []*ranked, how order) {
	trace := d.plan.Record.Affinity
	at := d.in.Conversation.pin(t.model.ID)
	if trace == nil || at < 0 {
		return
	}
	pin := &d.in.Conversation.Pins[at]
	trace.Hit, trace.Endpoint = true, pin.Endpoint
	if pool[0].offer.Endpoint.ID == pin.Endpoint {
		trace.Applied = true
		return
	}
	for _, r := range pool {
		if r.offer.Endpoint.ID != pin.Endpoint {
			continue
		}
		switch broken := unsound(r); {
		case how.fixed && t.mode != "":
			trace.Ignored = PinIgnoredSuffix
		case how.fixed:
			trace.Ignored = PinIgnoredSort
		case broken != "":
			trace.Break = broken
		default:
			trace.Ignored = PinIgnoredOrder
		}
		return
	}
	trace.Break = d.lost(t, pin.Endpoint)
	if trace.Break == "" {
		trace.Ignored = PinIgnoredQualifier
	}
}

// lost says why the filters left a pinned endpoint out; "" when it was the
// provider of the model's name, which is about this turn alone.
func (d *decision) lost(t *target, endpoint string) CacheBreak {
	offers := d.in.Catalog.Offers(t.model)
	for i := range offers {
		if offers[i].Endpoint.ID != endpoint {
			continue
		}
		switch d.exclude(t, &offers[i]).stage {
		case StageQualifier:
			return ""
		case StageCapability, StageContext:
			return BreakUnable
		default:
			return BreakPolicy
		}
	}
	return BreakGone
}

// pinnedAt is where among the conversation's pins a model is, for the order of
// models that a name such as signalbox/free leaves open: those without a pin
// come last, and so do those whose endpoint is to be left.
func (d *decision) pinnedAt(pool []*ranked) int {
	at := d.in.Conversation.pin(pool[0].offer.Model.ID)
	if at < 0 {
		return MaxPins
	}
	for _, r := range pool {
		if r.offer.Endpoint.ID == d.in.Conversation.Pins[at].Endpoint && unsound(r) == "" {
			return at
		}
	}
	return MaxPins
}
