package pipeline

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Classifier knows how to ask a model what kind of work a request is. It sends
// nothing itself.
type Classifier interface {
	// Read takes from a call what a classification goes by.
	Read(c *call.Call) classify.Text
	// Model is the model to ask, or why none is asked.
	Model(pin call.Pinned, now time.Time) (string, decide.LocalReason)
	// Ask is the request to it, and Timeout what it may take.
	Ask(c *call.Call, text *classify.Text, model string, now time.Time) call.Call
	Timeout() time.Duration
	// Answer reads the reply; false when it is none.
	Answer(reply []byte) (classify.Result, bool)
}

// classify tells what kind of work the request is, for a plan that asks: by a
// model where that is possible in time, else by rules.
func (r *run) classify(ctx context.Context) *decide.Classification {
	steps := &r.pipeline.steps
	text := steps.Classify.Read(&r.call)
	said := &decide.Classification{Source: decide.ByRules}
	switch {
	case r.preview:
		said.Why = decide.LocalPreview
	case r.call.Action != call.Generate:
		said.Why = decide.LocalNotGenerated
	case r.plan.LocalSuffices:
		said.Why = decide.LocalOneCandidate
	default:
		said.Model, said.Why = steps.Classify.Model(r.pin, r.call.Received)
	}
	if said.Why == "" {
		r.ask(ctx, &text, said)
	}
	if said.Source == decide.ByRules {
		said.Result = classify.Local(text)
	}
	return said
}

// ask has the model classify: a request of its own, of the same caller under
// the same revision, linked to this one. Where policy leaves nothing that could
// serve it, nothing is sent. Whatever comes of it is noted in said.
func (r *run) ask(ctx context.Context, text *classify.Text, said *decide.Classification) {
	started := r.pipeline.now()
	defer func() { r.asked = r.pipeline.now().Sub(started) }()
	do := &r.pipeline.steps
	reply := &captured{}
	child := &run{
		pipeline: r.pipeline, call: do.Classify.Ask(&r.call, text, said.Model, started), principal: r.principal, sink: reply, pin: r.pin,
	}
	child.outcome.Turn = call.Turn{ID: child.call.ID, Started: started}
	child.plan = do.Decide(child.gather())
	if len(child.plan.Chain) == 0 { // refused; or signalbox/auto itself, which asks again
		said.Why = decide.LocalConstrained
		return
	}
	said.Request = child.call.ID.String()
	ctx, cancel := context.WithTimeoutCause(ctx, do.Classify.Timeout(),
		fault.New(fault.UpstreamTimeout, "The classifier took longer than a request can wait for it.").From(fault.Gateway))
	defer cancel()
	child.take(ctx)
	switch failure := child.outcome.Failure; {
	case failure != nil && ctx.Err() != nil:
		said.Why = decide.LocalTimeout
	case failure != nil:
		said.Why = decide.LocalFailed
	default:
		result, ok := do.Classify.Answer(reply.body)
		if !ok {
			said.Why = decide.LocalInvalid
			return
		}
		said.Source, said.Result = decide.ByModel, result.WithFacts(text.Tools, text.Structured)
	}
}

// take runs a decided request to its end and accounts for it, whatever
// happens.
func (r *run) take(ctx context.Context) {
	defer r.finish(ctx)
	r.fail(ctx, r.perform(ctx))
}
