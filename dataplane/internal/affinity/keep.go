package affinity

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// Keep takes in what an answered call means for its conversation, and returns
// the account of it for the record. It does not wait for the store.
func (p *Pins) Keep(c *call.Call, plan *decide.Plan, o *call.Outcome) *decide.AffinityTrace {
	trace, q := plan.Record.Affinity, &c.Request
	// A caller who left the answer half-way goes on with the conversation.
	if c.Conversation.Source == "" || o.Reply == nil || o.Failure != nil && !o.Canceled {
		return trace
	}
	memory, trace := decide.Remember(trace, decide.Turn{
		Conversation: c.Conversation.Conversation, Named: q.Model != "" || len(q.Models) > 0,
		Model: o.Reply.Step.Model, Candidate: o.Reply.Candidate,
		Usage: o.Seen.Usage, Attempts: o.Attempts, CacheAsked: q.Caching.Retention,
	})
	if trace != nil {
		trace.Hint = c.CacheHint(o.Reply.Candidate.Provider) != ""
		p.metrics.broke(trace)
	}
	if memory.Pin.Endpoint != "" || memory.Model != "" {
		p.take(Name{Workspace: c.Workspace, Digest: c.Conversation.Name}, change{
			memory: memory, at: p.now(), opening: c.Conversation.Source == decide.FromOpening,
		})
	}
	return trace
}

// take applies a turn to what is held, and queues it for the store when that
// has to hear of it.
func (p *Pins) take(n Name, turn change) {
	queued, stamp := false, uint64(0)
	p.held.Update(n, func(old entry, _ bool) (entry, bool) {
		doc, differs := turn.apply(old.doc)
		if !differs && !old.unsaved {
			return old, false
		}
		queued, stamp = true, p.stamps.Add(1)
		e := entry{doc: doc, epoch: p.epoch.Load(), unsaved: true, stamp: stamp}
		e.settle(turn.at)
		return e, true
	})
	if !queued {
		return
	}
	select {
	case p.queue[n.Digest[0]%writers] <- write{name: n, change: turn, stamp: stamp}:
	default:
		p.metrics.failures.WithLabelValues(failureQueue).Inc()
	}
}
