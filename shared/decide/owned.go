package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// owned plans a call about something that an endpoint keeps for the caller, a
// job or a file: it goes there and nowhere else, whatever routing would say
// today. Only what makes the call impossible or forbidden counts: the key's models
// and the guardrails' lists. How the provider handles data counts for a call that
// makes something of what is kept, as a batch of a file: else it has the data
// already. It may be at the account of any credential, whichever comes first today.
func (d *decision) owned() Plan {
	offer, ok := d.in.Catalog.Endpoint(d.in.Facts.Owner)
	if !ok {
		return d.refuse(fault.New(fault.UnsupportedModelOrEndpoint,
			"The endpoint that keeps this is not in the catalog any more. Tell the operator.").From(fault.Gateway), StageRollout)
	}
	d.Ladder = d.in.climbed() // for the timeouts and guardrails: what a profile lacks keeps nobody from what is theirs
	t := d.about(target{}, offer.Model)
	if v := d.unreachable(&t, &offer); v.reason != "" {
		d.drop(&offer, v)
		if v.guard != nil {
			return d.refuse(d.guardrailBlocked(&t, []*ranked{{offer: &offer}}, thisModel), v.stage)
		}
		return d.refuse(d.emptied(&t), v.stage)
	}
	if d.in.Facts.Costless { // then the setting has nothing to spare
		d.settings.BYOKFallback = true
	}
	d.add(&t, []*ranked{{offer: &offer}})
	d.plan.Withheld = d.withheld(&offer)
	d.decided(&link{}, &t)
	d.finish()
	return d.plan
}

// withheld reports whether the plan leaves out a credential of the endpoint's
// provider.
func (d *decision) withheld(o *catalog.Offer) bool {
	may := len(d.in.Policy.Credentials(o.Provider.Slug))
	switch p := o.Provider; {
	case !p.Credential.IsZero():
		may++
	case p.Keyless: // the workspace's own are not used there
		return false
	}
	return may > len(d.plan.Chain[0].Candidates[0].Credentials)
}

func (d *decision) unreachable(t *target, o *catalog.Offer) verdict {
	switch {
	case !t.allowed:
		return verdict{stage: StageModelPolicy, reason: reasonModelNotAllowed}
	case t.guarded != nil && !o.Provider.Disabled:
		return verdict{StageModelPolicy, reasonModelRestricted, t.guarded}
	}
	if v := d.excludeByProvider(o.Provider); v.reason != "" {
		return v
	}
	if !d.in.Facts.Costless {
		if v := d.wrongDataPolicy(o); v.reason != "" {
			return v
		}
	}
	if d.lacksCredential(o, "") {
		return verdict{stage: StageCredential, reason: reasonNoCredential}
	}
	return verdict{}
}
