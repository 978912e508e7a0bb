package decide

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// residencyAlone reports whether the required regions are what leaves nothing:
// they dropped something that would serve without them, and no other demand
// dropped anything. What is not on offer to anybody here does not count.
func (d *decision) residencyAlone(t *target) bool {
	return d.tally.demands == 0 && slices.ContainsFunc(d.tally.foreign, func(o *catalog.Offer) bool { return d.servesElsewhere(t, o) })
}

// servesElsewhere reports whether an endpoint passes every filter but that of
// the regions.
func (d *decision) servesElsewhere(t *target, o *catalog.Offer) bool {
	shared := d.Ladder
	defer func() { d.Ladder = shared }()
	d.own()
	d.restrictions.regions = nil
	own := d.about(*t, o.Model)
	return d.exclude(&own, o).reason == ""
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
	if reason == reasonPresetModel || reason == reasonPresetProvider {
		return RungPreset
	}
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
