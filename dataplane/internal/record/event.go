package record

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// events are the usage events of a request: one for each model that was tried,
// the first under the request's own id. The first carries the decision, the
// last what the caller got.
func (r *Recorder) events(c *call.Call, p *call.Principal, o *call.Outcome, b billing) []wire.UsageEvent {
	base := wire.UsageEvent{
		Schema:          wire.UsageSchema,
		ID:              c.ID,
		PrimaryID:       c.ID,
		Workspace:       p.Key.Workspace,
		Key:             p.Key.ID,
		User:            p.Key.CreatedBy,
		Surface:         c.Surface,
		Stream:          c.Request.Stream,
		ClientRequestID: c.Request.ClientRequestID,
		SessionID:       c.Request.SessionID,
		EndUser:         c.Request.EndUser,
		RequestedModel:  o.Record.RequestedModel,
		PolicyRevision:  o.Record.PolicyRevision,
		CatalogRevision: o.Record.CatalogRevision,
	}
	groups := byModel(o.Attempts)
	events := make([]wire.UsageEvent, len(groups))
	for i, group := range groups {
		e := &events[i]
		*e = base
		e.StartedAt = c.Received
		if i > 0 {
			e.ID = id.New[id.RequestKind](r.ids)
			e.StartedAt = group[0].Started
		}
		e.Attempts = len(group)
		e.DecidedModel = o.Record.DecidedModel
		if len(group) > 0 {
			e.DecidedModel = group[0].Model
		}
		if i < len(groups)-1 {
			failed(e, group)
			continue
		}
		ended(e, c, o, b)
	}
	decision := make(jsonappend.Buffer, 0, decisionSize)
	o.Record.AppendJSON(&decision)
	if len(decision) <= decide.MaxRecordBytes {
		events[0].Decision = json.RawMessage(decision)
	}
	return events
}

// decisionSize is what a usual decision record takes.
const decisionSize = 2 << 10

// byModel cuts the attempts where the model changes; there is always one group.
func byModel(attempts []decide.AttemptRecord) [][]decide.AttemptRecord {
	groups := make([][]decide.AttemptRecord, 0, 1)
	start := 0
	for i := 1; i < len(attempts); i++ {
		if attempts[i].Model != attempts[start].Model {
			groups = append(groups, attempts[start:i])
			start = i
		}
	}
	return append(groups, attempts[start:])
}

// failed describes a model that the chain went past.
func failed(e *wire.UsageEvent, group []decide.AttemptRecord) {
	last := group[len(group)-1]
	e.Outcome, e.Status, e.Reason = wire.Failed, last.Status, last.Failure
	e.Duration = last.Started.Add(last.Duration).Sub(e.StartedAt)
}

// ended describes the model that the request ended with. What the gateway
// itself took, for all models, is told with it.
func ended(e *wire.UsageEvent, c *call.Call, o *call.Outcome, b billing) {
	e.Outcome, e.Status = outcome(o), o.Status
	e.Duration = o.Finished.Sub(e.StartedAt)
	e.FirstByte = o.FirstByte
	e.GatewayDur = gatewayTime(c, o)
	if f := o.Failure; f != nil {
		e.Code, e.Reason = string(f.Code), string(f.Reason)
	}
	e.Usage, e.Cost, e.Suppressed = o.Seen.Usage, b.cost, b.suppressed
	if o.Reply != nil {
		e.ServedModel = o.Seen.ServedModel
		e.Provider, e.Endpoint = o.Reply.Candidate.Provider.Slug, o.Reply.Candidate.Endpoint.ID
	}
}

func outcome(o *call.Outcome) wire.Outcome {
	switch {
	case o.Failure == nil:
		return wire.Success
	case o.Canceled:
		return wire.Canceled
	case !o.Begun, len(o.Attempts) == 0 && o.Failure.Origin == fault.Client:
		return wire.Refused
	}
	return wire.Failed
}

// gatewayTime is what the gateway itself took, upstreams apart.
func gatewayTime(c *call.Call, o *call.Outcome) time.Duration {
	return max(0, o.Finished.Sub(c.Received)-o.Upstream)
}
