package pipeline

import (
	"context"
	"errors"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// models takes the request along its chain until a model answers. Each model
// has a turn: it is admitted, begun and tried. What is not admitted is passed
// over, and its refusal never takes the place of a failure that came before.
func (r *run) models(ctx context.Context) (*call.Reply, error) {
	do := &r.pipeline.steps
	r.trial = do.Attempt.Open(r.call, &r.plan)
	var refusal error // the first one, told when nothing could be tried
	tried := false
	for first := true; ; first = false {
		step, more := r.trial.Next(ctx)
		if !more {
			if refusal != nil && !tried && ctx.Err() == nil {
				return nil, refusal
			}
			return nil, r.trial.Failure(ctx)
		}
		if !first {
			r.turn(ctx, step)
		}
		if err := r.admit(ctx, step); err != nil {
			if endsAll(err) && r.grant == nil {
				return nil, err
			}
			if refusal == nil {
				refusal = err
			}
			r.failed(err)
			continue
		}
		if err := do.Begin.Begin(r.call, &r.principal, &r.plan, &r.outcome.Turn); err != nil {
			r.failed(unaccountable(err))
			if tried {
				return nil, r.trial.Failure(ctx)
			}
			return nil, r.outcome.Turn.Failure
		}
		r.outcome.Turn.Begun = true
		reply, err := r.trial.Try(ctx, step)
		if err == nil {
			return reply, nil
		}
		tried = true
		r.failed(err)
	}
}

// turn ends the turn of the model before and starts that of step.
func (r *run) turn(ctx context.Context, step int) {
	r.snap()
	r.pipeline.steps.Record.Pass(context.WithoutCancel(ctx), r.call, &r.principal, &r.outcome)
	r.outcome.Turn = call.Turn{
		ID: id.New[id.RequestKind](r.pipeline.ids), Step: step, Started: r.outcome.Finished, First: len(r.outcome.Attempts),
	}
}

// admit asks the gates for a model.
func (r *run) admit(ctx context.Context, step int) error {
	r.refused = nil
	grant, err := r.pipeline.steps.Admit.Admit(ctx, r.call, &r.principal, r.pin, &r.plan, step, r.grant)
	if err != nil {
		r.refused, _ = errors.AsType[*call.Declined](err)
		return err
	}
	turn := &r.outcome.Turn
	turn.Terms = grant.Terms()
	turn.Terms.First = r.grant == nil && turn.ID != r.call.ID && r.call.Purpose == ""
	r.grant = grant
	return nil
}

// endsAll reports whether a refusal speaks of more than one model.
func endsAll(err error) bool {
	refused, ok := errors.AsType[*call.Declined](err)
	return !ok || !refused.Model
}

// failed notes how the turn ended.
func (r *run) failed(err error) {
	turn := &r.outcome.Turn
	turn.Failure = fault.Of(err)
	turn.Status = r.pipeline.steps.Status(turn.Failure)
}
