package record

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// accessMessage is the message of every access line.
const accessMessage = "request"

// line writes the access line of a recorded request. It holds ids, names and
// numbers: no header, no content, and nothing of a credential but the key's id.
func (r *Recorder) line(ctx context.Context, c *call.Call, p *call.Principal, o *call.Outcome, b billing) {
	if !r.access.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := make([]slog.Attr, 0, 28)
	attrs = start(attrs, c, p, o.Status, o.Failure)
	attrs = append(attrs,
		slog.String("surface", string(c.Surface)),
		slog.String("outcome", string(outcome(o))),
		slog.String("requested_model", o.Record.RequestedModel),
		slog.String("model", o.Record.DecidedModel),
		slog.Bool("stream", c.Request.Stream),
		slog.Int("attempts", len(o.Attempts)),
	)
	if o.Reply != nil {
		attrs = append(attrs,
			slog.String("provider", o.Reply.Candidate.Provider.Slug),
			slog.String("endpoint", o.Reply.Candidate.Endpoint.ID))
	}
	attrs = append(attrs,
		micros("duration_us", o.Finished.Sub(c.Received)),
		micros("gateway_us", gatewayTime(c, o)),
		micros("upstream_us", o.Upstream),
		micros("first_byte_us", o.FirstByte),
		slog.Int64("input_tokens", o.Seen.Usage.InputTotal()),
		slog.Int64("output_tokens", o.Seen.Usage.OutputTotal()),
		slog.Int64("cost_nano_usd", int64(b.cost.Total)),
		slog.Int64("policy_revision", o.Record.PolicyRevision),
		slog.Int64("catalog_revision", o.Record.CatalogRevision),
	)
	r.write(ctx, o.Finished, attrs)
}

// write hands a line to the handler. A record made here has no source
// position, which would cost a walk of the stack.
func (r *Recorder) write(ctx context.Context, at time.Time, attrs []slog.Attr) {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		attrs = append(attrs, slog.String("trace_id", span.TraceID().String()))
	}
	record := slog.NewRecord(at.UTC(), slog.LevelInfo, accessMessage, 0)
	record.AddAttrs(attrs...)
	_ = r.access.Handle(ctx, record) // a log that cannot be written has nowhere to say so
}

// shortLine writes the access line of a request that is not recorded.
func (r *Recorder) shortLine(ctx context.Context, c *call.Call, p *call.Principal, status int, failure *fault.Error) {
	if !r.access.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := start(make([]slog.Attr, 0, 12), c, p, status, failure)
	if failure != nil && failure.Code == fault.Unauthorized {
		// The caller hears "invalid_key" alike; the operator is told which it was.
		if cause := failure.Unwrap(); cause != nil {
			attrs = append(attrs, slog.String("cause", cause.Error()))
		}
		attrs = append(attrs, slog.String("kid", c.Token.KID))
	}
	r.write(ctx, c.Received, attrs)
}

// start has the attributes of every access line.
func start(attrs []slog.Attr, c *call.Call, p *call.Principal, status int, failure *fault.Error) []slog.Attr {
	attrs = append(attrs,
		slog.String("request_id", c.ID.String()),
		slog.String("route", c.Route),
		slog.String("remote", c.Remote),
		slog.Int("status", status),
	)
	if !p.Key.Workspace.IsZero() {
		attrs = append(attrs,
			slog.String("workspace_id", p.Key.Workspace.String()),
			slog.String("key_id", p.Key.ID.String()))
	}
	if c.Request.ClientRequestID != "" {
		attrs = append(attrs, slog.String("client_request_id", c.Request.ClientRequestID))
	}
	if failure != nil {
		attrs = append(attrs,
			slog.String("code", string(failure.Code)),
			slog.String("reason", string(failure.Reason)))
	}
	return attrs
}

// micros is a duration in whole microseconds: slog writes integers without
// reflection.
func micros(key string, d time.Duration) slog.Attr { return slog.Int64(key, d.Microseconds()) }
