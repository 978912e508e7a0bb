package attempt

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Why an attempt was made, as the record says it.
const (
	reasonFirst      = "first_choice"
	reasonCredential = "fallback_credential"
	reasonProvider   = "fallback_provider"
	reasonModel      = "fallback_model"
	reasonRetry      = "retry"
)

// patience is how long a retry may wait while something else could be asked.
const patience = 5 * time.Second

// trial is one request on its way along the chain. It implements call.Trial.
type trial struct {
	runner    *Runner
	call      *call.Call
	asked     *call.Call // as the preset of the present step completes it
	unplaced  []string   // what of that preset has no place in it
	plan      *decide.Plan
	firstByte time.Duration
	reply     time.Duration // of a whole plain reply
	impatient bool          // the caller asked for less than the server's first-byte limit
	deadline  time.Time
	most      int // upstream calls

	records []decide.AttemptRecord
	made    int // upstream calls
	step    int // the next one of the chain
	from    int // number of records before the present step's
	ended   bool
	tooLong int64 // context window that the input did not fit; 0 none

	doubt   *upstream.Failure // of the last credential that did not say of a job or file that it is gone
	unasked bool              // time ran out before every credential of an endpoint was asked

	all failures // of the request
	own failures // of the present step
}

// newTrial starts the clock of a request. The ladder says for how long, the
// caller's own wish being one of its rungs, and the server's limits bound it.
func newTrial(r *Runner, c *call.Call, plan *decide.Plan) *trial {
	t := &trial{runner: r, call: c, plan: plan, firstByte: r.limits.FirstByte, most: plan.MaxAttempts}
	t.impatient = c.Request.FirstByte > 0 && c.Request.FirstByte < r.limits.FirstByte
	if set := plan.Timeouts.FirstByte; set > 0 {
		t.firstByte = min(max(set, r.limits.FirstByteMin), r.limits.FirstByteMax)
	}
	// Who waits longer for the first byte waits as much longer for the whole, or
	// a reply that begins in time would be thrown away for having begun late.
	t.reply = max(r.limits.Reply, r.limits.FirstByte) + max(t.firstByte-r.limits.FirstByte, 0)
	if t.most <= 0 {
		t.most = r.limits.Attempts
	}
	if c.Owned.ID != "" { // it is gone only once all were asked that may know it
		for _, step := range plan.Chain {
			t.most = max(t.most, len(step.Candidates[0].Credentials))
		}
	}
	from := c.Received
	if from.IsZero() {
		from = r.deps.Now()
	}
	budget := r.limits.Request
	if set := plan.Timeouts.Request; set > 0 {
		budget = min(max(set, r.limits.FirstByteMin), budget)
	}
	t.deadline = from.Add(budget)
	t.records = make([]decide.AttemptRecord, 0, min(t.most, 2))
	return t
}

// Next implements call.Trial. An input too long for one model goes on to the
// next with a larger window.
func (t *trial) Next(ctx context.Context) (int, bool) {
	for ; t.step < len(t.plan.Chain) && !t.ended && !t.over(ctx); t.step++ {
		if t.tooLong > 0 && t.plan.Chain[t.step].Model.Context <= t.tooLong {
			continue
		}
		t.step++
		return t.step - 1, true
	}
	return 0, false
}

// Try implements call.Trial.
func (t *trial) Try(ctx context.Context, step int) (*call.Reply, error) {
	t.from, t.own = len(t.records), failures{}
	to := t.plan.Chain[step]
	last := t.merge(to.Preset)
	if last != nil {
		t.note(last)
		t.conclude(to, last)
		return nil, t.told(ctx, &t.own)
	}
	reply, last := t.runner.candidates(ctx, t, step)
	if reply != nil {
		reply.Attempts = t.records
		return reply, nil
	}
	t.conclude(to, last)
	return nil, t.told(ctx, &t.own)
}

// merge has a step's calls made with its preset, which completes what the caller
// sent, not what an earlier step made of that.
func (t *trial) merge(with *policy.PresetVersion) *upstream.Failure {
	t.asked, t.unplaced = t.call, nil
	if with == nil {
		return nil
	}
	merged, unplaced, failure := t.runner.deps.Translator.Merge(*t.call, with)
	if failure == nil {
		t.asked, t.unplaced = &merged, unplaced
	}
	return failure
}

// conclude keeps what the failure of a step means for those behind it; nil
// when no upstream was called.
func (t *trial) conclude(step decide.Step, last *upstream.Failure) {
	if last == nil {
		return
	}
	switch rules[last.Class].model {
	case modelNext:
	case modelLarger:
		t.ended = !t.plan.Explicit || step.Model.Context == 0
		t.tooLong = max(t.tooLong, step.Model.Context)
	default:
		t.ended = true
	}
}

// Failure implements call.Trial.
func (t *trial) Failure(ctx context.Context) error { return t.told(ctx, &t.all) }

// Attempts implements call.Trial.
func (t *trial) Attempts() []decide.AttemptRecord { return t.records }

// over reports that nothing more may be tried.
func (t *trial) over(ctx context.Context) bool {
	return ctx.Err() != nil || t.made >= t.most || !t.runner.deps.Now().Before(t.deadline)
}

// reason is why a candidate is tried that is not a retry.
func (t *trial) reason(step, credential int) string {
	switch {
	case credential > 0:
		return reasonCredential
	case len(t.records) > t.from:
		return reasonProvider
	case step > 0:
		return reasonModel
	}
	return reasonFirst
}

// note keeps what the failures of the step and of the request are made of.
func (t *trial) note(f *upstream.Failure) {
	t.own.add(f)
	t.all.add(f)
}

// retries is how often an endpoint may be asked again: the policy ladder's word,
// else the operator's.
func (t *trial) retries(p *catalog.Provider) int {
	if set := t.plan.Retries; set != nil {
		return min(*set, catalog.MaxRetry)
	}
	return p.Retry.Max
}

// unmade takes the last call back, which had no credential that can be opened:
// nothing was sent. The record has no more of those than of calls.
func (t *trial) unmade() {
	t.made--
	if len(t.records)-t.made > t.most {
		t.records = t.records[:len(t.records)-1]
	}
}

// sent reports whether a failure is of a call that was made.
func sent(f *upstream.Failure) bool {
	return f.Class != upstream.CannotCarry && f.Class != upstream.CredentialFault
}

func (t *trial) mayRetry(f *upstream.Failure, timeouts int) bool {
	rule := rules[f.Class]
	if rule.timeout && (timeouts > 1 || t.impatient) {
		return false
	}
	return rule.retry
}

// fits reports whether a retry after wait leaves time for an answer, and is
// not worse than asking someone else.
func (t *trial) fits(now time.Time, wait time.Duration, alone bool) bool {
	return now.Add(wait).Before(t.deadline) && (alone || wait <= patience)
}

// told is what the caller hears of failures.
func (t *trial) told(ctx context.Context, of *failures) error {
	if ctx.Err() != nil {
		if stop, ok := context.Cause(ctx).(*fault.Error); ok { //nolint:errorlint // the cause itself, not what it wraps
			return stop
		}
		return upstream.Fail(upstream.CallerGone, context.Cause(ctx)).Fault
	}
	switch f := of.final(t); {
	case f != nil:
		return f
	case !t.runner.deps.Now().Before(t.deadline):
		return upstream.Fail(upstream.RequestTimeout, nil).Fault
	default:
		return upstream.Fail(upstream.Internal, nil).Fault
	}
}

// failures are what a failure in the end is made of.
type failures struct {
	last    *upstream.Failure // of an upstream that was called
	other   *upstream.Failure // last that was no rate limit
	skipped *upstream.Failure // first of those that could not even be tried, a credential's before others
	wait    time.Duration     // least that a rate-limiting provider asked for
}

func (a *failures) add(f *upstream.Failure) {
	if !sent(f) {
		if a.skipped == nil || a.skipped.Class == upstream.CannotCarry {
			a.skipped = f
		}
		return
	}
	a.last = f
	switch f.Class {
	case upstream.RateLimited:
	case upstream.Gone: // to one credential; at another's limit it may yet be found
		return
	default:
		a.other = f
		return
	}
	if f.RetryAfter > 0 && (a.wait == 0 || f.RetryAfter < a.wait) {
		a.wait = f.RetryAfter
	}
}

// final is what happened last, except that a rate limit counts only when
// everything ended in one, what could not be tried only when nothing was, and
// that a job or file is gone only when everybody said so, nobody being left
// unasked; nil when nothing happened.
func (a *failures) final(t *trial) *fault.Error {
	switch {
	case a.last == nil && a.skipped == nil:
		return nil
	case a.last == nil:
		return a.skipped.Fault
	case a.last.Class == upstream.Gone && t.doubt != nil:
		return t.doubt.Fault
	case a.last.Class == upstream.Gone && t.unasked:
		return nil
	case a.last.Class == upstream.RateLimited && a.other != nil:
		return a.other.Fault
	case a.last.Class == upstream.RateLimited && a.wait > 0:
		return a.last.Fault.After(a.wait)
	}
	return a.last.Fault
}
