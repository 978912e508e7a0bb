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

// event is the usage event of one model's turn.
func event(c *call.Call, p *call.Principal, o *call.Outcome, b billing) wire.UsageEvent {
	turn := &o.Turn
	e := wire.UsageEvent{
		Schema:          wire.UsageSchema,
		ID:              turn.ID,
		PrimaryID:       primary(c),
		Purpose:         c.Purpose,
		Workspace:       p.Key.Workspace,
		Key:             p.Key.ID,
		User:            p.Key.CreatedBy,
		Surface:         c.Surface,
		Stream:          c.Request.Stream,
		ClientRequestID: c.Request.ClientRequestID,
		SessionID:       c.Request.SessionID,
		EndUser:         c.Request.EndUser,
		StartedAt:       turn.Started,
		Duration:        o.Finished.Sub(turn.Started),
		Outcome:         turnOutcome(o),
		Status:          turn.Status,
		RequestedModel:  o.Record.RequestedModel,
		DecidedModel:    o.Record.DecidedModel,
		Attempts:        len(o.Attempts) - turn.First,
		PolicyRevision:  o.Record.PolicyRevision,
		CatalogRevision: o.Record.CatalogRevision,
		Charge:          b.charge,
		Attribution:     turn.Terms.Attribution,

		CredentialSource: string(source(o)),
	}
	if f := turn.Failure; f != nil {
		e.Code, e.Reason = string(f.Code), string(f.Reason)
	}
	e.Usage, e.Cost, e.Suppressed = o.Seen.Usage, b.cost, b.suppressed
	if o.Reply != nil {
		e.ServedModel = o.Seen.ServedModel
		e.Provider, e.Endpoint = o.Reply.Candidate.Provider.Slug, o.Reply.Candidate.Endpoint.ID
	}
	e.Decision = decision(&o.Record)
	return e
}

// rolledOut says which version of its dynamic route a request was sent through
// while one is rolled out; nil where none is, and for what the gateway asks for
// itself.
func rolledOut(c *call.Call, o *call.Outcome) *wire.UsageRollout {
	route := o.Record.Route
	if route == nil || route.Rollout == "" || c.Purpose != "" {
		return nil
	}
	rollout, err := id.Parse[id.RolloutKind](route.Rollout)
	if err != nil {
		return nil // the record is the kernel's own: there is no such id
	}
	told := wire.UsageRollout{
		ID: rollout, Candidate: route.Arm == decide.ArmCandidate, Outcome: requestOutcome(o), Took: o.Finished.Sub(c.Received),
	}
	if o.Failure != nil {
		told.Code = string(o.Failure.Code)
		told.Named = o.Failure.Fields["rung"] == decide.RungRoute.String()
	}
	return &told
}

// decision is the record as JSON, within its bound; nil when it cannot be had.
func decision(r *decide.Record) json.RawMessage {
	body := make(jsonappend.Buffer, 0, decisionSize)
	r.AppendJSON(&body)
	if len(body) <= decide.MaxRecordBytes {
		return json.RawMessage(body)
	}
	shorter, err := r.Encode()
	if err != nil || len(shorter) > decide.MaxRecordBytes {
		return nil
	}
	return shorter
}

// decisionSize is what a usual decision record takes.
const decisionSize = 2 << 10

// outcome is how something ended: a turn, or the request. begun says that it
// was noted as under way, calls how many upstream calls it made.
func outcome(failure *fault.Error, canceled, begun bool, calls int) wire.Outcome {
	switch {
	case failure == nil:
		return wire.Success
	case canceled:
		return wire.Canceled
	case calls == 0 && (!begun || failure.Origin == fault.Client):
		return wire.Refused
	}
	return wire.Failed
}

// turnOutcome is how the turn ended.
func turnOutcome(o *call.Outcome) wire.Outcome {
	return outcome(o.Turn.Failure, o.Canceled, o.Turn.Begun, len(o.Attempts)-o.Turn.First)
}

// requestOutcome is how the request ended.
func requestOutcome(o *call.Outcome) wire.Outcome {
	return outcome(o.Failure, o.Canceled, o.Turn.Begun, len(o.Attempts))
}

// gatewayTime is what the gateway itself took, upstreams apart.
func gatewayTime(c *call.Call, o *call.Outcome) time.Duration {
	return max(0, o.Finished.Sub(c.Received)-o.Upstream)
}

// primary is the request that a turn belongs to: the caller's own, also for one
// that the gateway makes within it.
func primary(c *call.Call) id.Request {
	if !c.Primary.IsZero() {
		return c.Primary
	}
	return c.ID
}
