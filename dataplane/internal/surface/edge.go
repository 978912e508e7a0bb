// Package surface owns the gateway's HTTP edge: the routes, the one table of
// inference surfaces, reading a request into a call.Call, the native error
// forms, and the sink that a response is pushed into. gin is its mux and is
// seen nowhere else in the data plane. It knows the pipeline's entry and none
// of its stages.
package surface

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/body"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/jsonarray"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/telemetry"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Pipeline takes a call down all stages.
type Pipeline interface {
	Serve(ctx context.Context, c *call.Call, sink call.Sink)
	// Identify authenticates and pins, for the calls that reach no upstream.
	Identify(ctx context.Context, c *call.Call) (call.Principal, call.Pinned, error)
	// Preview takes a call as far as the decision and leaves no trace.
	Preview(ctx context.Context, c *call.Call) (call.Principal, decide.Plan, error)
}

// AccessLog writes the one line of a request that the pipeline did not record.
type AccessLog interface {
	Access(ctx context.Context, c *call.Call, p call.Principal, status int, failure *fault.Error)
}

// Generations finds this gateway's recent requests; it keeps workspaces apart.
type Generations interface {
	Generation(ws id.Workspace, request id.Request) ([]wire.UsageEvent, bool)
}

// Health has a frozen view of what is known of the endpoints, and what users
// are told of one once there is enough of it.
type Health interface {
	View() decide.Health
	Published(endpointID string) (health.Published, bool)
}

// Limits knows what keys have used and may use. It takes nothing.
type Limits interface {
	Standing(ctx context.Context, k policy.Key, v *policy.View, now time.Time) call.Standing
}

// Options are the limits of the edge.
type Options struct {
	MaxJSON      int64         // bytes of a JSON body after inflation
	MaxMultipart int64         // bytes of a form after inflation
	BodyDir      string        // for bodies over 1 MiB; emptied. "": memory holds them
	BodyRoom     int64         // bytes of all bodies in BodyDir at once
	BodyTime     time.Duration // for a body to arrive
	MaxFirstByte time.Duration // the most that a caller may allow for the first byte
	WriteStall   time.Duration // a caller that takes nothing for so long has gone
}

// DefaultOptions are those of the specification.
func DefaultOptions() Options {
	return Options{
		MaxJSON: 16 << 20, MaxMultipart: 32 << 20, BodyRoom: 4 << 30,
		BodyTime: time.Minute, MaxFirstByte: 5 * time.Minute, WriteStall: time.Minute,
	}
}

// Deps are what an Edge works with.
type Deps struct {
	Pipeline    Pipeline
	Access      AccessLog
	Generations Generations
	Health      Health
	Limits      Limits
	Kept        Kept
	IDs         *id.Source
	Now         func() time.Time
	Log         *slog.Logger // gets bugs
	Tracer      trace.Tracer // nil: no spans
}

// Edge serves the inference API.
type Edge struct {
	deps    Deps
	options Options
	bodies  *body.Spool // nil: memory holds every body
	engine  *gin.Engine
}

var quiet sync.Once

// New returns an Edge with all routes of the inference API. The error is of
// the directory for large bodies.
func New(deps Deps, options Options) (*Edge, error) {
	quiet.Do(func() { gin.SetMode(gin.ReleaseMode) })
	e := &Edge{deps: deps, options: options, engine: gin.New()}
	if options.BodyDir != "" {
		var err error
		if e.bodies, err = body.OpenSpool(options.BodyDir, options.BodyRoom); err != nil {
			return nil, err
		}
	}
	e.engine.HandleMethodNotAllowed = true
	e.engine.RedirectTrailingSlash = false
	e.engine.RedirectFixedPath = false
	e.engine.ForwardedByClientIP = false
	e.engine.Use(e.recovered)
	e.routes()
	e.discovery()
	e.engine.POST(previewPath, e.preview)
	e.engine.NoRoute(e.refuse(fault.NotFound, nowhere))
	e.engine.NoMethod(e.refuse(fault.MethodNotAllowed, func(string) string {
		return "This path does not take this method; the Allow header names what it takes."
	}))
	return e, nil
}

// Handle adds a handler of the process to the same listener, such as a probe.
func (e *Edge) Handle(method, path string, h http.Handler) {
	e.engine.Handle(method, path, func(g *gin.Context) {
		body.Skip(g.Writer, g.Request)
		h.ServeHTTP(g.Writer, g.Request)
	})
}

// ServeHTTP implements http.Handler.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.engine.ServeHTTP(w, r) }

// recovered answers a bug above the pipeline, which sees to its own. Half a
// response cannot be mended: it cuts the connection.
func (e *Edge) recovered(g *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v)
		}
		e.deps.Log.ErrorContext(g.Request.Context(), "handler panicked",
			slog.String("route", g.FullPath()), slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		if g.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
		c := e.newCall(g.Request, g.Request.Method+" "+g.FullPath())
		failure := fault.Of(errPanicked)
		s := newSink(g.Writer, formOf(g.Request), &c, e.options.WriteStall)
		s.Fail(failure, nil)
		e.deps.Access.Access(g.Request.Context(), &c, call.Principal{}, s.Status(), failure)
	}()
	g.Next()
}

var errPanicked = errors.New("handler panicked")

// infer serves one row of the table. A model that the path names is handed to
// what it returns.
func (e *Edge) infer(row *row) func(g *gin.Context, model string) {
	route := row.method + " " + row.path
	return func(g *gin.Context, model string) {
		c := e.newCall(g.Request, route)
		c.Surface = row.surface
		ctx, end := e.trace(g.Request, &c)
		defer end()
		s := newSink(g.Writer, row.envelope, &c, e.options.WriteStall)
		var refusal *fault.Error
		if c.Token, refusal = credential(g.Request); refusal != nil {
			body.Skip(g.Writer, g.Request)
			s.Fail(refusal, nil)
			e.deps.Access.Access(ctx, &c, call.Principal{}, s.Status(), refusal)
			return
		}
		if row.surface == catalog.Realtime {
			s.request = g.Request
		}
		if row.surface == catalog.Gemini && row.streams && g.Query("alt") != "sse" {
			s.array = &jsonarray.Framer{}
		}
		e.read(g, row, &c, model)
		if c.Store != nil {
			defer c.Store.Release()
		}
		e.deps.Pipeline.Serve(ctx, &c, s)
		s.cut = s.cut || s.framing && ctx.Err() != nil // an array that was left must not look whole
		s.end()
	}
}

// trace begins the span of a request, joined to the caller's trace.
func (e *Edge) trace(r *http.Request, c *call.Call) (context.Context, func()) {
	ctx := r.Context()
	if e.deps.Tracer == nil {
		return ctx, func() {}
	}
	ctx, span := e.deps.Tracer.Start(telemetry.Extract(ctx, r.Header), c.Route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("signalbox.request_id", c.ID.String())))
	return ctx, func() { span.End() }
}

// newCall has what is known of a request before anything of it is believed.
func (e *Edge) newCall(r *http.Request, route string) call.Call {
	c := call.Call{
		ID:       id.New[id.RequestKind](e.deps.IDs),
		Route:    route,
		Received: e.deps.Now(),
		Remote:   r.RemoteAddr,
		Header:   r.Header,
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		c.Remote = host
	}
	c.Request.ClientRequestID = facts.ClientRequestID(r.Header)
	return c
}

// refuse answers what no route takes. An SDK that was given the wrong base URL
// meets this first, so it comes in the form of the SDK.
func (e *Edge) refuse(code fault.Code, message func(path string) string) gin.HandlerFunc {
	return func(g *gin.Context) {
		route := g.Request.Method + " (no route)"
		c := e.newCall(g.Request, route)
		failure := fault.New(code, message(g.Request.URL.Path))
		body.Skip(g.Writer, g.Request)
		s := newSink(g.Writer, formOf(g.Request), &c, e.options.WriteStall)
		s.Fail(failure, nil)
		e.deps.Access.Access(g.Request.Context(), &c, call.Principal{}, s.Status(), failure)
	}
}
