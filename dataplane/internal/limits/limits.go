// Package limits owns admission: every gate of a request in its fixed order,
// checked together and then taken together, and the grant that record settles
// afterwards. It knows nothing of upstreams or HTTP, nor of how what is used is
// counted over all gateways.
package limits

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// Options are a Gate's surroundings.
type Options struct {
	Ledger Ledger
	Rates  Rates
	Cells  Cells
	Now    func() time.Time
}

// Gate admits requests. It is safe for concurrent use.
type Gate struct {
	Options
	free chan *admission // with room for what most requests need
}

// mostFree is how many admissions are kept for the next requests.
const mostFree = 256

// New returns a Gate.
func New(o Options) *Gate { return &Gate{o, make(chan *admission, mostFree)} }

// Admit runs the gates for plan.Chain[step]. Without a grant, held, all of them
// are checked, and what they take is taken once all have passed, or given back.
// With one only what depends on the model is checked again. A refusal is a
// *call.Declined; any other error is that of a caller who left.
//
//nolint:revive // argument-limit: what it is given is the pipeline's to say
func (g *Gate) Admit(ctx context.Context, c *call.Call, p *call.Principal, pin call.Pinned, plan *decide.Plan, step int, held call.Grant) (call.Grant, error) {
	if held != nil {
		return g.again(ctx, &plan.Chain[step], held)
	}
	limited, own := pin.Policy.Limited(), p.Key.Limits
	if limited == nil && own == nil {
		return free(c, p, pin.Policy), nil
	}
	return newAdmission(g, c, p, pin.Policy, &plan.Chain[step]).admit(ctx)
}

// again checks a further model of a request that was admitted.
func (*Gate) again(ctx context.Context, step *decide.Step, held call.Grant) (call.Grant, error) {
	g, ok := held.(*grant)
	if !ok {
		return held, nil // nothing is limited
	}
	if err := g.of.further(ctx, step); err != nil {
		return nil, err
	}
	return held, nil
}
