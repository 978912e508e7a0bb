package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// residencyAlone reports whether the required regions are what leaves nothing:
// they dropped something that would serve without them, and no other demand
// dropped anything. What is not on offer to anybody here does not count.
func (d *decision) residencyAlone(t *target) bool {
	found := false
	for _, x := range d.own() {
		switch {
		case x.Stage == StageRegion.String():
			found = found || d.servesElsewhere(t, x.Endpoint)
		case demands(&x):
			return false
		}
	}
	return found
}

// demands reports whether an endpoint was dropped by something that is asked
// of it, not by what it is.
func demands(x *Exclusion) bool {
	switch x.Reason {
	case reasonOtherProvider, reasonProviderDisabled, reasonBetaOff, reasonAlphaOff, reasonEndpointDisabled,
		reasonFormat, reasonSurface, reasonModality, reasonNoEndpoints, reasonAlreadyTried:
		return false
	}
	return true
}

// servesElsewhere reports whether an endpoint passes every filter but that of
// the regions.
func (d *decision) servesElsewhere(t *target, endpoint string) bool {
	offer, ok := d.in.Catalog.Endpoint(endpoint)
	if !ok {
		return false
	}
	regions := d.restrictions.regions
	d.restrictions.regions = nil
	defer func() { d.restrictions.regions = regions }()
	own := *t
	own.model, own.allowed = offer.Model, allows(d.in.Facts.Key.Models, offer.Model)
	_, reason := d.exclude(&own, &offer)
	return reason == ""
}

// homeless is the refusal where residency is what leaves nothing.
func (d *decision) homeless() *fault.Error {
	regions := make([]string, 0, len(d.restrictions.regions))
	for _, r := range d.restrictions.regions {
		regions = append(regions, clip(r.region))
	}
	return fault.New(fault.ModelRegionUnavailable, d.remedy(StageRegion, d.droppedReason)).
		With("unmet_requirements", []string{"required_region"}).With("required_regions", regions)
}

// by is the widest rung whose restriction dropped an endpoint, RungPlatform
// where it was none's. tokens is the estimated input.
func (have *restrictions) by(stage Stage, reason string, o *catalog.Offer, tokens int64) Rung {
	switch stage {
	case StageOnly:
		return have.outside(o)
	case StageIgnore:
		return have.ignoring(o)
	case StageRegion:
		for _, r := range have.regions {
			if wrongRegion(o, r.region) != "" {
				return r.rung
			}
		}
	case StageCapability:
		if reason == reasonParameter {
			return have.parameters
		}
	case StageDataPolicy:
		if reason == reasonZDR {
			return have.zdr
		}
		return have.noTraining
	case StagePricePresent, StageMaxPrice:
		if reason != reasonNotFree {
			return have.tooDear(o, tokens)
		}
	default: // what no rung can set
	}
	return RungPlatform
}
