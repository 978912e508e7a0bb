package attempt

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// submits reports whether a call makes a job, which must not be made twice. A
// file that is there twice harms nobody.
func submits(c *call.Call) bool { return c.Makes() && c.Surface != catalog.Files }

// untold are the failures after which nobody can tell whether the provider
// took what it was sent. Every error status is an answer, and so is a
// connection that never stood.
var untold = map[upstream.Class]bool{
	upstream.Reset: true, upstream.BadHead: true, upstream.FirstByteTimeout: true, upstream.ReplyTimeout: true,
	upstream.RequestTimeout: true, upstream.StatusTimeout: true, upstream.EmptyReply: true, upstream.WrongType: true,
	upstream.MalformedReply: true, upstream.TruncatedReply: true, upstream.BadEncoding: true, upstream.ReplyTooLarge: true,
}

// overdue are those of them in which time ran out.
var overdue = map[upstream.Class]bool{
	upstream.FirstByteTimeout: true, upstream.ReplyTimeout: true, upstream.RequestTimeout: true, upstream.StatusTimeout: true,
}

// judged is a failure as it counts for the call: a submission of which nobody
// can tell whether it was taken is not made again, here or elsewhere.
func judged(c *call.Call, f *upstream.Failure) *upstream.Failure {
	if !untold[f.Class] || !submits(c) {
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
	if f.Class != upstream.NotFound || c.Owned.ID == "" {
		return f
	}
	gone := upstream.Fail(upstream.Gone, f)
	gone.Status = f.Status
	return gone
}
