// Package limits owns admission: every gate of a request in its fixed order,
// checked together and then taken together, and the grant that record settles
// afterwards. It knows nothing of models, upstreams or HTTP.
package limits

import (
	"context"
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// Open admits everything: the gates of a workspace without any limit. Its
// grants carry no headers and have nothing to give back.
type Open struct{}

// NewOpen returns the gate that admits everything.
func NewOpen() Open { return Open{} }

// Admit grants every model.
func (Open) Admit(context.Context, call.Call, call.Principal, call.Pinned, decide.Plan, int, call.Grant) (call.Grant, error) {
	return unlimited{}, nil
}

type unlimited struct{}

func (unlimited) Header() http.Header                  { return nil }
func (unlimited) Checks() []decide.LimitCheck          { return nil }
func (unlimited) Terms() call.Terms                    { return call.Terms{} }
func (unlimited) Settle(meter.Usage, meter.Cost, bool) {}

var _ call.Grant = unlimited{}
