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
	Model(pin call.Pinned, health decide.Health, now time.Time) (string, decide.LocalReason)
	// Ask is the request to it, and what it may take.
	Ask(c *call.Call, text *classify.Text, model string, now time.Time) (child call.Call, within time.Duration)
	// Said takes in how a classification ended. It is not told of one that its
	// caller did not wait for, nor of a preview's.
	Said(c *decide.Classification, now time.Time)
	// Answer reads the reply; false when it is none.
	Answer(reply []byte) (classify.Result, bool)
}

// classify tells what kind of work the request is, for a plan that asks: by a
// model where that is possible in time, else by rules.
func (r *run) classify(ctx context.Context) *decide.Classification {
	steps := &r.pipeline.steps
	text := steps.Classify.Read(r.call)
	said, health := &decide.Classification{Source: decide.ByRules}, r.input.Health
	switch {
	case r.preview:
		said.Why = decide.LocalPreview
	case r.call.Action != call.Generate:
		said.Why = decide.LocalNotGenerated
	case r.plan.LocalSuffices:
		said.Why = decide.LocalOneCandidate
	default:
		said.Model, said.Why = steps.Classify.Model(r.pin, health, r.call.Received)
	}
	if said.Why == "" {
		r.ask(ctx, &text, health, said)
	}
	if said.Source == decide.ByRules {
		said.Result = classify.Local(text)
	}
	if !r.preview && ctx.Err() == nil {
		steps.Classify.Said(said, r.pipeline.now())
	}
	return said
}

// ask has the model classify: a request of its own, of the same caller under
// the same revision, linked to this one. Where policy leaves nothing that could
// serve it, nothing is sent. Whatever comes of it is noted in said.
func (r *run) ask(ctx context.Context, text *classify.Text, health decide.Health, said *decide.Classification) {
	started := r.pipeline.now()
	defer func() { r.asked = r.pipeline.now().Sub(started) }()
	do := &r.pipeline.steps
	reply := &captured{}
	question, within := do.Classify.Ask(r.call, text, said.Model, started)
	child := &run{pipeline: r.pipeline, call: &question, principal: r.principal, sink: reply, pin: r.pin}
	child.outcome.Turn = call.Turn{ID: child.call.ID, Started: started}
	in := child.gather()
	in.Health, in.Within = health, r.input.Opening
	child.plan = do.Decide(&in)
	switch {
	case len(child.plan.Chain) == 0: // refused; or signalbox/auto itself, which asks again
		said.Why = decide.LocalConstrained
		return
	case ill(health, &child.plan):
		said.Why = decide.LocalUnhealthy
		return
	}
	said.Request = child.call.ID.String()
	ctx, cancel := context.WithTimeoutCause(ctx, within,
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

// ill reports that nothing of a plan is known to be well: what fails or cools
// down comes last. It would be tried for want of anything better, but here there
// are the rules.
func ill(health decide.Health, plan *decide.Plan) bool {
	return health != nil && health.Endpoint(plan.Chain[0].Candidates[0].Endpoint.ID).Open
}

// take runs a decided request to its end and accounts for it, whatever
// happens.
func (r *run) take(ctx context.Context) {
	defer r.finish(ctx)
	r.fail(ctx, r.perform(ctx))
}
