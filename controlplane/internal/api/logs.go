package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// ListLogs implements the operation.
func (s *Server) ListLogs(ctx context.Context, r gen.ListLogsRequestObject) (gen.ListLogsResponseObject, error) {
	c, q := callerOf(ctx), r.Params
	key, err := filterID[id.KeyKind](q.KeyID, "key_id")
	if err != nil {
		return nil, err
	}
	primary, err := filterID[id.RequestKind](q.PrimaryRequestID, "primary_request_id")
	if err != nil {
		return nil, err
	}
	filter := usage.LogFilter{
		Since: value(q.Since), Until: value(q.Until), Primary: primary, Key: key, Model: value(q.Model), Provider: value(q.Provider),
		Outcome: wire.Outcome(value(q.Outcome)), Session: value(q.SessionID),
	}
	if q.Status != nil {
		filter.StatusClass = int((*q.Status)[0] - '0') // "4xx"
	}
	if c.grant.Masked && (q.KeyID != nil || q.SessionID != nil) {
		return nil, fault.New(fault.Forbidden, "The role of the key's creator does not show who made a request, so it cannot filter by that.")
	}
	found, err := s.services.Usage.Logs(ctx, c.Workspace, paging(ctx, q.Cursor, q.Limit), filter)
	if err != nil {
		return nil, err
	}
	return gen.ListLogs200JSONResponse{
		Data:       each(found.Items, func(e usage.Entry) gen.Log { return logOf(e, c.grant.Masked) }),
		NextCursor: nextCursor(found.Next),
	}, nil
}

// GetLog implements the operation.
func (s *Server) GetLog(ctx context.Context, r gen.GetLogRequestObject) (gen.GetLogResponseObject, error) {
	c := callerOf(ctx)
	request, err := parseID[id.RequestKind](r.RequestID, "request")
	if err != nil {
		return nil, err
	}
	found, err := s.services.Usage.Log(ctx, c.Workspace, request)
	if err != nil {
		return nil, err
	}
	return gen.GetLog200JSONResponse{Data: s.logDetailOf(ctx, found, c.grant.Masked)}, nil
}

// GetUsage implements the operation.
func (s *Server) GetUsage(ctx context.Context, r gen.GetUsageRequestObject) (gen.GetUsageResponseObject, error) {
	q := r.Params
	report, err := s.services.Usage.Usage(ctx, callerOf(ctx).Workspace, usage.UsageFilter{
		Since: value(q.Since), Until: value(q.Until),
		GroupBy: usage.GroupBy(value(q.GroupBy)), Interval: usage.Interval(value(q.Interval)),
	})
	if err != nil {
		return nil, err
	}
	return gen.GetUsage200JSONResponse{Data: gen.Usage{
		Since: utc(q.Since), Until: utc(q.Until), Totals: figuresOf(report.Totals), Rows: each(report.Rows, usageRowOf),
	}}, nil
}

// logOf leaves out who made the request when masked.
func logOf(e usage.Entry, masked bool) gen.Log {
	l := gen.Log{
		ID: e.ID.String(), PrimaryRequestID: e.PrimaryID.String(), StartedAt: e.StartedAt.UTC(),
		DurationMs: millis(e.Duration), FirstByteMs: duration(e.FirstByte), GatewayMs: duration(e.Overhead),
		Surface: string(e.Surface), Purpose: some(e.Purpose), Stream: e.Stream,
		Outcome: gen.Outcome(e.Outcome), Status: e.Status, Code: some(e.Code), Reason: some(e.Reason),
		RequestedModel: some(e.RequestedModel), DecidedModel: some(e.DecidedModel), ServedModel: some(e.ServedModel),
		Provider: some(e.Provider), Endpoint: some(e.Endpoint), AttemptCount: e.Attempts, CredentialSource: some(e.CredentialSource),
		Usage: tokensOf(e.Usage), CostUsd: e.Cost.Total.String(), CostNanos: int64(e.Cost.Total),
		ChargeUsd: e.Charge.String(), ChargeNanos: int64(e.Charge),
		Unpriced: e.Cost.Unpriced, BillingSuppressed: e.Suppressed,
		GatewayID: e.Gateway.String(), PolicyRevision: e.PolicyRevision, CatalogRevision: e.CatalogRevision,
	}
	if masked {
		return l
	}
	l.KeyID, l.UserID = some(e.Key.String()), some(e.User.String())
	l.SessionID, l.EndUser, l.ClientRequestID = some(e.SessionID), some(e.EndUser), some(e.ClientRequestID)
	return l
}

func (s *Server) logDetailOf(ctx context.Context, d usage.Detail, masked bool) gen.LogDetail {
	l := logOf(d.Entry, masked)
	out := gen.LogDetail{
		ID: l.ID, PrimaryRequestID: l.PrimaryRequestID, StartedAt: l.StartedAt,
		DurationMs: l.DurationMs, FirstByteMs: l.FirstByteMs, GatewayMs: l.GatewayMs,
		Surface: l.Surface, Purpose: l.Purpose, Stream: l.Stream,
		Outcome: l.Outcome, Status: l.Status, Code: l.Code, Reason: l.Reason,
		RequestedModel: l.RequestedModel, DecidedModel: l.DecidedModel, ServedModel: l.ServedModel,
		Provider: l.Provider, Endpoint: l.Endpoint, AttemptCount: l.AttemptCount, CredentialSource: l.CredentialSource,
		Usage: l.Usage, CostUsd: l.CostUsd, CostNanos: l.CostNanos, ChargeUsd: l.ChargeUsd, ChargeNanos: l.ChargeNanos, Unpriced: l.Unpriced, BillingSuppressed: l.BillingSuppressed,
		KeyID: l.KeyID, UserID: l.UserID, GatewayID: l.GatewayID,
		SessionID: l.SessionID, EndUser: l.EndUser, ClientRequestID: l.ClientRequestID,
		PolicyRevision: l.PolicyRevision, CatalogRevision: l.CatalogRevision,
		CostLines: each(d.Cost.Lines, costLineOf),
		Attempts:  []gen.Attempt{},
		Models:    each(d.Related, func(e usage.Entry) gen.Log { return logOf(e, masked) }),
	}
	if len(d.Decision) == 0 {
		return out
	}
	var record decide.Record
	if err := json.Unmarshal(d.Decision, &record); err != nil {
		s.log.WarnContext(ctx, "a stored decision record is unreadable", slog.String("request", l.ID))
		return out
	}
	out.Decision, out.Attempts = json.RawMessage(d.Decision), each(record.Attempts, attemptOf)
	if masked && len(record.Recollection) > 0 {
		out.Decision = impersonal(d.Decision)
	}
	return out
}

// impersonal is a decision record without what it keeps for replay, which may
// say who made the request.
func impersonal(decision []byte) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(decision, &members) != nil {
		return nil
	}
	delete(members, "replay")
	raw, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return raw
}

func attemptOf(a decide.AttemptRecord) gen.Attempt {
	return gen.Attempt{
		Model: a.Model, Provider: a.Provider, Endpoint: a.Endpoint, Credential: string(a.Credential), CredentialID: some(a.CredentialID.String()), StartedAt: a.Started.UTC(),
		FirstByteMs: duration(a.FirstByte), DurationMs: millis(a.Duration), Status: some(a.Status),
		Failure: some(a.Failure), Retryable: some(a.Retryable), Reason: a.Reason,
	}
}

func costLineOf(l meter.Line) gen.CostLine {
	return gen.CostLine{
		Meter: l.Meter, Units: l.Units, PriceNanosPerMillion: int64(l.Price),
		CostUsd: l.Cost.String(), CostNanos: int64(l.Cost),
	}
}

func tokensOf(u meter.Usage) gen.TokenUsage {
	return gen.TokenUsage{
		Input: u.Input, CachedRead: u.CachedRead, CacheWrite5M: u.CacheWrite5m, CacheWrite1H: u.CacheWrite1h,
		Output: u.Output, Reasoning: u.Reasoning, Image: u.Image, AudioInput: u.AudioInput, AudioOutput: u.AudioOutput,
		Estimated: u.Estimated,
	}
}

func figuresOf(t usage.Totals) gen.UsageFigures {
	return gen.UsageFigures{
		Requests: t.Requests, ModelAttempts: t.ModelAttempts, UpstreamCalls: t.UpstreamCalls,
		Errors: t.Errors, Refused: t.Refused, Canceled: t.Canceled, Unknown: t.Unknown, Estimated: t.Estimated,
		Tokens: gen.UsageTokens{
			Input: t.Input, CachedRead: t.CachedRead, CacheWrite: t.CacheWrite, Output: t.Output,
			Reasoning: t.Reasoning, Image: t.Image, AudioInput: t.AudioInput, AudioOutput: t.AudioOutput,
		},
		CostUsd: t.Cost.String(), CostNanos: int64(t.Cost), ChargeUsd: t.Charge.String(), ChargeNanos: int64(t.Charge),
	}
}

func usageRowOf(r usage.Row) gen.UsageRow {
	f := figuresOf(r.Totals)
	out := gen.UsageRow{
		Requests: f.Requests, ModelAttempts: f.ModelAttempts, UpstreamCalls: f.UpstreamCalls,
		Errors: f.Errors, Refused: f.Refused, Canceled: f.Canceled, Unknown: f.Unknown, Estimated: f.Estimated,
		Tokens: f.Tokens, CostUsd: f.CostUsd, CostNanos: f.CostNanos, ChargeUsd: f.ChargeUsd, ChargeNanos: f.ChargeNanos, Group: some(r.Group),
	}
	if !r.Start.IsZero() {
		out.Start = pointer(r.Start.UTC())
	}
	return out
}

func duration(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return pointer(millis(d))
}
