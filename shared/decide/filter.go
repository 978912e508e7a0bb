package decide

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// verdict is why a filter drops an endpoint; zero where none does.
type verdict struct {
	stage  Stage
	reason string
	guard  *guard // whose demand it is alone; nil where it is no guardrail's
}

// exclude runs the filters over one endpoint in their fixed order and returns
// the first that drops it.
func (d *decision) exclude(t *target, o *catalog.Offer) verdict {
	if stage, reason := d.excludeByCaller(t, o); reason != "" {
		return verdict{stage: stage, reason: reason}
	}
	if t.outside {
		return verdict{stage: StageModelPolicy, reason: reasonPresetModel}
	}
	if t.guarded != nil {
		return verdict{StageModelPolicy, reasonModelRestricted, t.guarded}
	}
	if v := d.excludeByProvider(o.Provider); v.reason != "" {
		return v
	}
	if stage, reason := d.excludeByOperator(o); reason != "" {
		return verdict{stage: stage, reason: reason}
	}
	if reason := d.cannotServe(o); reason != "" {
		return verdict{stage: StageCapability, reason: reason}
	}
	if d.tooLong(o) {
		return verdict{stage: StageContext, reason: reasonContext}
	}
	if reason := d.outOfRegion(o); reason != "" {
		return verdict{stage: StageRegion, reason: reason}
	}
	if v := d.wrongDataPolicy(o); v.reason != "" {
		return v
	}
	if stage, reason := d.wrongPrice(t, o); reason != "" {
		return verdict{stage: stage, reason: reason}
	}
	if t.auto != nil {
		if stage, reason := d.excludeByAuto(t.auto, o); reason != "" {
			return verdict{stage: stage, reason: reason}
		}
	}
	stage, reason := d.excludeByAccess(t, o)
	return verdict{stage: stage, reason: reason}
}

// excludeByAccess covers what it takes to call an endpoint at all.
func (d *decision) excludeByAccess(t *target, o *catalog.Offer) (Stage, string) {
	switch {
	case d.lacksCredential(o, t.credential):
		return StageCredential, reasonNoCredential
	case !o.Provider.Addressed(o.Endpoint.Region):
		return StageCredential, reasonNoAddress
	}
	return StageNone, ""
}

// excludeByCaller covers the qualifier, only, ignore, and the models of the key.
func (d *decision) excludeByCaller(t *target, o *catalog.Offer) (Stage, string) {
	p := o.Provider
	if t.provider != nil && t.provider != p {
		return StageQualifier, reasonOtherProvider
	}
	for i := range d.restrictions.only {
		if !slices.Contains(d.restrictions.only[i].providers, p) {
			return StageOnly, reasonNotInOnly
		}
	}
	for i := range d.restrictions.ignore {
		if slices.Contains(d.restrictions.ignore[i].providers, p) {
			return StageIgnore, reasonIgnored
		}
		// An aggregator picks a provider of its own, and may pick the ignored one.
		if p.Aggregator {
			return StageIgnore, reasonAggregator
		}
	}
	if !t.allowed {
		return StageModelPolicy, reasonModelNotAllowed
	}
	return StageNone, ""
}

// excludeByProvider covers who may serve, whatever it is.
func (d *decision) excludeByProvider(p *catalog.Provider) verdict {
	if p.Disabled {
		return verdict{stage: StageProviderPolicy, reason: reasonProviderDisabled}
	}
	if lists := d.restrictions.preset; lists != nil && lists.refusesProvider(p) {
		return verdict{stage: StageProviderPolicy, reason: reasonPresetProvider}
	}
	if g := d.restrictions.guardingProvider(p); g != nil {
		return verdict{StageProviderPolicy, reasonProviderRestricted, g}
	}
	return verdict{}
}

// excludeByOperator covers channel and rollout status.
func (d *decision) excludeByOperator(o *catalog.Offer) (Stage, string) {
	switch o.Endpoint.Channel {
	case catalog.Beta:
		if !d.settings.BetaChannel {
			return StageChannel, reasonBetaOff
		}
	case catalog.Alpha:
		if !d.settings.BetaChannel || !d.settings.AlphaChannel {
			return StageChannel, reasonAlphaOff
		}
	default: // stable
	}
	if o.Endpoint.Disabled {
		return StageRollout, reasonEndpointDisabled
	}
	return StageNone, ""
}

func (d *decision) tooLong(o *catalog.Offer) bool {
	limit := o.Endpoint.Context
	if limit == 0 {
		limit = o.Model.Context
	}
	input := d.inputTokens()
	return limit > 0 && (input > limit || d.outputTokens() > limit-input)
}

// outOfRegion: an endpoint is in every region that some rung requires.
func (d *decision) outOfRegion(o *catalog.Offer) string {
	for i := range d.restrictions.regions {
		if reason := wrongRegion(o, d.restrictions.regions[i].region); reason != "" {
			return reason
		}
	}
	return ""
}

// wrongRegion asks that the endpoint certainly runs in the required region:
// it says so itself, or its provider has no other.
func wrongRegion(o *catalog.Offer, want string) string {
	switch {
	case o.Endpoint.Region != "":
		if InRegion(o.Endpoint.Region, want) {
			return ""
		}
		return reasonRegion
	case o.Provider.Aggregator:
		return reasonAggregator
	case len(o.Provider.Regions) == 0:
		return reasonRegionUnknown
	}
	for _, region := range o.Provider.Regions {
		if !InRegion(region, want) {
			return reasonRegion
		}
	}
	return ""
}

// InRegion reports whether a region is the wanted one or a part of it: eu holds
// eu and eu-west-1.
func InRegion(region, want string) bool {
	rest, ok := strings.CutPrefix(region, want)
	return ok && (rest == "" || rest[0] == '-')
}

func (d *decision) wrongDataPolicy(o *catalog.Offer) verdict {
	have := &d.restrictions
	if reason := against(&o.Provider.DataPolicy, have.zdr != RungPlatform, have.noTraining != RungPlatform); reason != "" {
		return verdict{stage: StageDataPolicy, reason: reason}
	}
	if g, reason := have.guardingData(o.Provider); g != nil {
		return verdict{StageDataPolicy, reason, g}
	}
	return verdict{}
}

// against is which demand a provider is not known to meet.
func against(p *catalog.DataPolicy, zdr, noTraining bool) string {
	if zdr && (p.ZeroDataRetention == nil || !*p.ZeroDataRetention) {
		return reasonZDR
	}
	if noTraining && (p.Trains == nil || *p.Trains) {
		return reasonTraining
	}
	return ""
}

func (d *decision) wrongPrice(t *target, o *catalog.Offer) (Stage, string) {
	if (o.Model.Free() || t.gratis) && !CostsNothing(o.Endpoint.Price) {
		return StagePricePresent, reasonNotFree
	}
	maxInput, maxOutput := d.restrictions.maxInput.limit, d.restrictions.maxOutput.limit
	if maxInput == nil && maxOutput == nil {
		return StageNone, ""
	}
	p := pricesOf(o, d.inputTokens())
	stage, reason := p.within(p.in, maxInput)
	if other, why := p.within(p.out, maxOutput); stage == StageNone || other == StagePricePresent {
		return other, why // a price that is not known comes first
	}
	return stage, reason
}

// CostsNothing says that input and output prices are there and every price is
// zero, in every tier.
func CostsNothing(p *catalog.Price) bool {
	if p == nil || p.Input == nil || p.Output == nil || !zero(p) {
		return false
	}
	for i := range p.Tiers {
		if !zero(&p.Tiers[i].Price) {
			return false
		}
	}
	return true
}

// zero: nothing that is priced costs anything.
func zero(p *catalog.Price) bool {
	if p.Request != 0 {
		return false
	}
	for _, price := range [...]*money.PerMillion{
		p.Input, p.Output, p.CachedInput, p.CacheWrite5m, p.CacheWrite1h, p.Reasoning, p.Image, p.Audio,
	} {
		if price != nil && *price != 0 {
			return false
		}
	}
	return true
}
