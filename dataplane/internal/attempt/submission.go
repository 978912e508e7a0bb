package attempt

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// taken reports whether the provider may have taken what it was sent: unless it
// got nothing, it must have said that it did not, by a 4xx or a 503.
func taken(f *upstream.Failure) bool {
	refused := f.Status >= 400 && f.Status < 500 || f.Status == http.StatusServiceUnavailable
	return !rules[f.Class].untouched && !refused
}

// overdue are the failures in which time ran out.
var overdue = map[upstream.Class]bool{
	upstream.FirstByteTimeout: true, upstream.ReplyTimeout: true, upstream.RequestTimeout: true, upstream.StatusTimeout: true,
}

// judged is a failure as it counts for the call: a submission of which nobody
// can tell whether it was taken is not made again, here or elsewhere.
func judged(c *call.Call, f *upstream.Failure) *upstream.Failure {
	if !c.Makes() || !taken(f) {
		return f
	}
	unknown := upstream.Fail(upstream.Unknown, f)
	unknown.Status = f.Status
	if overdue[f.Class] {
		unknown.Fault = unknown.Fault.Because(fault.ReplyTimeout)
	}
	return unknown
}

// meant is a failure as it reads for the call: what a provider does not know of
// its own job or file is gone; the endpoint is fine.
func meant(c *call.Call, f *upstream.Failure) *upstream.Failure {
	if c.Owned.ID == "" || f.Class != upstream.NotFound && f.Status != http.StatusGone {
		return f
	}
	gone := upstream.Fail(upstream.Gone, f)
	gone.Status = f.Status
	return gone
}
