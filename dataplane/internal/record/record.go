// Package record owns the account of a request: the intent before its first
// upstream call, and after its end the usage events, the settlement, the one
// access line, the metrics and the recent generations. It knows nothing of how
// a request was decided or sent.
package record

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Spool keeps usage records until they are in the control plane's hands.
type Spool interface {
	Intent(spool.Intent) error
	Complete(events ...wire.UsageEvent) error
}

// Recorder accounts for requests.
type Recorder struct {
	spool   Spool
	access  io.Writer
	log     *slog.Logger
	metrics *Metrics
	recent  *Recent
}

// Deps are what a Recorder works with.
type Deps struct {
	Spool   Spool
	Access  io.Writer    // gets one line for each request, in one write; nil: none
	Log     *slog.Logger // gets bugs and losses
	Metrics *Metrics
	Recent  *Recent
}

// New returns a Recorder.
func New(d Deps) *Recorder {
	return &Recorder{spool: d.Spool, access: d.Access, log: d.Log, metrics: d.Metrics, recent: d.Recent}
}

// Begin notes that a model of the plan is about to be tried. When it fails the
// model must not be: it could not be accounted for.
func (r *Recorder) Begin(c *call.Call, p *call.Principal, plan *decide.Plan, turn *call.Turn) error {
	usage := meter.Usage{Input: c.Request.InputTokens, Estimated: true}
	step := plan.Chain[turn.Step]
	first := step.Candidates[0]
	intent := spool.Intent{
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
		RequestedModel:  plan.Record.RequestedModel,
		DecidedModel:    step.Model.ID,
		Provider:        first.Provider.Slug,
		Endpoint:        first.Endpoint.ID,
		Usage:           usage,
		PolicyRevision:  plan.Record.PolicyRevision,
		CatalogRevision: plan.Record.CatalogRevision,
		Attribution:     turn.Terms.Attribution,
	}
	if c.Action == call.Generate {
		intent.Cost = meter.Bill(first.Endpoint.Price, usage)
		for _, credential := range first.Credentials[:min(1, len(first.Credentials))] {
			intent.Charge = charge(&turn.Terms, credential.Source, intent.Cost.Total)
		}
	}
	return r.spool.Intent(intent)
}

// Pass accounts for a model that the chain goes past: its turn is over, the
// request goes on. Nothing is settled, since what failed costs nothing.
func (r *Recorder) Pass(ctx context.Context, c *call.Call, p *call.Principal, o *call.Outcome) {
	complete(o, billing{})
	r.keep(ctx, []wire.UsageEvent{event(c, p, o, billing{})})
}

// Record accounts for a request of a known caller, exactly once, and for the
// turn that it ended with. grant, nil when there is none, is settled once the
// event is in the spool: until it is counted there, what was reserved stands for
// it. It is settled whatever happens, since others wait for what it holds.
func (r *Recorder) Record(ctx context.Context, c *call.Call, p *call.Principal, grant call.Grant, o *call.Outcome) {
	b := bill(c, o)
	if grant != nil {
		defer grant.Settle(o.Seen.Usage, b.cost, own(o))
	}
	complete(o, b)
	events := []wire.UsageEvent{event(c, p, o, b)}
	e := &events[0]
	// What the gateway took, for all models, is told with the last.
	e.GatewayDur = gatewayTime(c, o)
	e.Rollout = rolledOut(c, o)
	if o.FirstByte > 0 {
		e.FirstByte = max(1, o.FirstByte-o.Turn.Started.Sub(c.Received))
	}
	r.keep(ctx, events)
	r.metrics.observe(c, o, b)
	r.line(ctx, c, p, o, b)
	r.bug(ctx, c, o.Failure)
}

// keep puts the one event of a turn on record, and keeps the slice.
func (r *Recorder) keep(ctx context.Context, events []wire.UsageEvent) {
	if err := r.spool.Complete(events...); err != nil {
		r.metrics.lost.Inc()
		level := slog.LevelError
		if events[0].Outcome == wire.Refused {
			level = slog.LevelWarn // the spool is full; nothing was used
		}
		r.log.LogAttrs(ctx, level, "usage record not kept", slog.String("request_id", events[0].ID.String()), slog.Any("error", err))
	}
	r.recent.add(events)
}

// Access writes the line of a request that is not recorded.
func (r *Recorder) Access(ctx context.Context, c *call.Call, p call.Principal, status int, failure *fault.Error) {
	r.metrics.unrecorded(c, failure)
	r.shortLine(ctx, c, &p, status, failure)
	r.bug(ctx, c, failure)
}

// bug logs what the caller is not told: the chain of causes of a gateway_error.
func (r *Recorder) bug(ctx context.Context, c *call.Call, failure *fault.Error) {
	if failure != nil && failure.Code == fault.GatewayError {
		r.log.ErrorContext(ctx, "request failed by a bug",
			slog.String("request_id", c.ID.String()), slog.String("route", c.Route), slog.Any("error", failure))
	}
}

// billing is what a request costs, what of it is charged, and whether it was let
// off.
type billing struct {
	cost       meter.Cost
	charge     money.Nanos
	suppressed bool
}

// bill prices what was used at the pinned price of the endpoint that served. A
// failed attempt costs nothing and neither does a reply without any output; a
// caller who left pays for what was produced until then. Only what produces
// anything is paid for: counting tokens and looking after a job are not.
func bill(c *call.Call, o *call.Outcome) billing {
	switch {
	case c.Action != call.Generate || o.Reply == nil || o.Turn.Failure != nil && !o.Canceled:
		return billing{}
	case o.Seen.ZeroOutput:
		return billing{suppressed: !o.Seen.Usage.IsZero()}
	}
	cost := meter.Bill(o.Reply.Candidate.Endpoint.Price, o.Seen.Usage)
	return billing{cost: cost, charge: charge(&o.Turn.Terms, source(o), cost.Total)}
}

// charge is what the wallet pays for a cost: all of what the platform's
// credentials cost, the fee for the workspace's own, rounded half up, and nothing
// where nothing is billed.
func charge(t *call.Terms, by decide.CredentialSource, cost money.Nanos) money.Nanos {
	switch {
	case t.Billing == "" || t.Billing == policy.BillingOff:
		return 0
	case by == decide.CredentialBYOK:
		return money.PerMillion(t.FeeRate).Cost(int64(cost))
	}
	return cost
}

// source is whose credential a provider was called with last in the turn; "" when
// nobody was called.
func source(o *call.Outcome) decide.CredentialSource {
	if n := len(o.Attempts); n > o.Turn.First {
		return o.Attempts[n-1].Credential
	}
	return ""
}

// own says that the workspace's own credentials paid.
func own(o *call.Outcome) bool { return source(o) == decide.CredentialBYOK }

// complete fills the part of the decision record that only the end knows.
func complete(o *call.Outcome, b billing) {
	rec := &o.Record
	rec.Attempts = closeAttempts(o)
	if f := o.Turn.Failure; f != nil {
		stage := ""
		if rec.Refusal != nil {
			stage = rec.Refusal.Stage
		}
		rec.Refusal = &decide.RefusalRecord{Code: string(f.Code), Reason: string(f.Reason), Stage: stage}
	}
	if o.Reply == nil {
		return
	}
	rec.ServedModel = o.Seen.ServedModel
	rec.ServedProvider = o.Reply.Candidate.Provider.Slug
	rec.Usage, rec.Cost = &o.Seen.Usage, &b.cost
	if rec.SwitchReason != "" {
		return
	}
	if rec.DecidedProvider != "" && rec.DecidedProvider != rec.ServedProvider {
		rec.SwitchReason = decide.SwitchFallbackProvider
	}
}

// closeAttempts ends the attempt whose reply was delivered: it lasted until
// the last byte, and failed if the delivery did by the upstream's fault.
func closeAttempts(o *call.Outcome) []decide.AttemptRecord {
	attempts := o.Attempts
	if o.Reply == nil || len(attempts) == 0 {
		return attempts
	}
	last := &attempts[len(attempts)-1]
	if last.Duration == 0 {
		last.Duration = max(time.Nanosecond, o.Finished.Sub(last.Started))
	}
	if o.Failure != nil && !o.Canceled && last.Failure == "" {
		last.Failure = string(o.Failure.Reason)
		if last.Failure == "" {
			last.Failure = string(o.Failure.Code)
		}
	}
	return attempts
}
