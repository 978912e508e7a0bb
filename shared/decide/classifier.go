package decide

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// What a request to a classifier model takes, in tokens: a bounded excerpt and
// instructions, and a short JSON object.
const (
	classifierInput   = 1_500
	classifierOutput  = 100
	classifierContext = 8_000 // a window of fewer might not hold the excerpt
)

// CheapestClassifier is the model that is asked what kind of work a request is
// when the operator names none: the cheapest that can serve in production and
// does not think before it answers, which takes longer than a request can
// wait. It depends on the catalog alone, not on the request, so that it is the
// same for everyone until the catalog changes, or until the time that is
// returned: a model's state does then. "" when there is none.
func CheapestClassifier(v *catalog.View, now time.Time) (best string, until time.Time) {
	least := 0.0
	models := v.Models()
	for i := range models {
		m := &models[i]
		if at := m.StateUntil(now); !at.IsZero() && (until.IsZero() || at.Before(until)) {
			until = at
		}
		if !classifies(m, now) {
			continue
		}
		for _, o := range v.Offers(m) {
			cost, ok := classifierCost(&o)
			if ok && (best == "" || cost < least) { // of equals the first id
				best, least = m.ID, cost
			}
		}
	}
	return best, until
}

func classifies(m *catalog.Model, now time.Time) bool {
	return textOnly(m) && !m.Free() && m.StateAt(now) == catalog.Active && !slices.Contains(m.Capabilities, "reasoning") &&
		(m.Context == 0 || m.Context >= classifierContext)
}

// classifierCost is what one classification costs at a production endpoint, in
// nano-USD.
func classifierCost(o *catalog.Offer) (float64, bool) {
	managed := !o.Provider.Credential.IsZero() || o.Provider.Keyless // the keys that workspaces bring differ
	d := decision{in: &Input{Facts: Facts{Surface: catalog.Chat}}}
	if !managed || o.Provider.Aggregator || !d.production(o) {
		return 0, false
	}
	p := o.Endpoint.Price
	return (classifierInput*float64(*p.Input)+classifierOutput*float64(*p.Output))/1e6 + float64(p.Request), true
}
