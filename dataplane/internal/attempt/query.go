package attempt

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Why an attempt was made, as the record says it.
const (
	reasonFirst      = "first_choice"
	reasonCredential = "fallback_credential"
	reasonProvider   = "fallback_provider"
	reasonModel      = "fallback_model"
	reasonRetry      = "retry"
)

// patience is how long a retry may wait while other endpoints could be asked.
const patience = 5 * time.Second

// query is one request on its way through the chain.
type query struct {
	runner    *Runner
	call      call.Call
	plan      decide.Plan
	firstByte time.Duration
	impatient bool // the caller asked for less than the server's first-byte limit
	deadline  time.Time
	most      int // upstream calls

	records []decide.AttemptRecord
	step    int
	tooLong int64 // context window that the input did not fit; 0 none

	last    *upstream.Failure // of an upstream that was called
	other   *upstream.Failure // last that was no rate limit
	skipped *upstream.Failure // last that could not even be tried
	wait    time.Duration     // least that a rate-limiting provider asked for
}

func newQuery(r *Runner, c call.Call, plan decide.Plan) *query {
	q := &query{runner: r, call: c, plan: plan, firstByte: r.limits.FirstByte, most: plan.MaxAttempts}
	if asked := c.Request.FirstByte; asked > 0 {
		q.impatient = asked < r.limits.FirstByte
		q.firstByte = min(max(asked, r.limits.FirstByteMin), r.limits.FirstByteMax)
	}
	if q.most <= 0 {
		q.most = r.limits.Attempts
	}
	from := c.Received
	if from.IsZero() {
		from = r.deps.Now()
	}
	q.deadline = from.Add(r.limits.Request)
	q.records = make([]decide.AttemptRecord, 0, min(q.most, 2))
	return q
}

// over reports that nothing more may be tried.
func (q *query) over(ctx context.Context) bool {
	return ctx.Err() != nil || len(q.records) >= q.most || !q.runner.deps.Now().Before(q.deadline)
}

func (q *query) reason(candidate int) string {
	switch {
	case len(q.records) == 0:
		return reasonFirst
	case candidate == 0 && q.step > 0:
		return reasonModel
	}
	return reasonProvider
}

// note keeps what the final failure is made of.
func (q *query) note(f *upstream.Failure) {
	if f.Class == upstream.CannotCarry {
		q.skipped = f
		return
	}
	q.last = f
	if f.Class != upstream.RateLimited {
		q.other = f
		return
	}
	if f.RetryAfter > 0 && (q.wait == 0 || f.RetryAfter < q.wait) {
		q.wait = f.RetryAfter
	}
}

func (q *query) mayRetry(f *upstream.Failure, timeouts int) bool {
	rule := rules[f.Class]
	if rule.timeout && (timeouts > 1 || q.impatient) {
		return false
	}
	return rule.retry
}

// fits reports whether a retry after wait leaves time for an answer, and is
// not worse than asking someone else.
func (q *query) fits(now time.Time, wait time.Duration, alone bool) bool {
	return now.Add(wait).Before(q.deadline) && (alone || wait <= patience)
}

// verdict is the failure of the whole request.
func (q *query) verdict(ctx context.Context) error {
	if ctx.Err() != nil {
		if stop, ok := context.Cause(ctx).(*fault.Error); ok { //nolint:errorlint // the cause itself, not what it wraps
			return stop
		}
		return upstream.Fail(upstream.CallerGone, context.Cause(ctx)).Fault
	}
	switch {
	case q.last == nil && q.skipped != nil:
		return q.skipped.Fault
	case q.last == nil && !q.runner.deps.Now().Before(q.deadline):
		return upstream.Fail(upstream.RequestTimeout, nil).Fault
	case q.last == nil:
		return upstream.Fail(upstream.Internal, nil).Fault
	case q.last.Class == upstream.RateLimited && q.other != nil:
		return q.other.Fault
	case q.last.Class == upstream.RateLimited && q.wait > 0:
		return q.last.Fault.After(q.wait)
	}
	return q.last.Fault
}
