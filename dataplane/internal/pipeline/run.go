package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// statusClientClosed is recorded, never sent, when the caller left before the
// response was complete.
const statusClientClosed = 499

// run is one request on its way down.
type run struct {
	pipeline  *Pipeline
	call      *call.Call
	principal call.Principal
	sink      call.Sink

	pin     call.Pinned
	input   decide.Input
	plan    decide.Plan
	trial   call.Trial     // nil until there is a plan
	grant   call.Grant     // nil until a model was admitted
	refused *call.Declined // the last model asked for, by a gate; nil: it was admitted
	preview bool           // contacts nobody
	asked   time.Duration  // that a classifier model took
	outcome call.Outcome
}

// steps is the order of a request. Each returns the fault that ends it.
func (r *run) steps(ctx context.Context) error {
	var err error
	if r.pin, err = r.pipeline.pin(ctx, r.principal); err != nil {
		return err
	}
	if r.call.Malformed != nil {
		return r.call.Malformed
	}
	if err = r.find(); err != nil {
		return err
	}
	if err = r.decide(ctx); err != nil {
		return err
	}
	if r.plan.Refusal != nil {
		return r.plan.Refusal
	}
	return r.perform(ctx)
}

// decide looks up what the decision depends on, and takes it: again once further
// presets are known or the request is classified, where the plan asks for that.
func (r *run) decide(ctx context.Context) error {
	do, in := &r.pipeline.steps, &r.input
	*in = r.gather()
	if err := r.open(ctx); err != nil {
		return err
	}
	conversation := &r.call.Conversation
	if r.preview {
		*conversation = do.Affinity.Peek(r.call, in.Affinity())
	} else {
		*conversation = do.Affinity.Find(ctx, r.call, in.Affinity())
	}
	in.Conversation = conversation.Conversation
	for r.plan = do.Decide(in); len(r.plan.NeedsPresets) > 0; r.plan = do.Decide(in) {
		r.lookUpFurther(ctx, r.plan.NeedsPresets)
	}
	if r.plan.NeedsClassification {
		in.Classification = r.classify(ctx)
		r.plan = do.Decide(in)
	}
	// A provider is told what belongs together once the conversation is pinned to
	// it, and by the turn that pins it: where it is not known whether that turn
	// will, others may begin alike and share more of the provider's cache untold.
	if trace := r.plan.Record.Affinity; !conversation.Sure && (trace == nil || !trace.Hit) {
		conversation.Hint = call.Hint{}
	}
	return nil
}

// perform is the order of the steps once a plan stands.
func (r *run) perform(ctx context.Context) error {
	reply, err := r.models(ctx)
	if err != nil {
		r.unlist(ctx, err)
		return err
	}
	r.outcome.Reply = reply
	r.outcome.FirstByte = r.elapsed()
	r.list(ctx, reply)
	r.outcome.Seen, err = r.pipeline.steps.Deliver.Deliver(ctx, reply, r.head(), r.sink)
	return err
}

// find looks up the job or file that the call is about, and makes sure that one
// which the call makes can be found again.
func (r *run) find() error {
	if r.call.Object == "" {
		if failure := r.pipeline.steps.Objects.Ready(r.call.Surface); failure != nil {
			return failure
		}
		return nil
	}
	var err error
	r.call.Owned, err = r.pipeline.steps.Objects.Find(r.call.Workspace, r.call.Kept, r.call.Object)
	return err
}

// unlist takes what its provider does not have any more off the list. It is
// not found only when every credential of the plan said so, which tells nothing
// where the plan could not have them all.
func (r *run) unlist(ctx context.Context, err error) {
	if r.call.Owned.ID != "" && r.call.Action != call.Generate && !r.plan.Withheld && fault.Of(err).Code == fault.NotFound {
		r.pipeline.steps.Objects.Forget(ctx, r.call.Workspace, r.call.Kept, r.call.Object)
	}
}

// list keeps the workspace's list of jobs and files.
func (r *run) list(ctx context.Context, reply *call.Reply) {
	switch {
	case r.call.Makes():
		if name := reply.Meter.Seen().Kept; name != "" {
			r.pipeline.steps.Objects.Keep(ctx, r.call.Workspace, r.call.Surface, name)
		}
	case r.call.Action == call.Delete:
		r.pipeline.steps.Objects.Forget(ctx, r.call.Workspace, r.call.Kept, r.call.Object)
	}
}

// unaccountable refuses a request that could not be noted: what is not
// accounted for must not be answered.
func unaccountable(cause error) *fault.Error {
	return fault.Wrap(cause, fault.QuotaUnavailable,
		"This gateway cannot account for requests at the moment. Try again.").From(fault.Gateway).After(time.Second)
}

// fail answers a fault and notes it. A caller who has left gets nothing; when
// the gateway itself ended the context, its cause is the answer.
func (r *run) fail(ctx context.Context, err error) {
	defer r.concluded()
	if err == nil {
		r.outcome.Status = r.sink.Status()
		return
	}
	failure := fault.Of(err)
	if ctx.Err() != nil {
		failure = fault.Wrap(err, fault.ClientClosed, "The caller left before the response was complete.")
		if stop, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
			failure = stop
		}
	}
	r.outcome.Failure = failure
	refused, _ := errors.AsType[*call.Declined](err)
	if failure.Code == fault.ClientClosed {
		r.outcome.Canceled = true
		r.outcome.Status = statusClientClosed
		return
	}
	r.sink.Fail(failure, r.failHead(refused))
	r.outcome.Status = r.sink.Status()
}

// concluded has the last turn end as the request did, unless it had a failure of
// its own that the caller did not get.
func (r *run) concluded() {
	turn := &r.outcome.Turn
	if turn.Failure == nil || turn.Failure == r.outcome.Failure || r.outcome.Canceled {
		turn.Failure, turn.Status = r.outcome.Failure, r.outcome.Status
	}
}

// attempts are the upstream calls so far.
func (r *run) attempts() []decide.AttemptRecord {
	if r.trial == nil {
		return nil
	}
	return r.trial.Attempts()
}

// finish records the request under a context of its own, which neither the
// caller's leaving nor a panic takes away.
func (r *run) finish(ctx context.Context) {
	if cause := recover(); cause != nil {
		r.fail(ctx, fault.Of(&panicked{value: cause, stack: debug.Stack()}))
	}
	r.remember()
	r.snap()
	r.outcome.Upstream = r.asked + upstreamTime(r.outcome.Attempts, r.outcome.Finished)
	r.pipeline.steps.Record.Record(context.WithoutCancel(ctx), r.call, &r.principal, r.grant, &r.outcome)
}

// remember takes what the request means for its conversation in.
func (r *run) remember() {
	r.outcome.Attempts = r.attempts()
	r.plan.Record.Affinity = r.pipeline.steps.Affinity.Keep(r.call, &r.plan, &r.outcome)
}

// snap takes down how things stand.
func (r *run) snap() {
	r.outcome.Finished = r.pipeline.now()
	r.outcome.Attempts = r.attempts()
	r.outcome.Record = r.record()
}

// record is the decision's record, or for a request refused before it was
// decided what is known without one.
func (r *run) record() decide.Record {
	record := r.plan.RecordOf(r.outcome.Turn.Step)
	if record.RequestedModel == "" {
		record.RequestedModel = decide.Recorded(r.call.Request.Model)
	}
	if r.pin.Policy != nil {
		record.PolicyRevision = r.pin.Policy.Revision()
		record.CatalogRevision = r.pin.Catalog.Revision()
	}
	if reply := r.outcome.Reply; reply != nil && len(reply.Degraded) > 0 {
		record.Degraded = slices.Concat(record.Degraded, reply.Degraded)
	}
	switch {
	case r.refused != nil:
		record.Limits = r.refused.Checks
	case r.grant != nil:
		record.Limits = r.grant.Checks()
	}
	return record
}

func (r *run) elapsed() time.Duration { return r.pipeline.now().Sub(r.call.Received) }

// upstreamTime is what the attempts have taken until now. An attempt that
// answers is open in its record until the end of the reply.
func upstreamTime(attempts []decide.AttemptRecord, now time.Time) time.Duration {
	var total time.Duration
	for i, a := range attempts {
		if i == len(attempts)-1 && a.Duration == 0 {
			total += now.Sub(a.Started)
			continue
		}
		total += a.Duration
	}
	return total
}

// panicked carries a bug to the log, where its stack belongs.
type panicked struct {
	value any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }
