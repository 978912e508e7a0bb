package record

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// Access lines are written by hand: through slog they cost a twentieth of what
// the gateway spends on a request. They look as slog would write them.
const (
	accessMessage = "request" // the message of every line
	accessLevel   = "INFO"
	accessUsual   = 1 << 10 // bytes
)

// lines are buffers for access lines.
var lines = sync.Pool{New: func() any {
	b := make(jsonappend.Buffer, 0, accessUsual)
	return &b
}}

// line writes the access line of a recorded request. It holds ids, names and
// numbers: no header, no content, and nothing of a credential but the key's id.
func (r *Recorder) line(ctx context.Context, c *call.Call, p *call.Principal, o *call.Outcome, b billing) {
	if r.access == nil {
		return
	}
	l := begin(o.Finished, c, p, o.Status, o.Failure)
	l.String("surface", string(c.Surface))
	l.StringIf("purpose", c.Purpose)
	if !c.Primary.IsZero() {
		jsonappend.Text(l, "primary_request_id", c.Primary)
	}
	l.String("outcome", string(requestOutcome(o)))
	l.String("requested_model", o.Record.RequestedModel)
	l.String("model", o.Record.DecidedModel)
	l.Bool("stream", c.Request.Stream)
	l.Int("attempts", int64(len(o.Attempts)))
	if o.Reply != nil {
		l.String("provider", o.Reply.Candidate.Provider.Slug)
		l.String("endpoint", o.Reply.Candidate.Endpoint.ID)
	}
	l.Int("duration_us", o.Finished.Sub(c.Received).Microseconds())
	l.Int("gateway_us", gatewayTime(c, o).Microseconds())
	l.Int("upstream_us", o.Upstream.Microseconds())
	l.Int("first_byte_us", o.FirstByte.Microseconds())
	l.Int("input_tokens", o.Seen.Usage.InputTotal())
	l.Int("output_tokens", o.Seen.Usage.OutputTotal())
	l.Int("cost_nano_usd", int64(b.cost.Total))
	l.Int("policy_revision", o.Record.PolicyRevision)
	l.Int("catalog_revision", o.Record.CatalogRevision)
	r.end(ctx, l)
}

// shortLine writes the access line of a request that is not recorded.
func (r *Recorder) shortLine(ctx context.Context, c *call.Call, p *call.Principal, status int, failure *fault.Error) {
	if r.access == nil {
		return
	}
	l := begin(c.Received, c, p, status, failure)
	if failure != nil && failure.Code == fault.Unauthorized {
		// The caller hears "invalid_key" alike; the operator is told which it was.
		if cause := failure.Unwrap(); cause != nil {
			l.String("cause", cause.Error())
		}
		l.String("kid", c.Token.KID)
	}
	r.end(ctx, l)
}

// begin has what every access line begins with.
func begin(at time.Time, c *call.Call, p *call.Principal, status int, failure *fault.Error) *jsonappend.Buffer {
	l := lines.Get().(*jsonappend.Buffer)
	*l = (*l)[:0]
	l.Open('{')
	l.Time("time", at.UTC())
	l.String("level", accessLevel)
	l.String("msg", accessMessage)
	jsonappend.Text(l, "request_id", c.ID)
	l.String("route", c.Route)
	l.String("remote", c.Remote)
	l.Int("status", int64(status))
	if !p.Key.Workspace.IsZero() {
		jsonappend.Text(l, "workspace_id", p.Key.Workspace)
		jsonappend.Text(l, "key_id", p.Key.ID)
	}
	l.StringIf("client_request_id", c.Request.ClientRequestID)
	if failure != nil {
		l.String("code", string(failure.Code))
		l.String("reason", string(failure.Reason))
		limited(l, failure)
	}
	return l
}

// limited says which limit refused a request.
func limited(l *jsonappend.Buffer, failure *fault.Error) {
	scope, _ := failure.Fields["scope"].(string)
	if l.StringIf("limit_scope", scope); scope != "" {
		limit, _ := failure.Fields["id"].(string)
		l.StringIf("limit_id", limit)
	}
}

// end finishes a line and writes it, in one piece.
func (r *Recorder) end(ctx context.Context, l *jsonappend.Buffer) {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		l.String("trace_id", span.TraceID().String())
	}
	l.Close('}')
	*l = append(*l, '\n')
	_, _ = r.access.Write(*l) // a log that cannot be written has nowhere to say so
	if cap(*l) <= 4*accessUsual {
		lines.Put(l)
	}
}
