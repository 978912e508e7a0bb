package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// owned plans a call about something that an endpoint keeps for the caller, a
// job or a file: it goes there and nowhere else, whatever routing would say
// today. Only what makes the call impossible or forbidden counts.
func (d *decision) owned() Plan {
	offer, ok := d.in.Catalog.Endpoint(d.in.Facts.Owner)
	if !ok {
		return d.refuse(fault.New(fault.UnsupportedModelOrEndpoint,
			"The endpoint that keeps this is not in the catalog any more. Tell the operator.").From(fault.Gateway), StageRollout)
	}
	t := target{model: offer.Model, allowed: allows(d.in.Facts.Key.Models, offer.Model)}
	if stage, reason := d.unreachable(&t, &offer); reason != "" {
		d.dropped, d.droppedReason = stage, reason
		d.exclude1(t.model.ID, offer.Endpoint.ID, stage.String(), reason)
		return d.refuse(d.emptied(&t), stage)
	}
	d.take(d.in) // for the timeouts alone: what a profile lacks keeps nobody from what is theirs
	d.add(&t, []*ranked{{offer: &offer}})
	d.decided(link{}, t)
	d.finish()
	return d.plan
}

func (d *decision) unreachable(t *target, o *catalog.Offer) (Stage, string) {
	switch p := o.Provider; {
	case !t.allowed:
		return StageModelPolicy, reasonModelNotAllowed
	case p.Disabled:
		return StageProviderPolicy, reasonProviderDisabled
	case d.lacksCredential(o, ""):
		return StageCredential, reasonNoCredential
	}
	return StageNone, ""
}
