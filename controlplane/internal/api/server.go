// Package api owns the management API over HTTP: it checks each call against
// the contract, finds out who calls and whether they may, hands it to the
// service that owns the resource, and words the answer. It knows nothing of
// SQL or NATS.
package api

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/docs"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/probe"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/site"
	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/authn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/effective"
	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Services are the aggregates that the API speaks for.
type Services struct {
	Workspaces        *workspace.Service
	Keys              *apikey.Service
	ManagementKeys    *managementkey.Service
	BYOK              *byok.Service
	Settings          *settings.Service
	Profiles          *profile.Service
	Departments       *department.Service
	Guardrails        *guardrail.Service
	RateLimits        *ratelimit.Service
	Budgets           *budget.Service
	DepartmentBudgets *budget.Service
	DynamicRoutes     *dynamicroute.Service
	Replays           *replay.Service
	Rollouts          *rollout.Service
	Presets           *preset.Service
	Effective         *effective.Service
	AutoRouting       *autorouting.Service
	Lifecycle         *lifecycle.Service
	EndpointHealth    *endpointhealth.Service
	Audit             *audit.Log
	Publications      *publication.Service
	Gateways          *gateway.Service
	Overrides         *override.Service
	Seals             *reseal.Service
	Usage             *usage.Query
	Spending          *spending.Service
	Wallets           *wallet.Service
	Allowances        *allowance.Service
	Webhooks          *webhook.Service
	BudgetAlerts      *budgetalert.Service
	Idempotency       idempotency.Store
}

// Options are the rest of what the API works with.
type Options struct {
	Authenticator *authn.Authenticator
	Log           *slog.Logger
	Metrics       *prometheus.Registry
	IDs           *id.Source
	Now           func() time.Time
	Limits        httpserver.Config // of bodies
	Checks        []probe.Check     // for /readyz
	Web           fs.FS             // the dashboard; nil when there is none
	// OpsElsewhere leaves /healthz, /readyz and /metrics to Ops.
	OpsElsewhere bool
}

// Server implements the operations of the contract.
type Server struct {
	services Services
	auth     *authn.Authenticator
	log      *slog.Logger
	ids      *id.Source
	now      func() time.Time
	limits   httpserver.Config
	contract *contract
	metrics  *metrics
	registry *prometheus.Registry
	checks   []probe.Check
	engine   *gin.Engine
}

var _ gen.StrictServerInterface = (*Server)(nil)

// New wires the routes. It starts nothing.
func New(services Services, o Options) (*Server, error) {
	k, err := loadContract()
	if err != nil {
		return nil, err
	}
	page, err := docs.Render(k.doc)
	if err != nil {
		return nil, fmt.Errorf("render the API page: %w", err)
	}
	s := &Server{
		services: services, auth: o.Authenticator, log: o.Log, ids: o.IDs, now: o.Now, limits: o.Limits,
		contract: k, metrics: newMetrics(o.Metrics), registry: o.Metrics, checks: o.Checks,
	}
	s.engine = s.newEngine()
	s.engine.Use(s.observe)
	if !o.OpsElsewhere {
		s.ops(s.engine)
	}
	s.engine.GET("/openapi.json", func(c *gin.Context) { c.Data(http.StatusOK, "application/json", k.json) })
	s.engine.GET("/docs", func(c *gin.Context) {
		site.Harden(c, page.Policy)
		c.Data(http.StatusOK, "text/html; charset=utf-8", page.HTML)
	})
	operations := s.engine.Group("", s.identify, s.check, s.replay)
	strict := gen.NewStrictHandlerWithOptions(s, []gen.StrictMiddlewareFunc{unpooled}, gen.StrictGinServerOptions{
		RequestErrorHandlerFunc: s.unbindable, HandlerErrorFunc: s.fail, ResponseErrorHandlerFunc: s.fail,
	})
	gen.RegisterHandlersWithOptions(operations, strict, gen.GinServerOptions{
		ErrorHandler: func(c *gin.Context, err error, _ int) { s.unbindable(c, err) },
	})
	pages := site.New(o.Web)
	s.engine.NoRoute(func(c *gin.Context) {
		if !pages.Serve(c) {
			s.noRoute(c)
		}
	})
	s.engine.NoMethod(s.noMethod)
	return s, nil
}

// unpooled hands operations a copy of gin's context. gin gives its own to the
// next request, while database/sql may still be looking at it.
func unpooled(next gen.StrictHandlerFunc, _ string) gen.StrictHandlerFunc {
	return func(c *gin.Context, request any) (any, error) { return next(c.Copy(), request) }
}

// Handler serves the API.
func (s *Server) Handler() http.Handler { return s.engine }

// Ops serves /healthz, /readyz and /metrics alone, for a listener of their own.
func (s *Server) Ops() http.Handler {
	engine := s.newEngine()
	s.ops(engine)
	engine.NoRoute(s.noRoute)
	engine.NoMethod(s.noMethod)
	return engine
}

func (s *Server) newEngine() *gin.Engine {
	return httpserver.NewEngine(httpserver.Options{
		Log:          s.log,
		NewRequestID: func() string { return id.New[id.RequestKind](s.ids).String() },
		OnPanic:      onPanic,
	})
}

func (s *Server) ops(engine *gin.Engine) {
	engine.GET("/healthz", probe.Live)
	engine.GET("/readyz", probe.Ready(s.checks...))
	engine.GET("/metrics", gin.WrapH(promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{})))
}

// GetWhoami implements the operation.
func (s *Server) GetWhoami(ctx context.Context, _ gen.GetWhoamiRequestObject) (gen.GetWhoamiResponseObject, error) {
	p := callerOf(ctx).Principal
	if p.Operator {
		return gen.GetWhoami200JSONResponse{Data: gen.Whoami{Kind: gen.WhoamiKindOperator, Scopes: []string{}}}, nil
	}
	member, err := s.services.Workspaces.Member(ctx, p.Workspace, p.User)
	if err != nil {
		return nil, err
	}
	return gen.GetWhoami200JSONResponse{Data: gen.Whoami{
		Kind:            gen.WhoamiKindManagementKey,
		WorkspaceID:     pointer(p.Workspace.String()),
		ManagementKeyID: pointer(p.Key.String()),
		Name:            pointer(p.KeyName),
		User:            pointer(memberOf(member)),
		Role:            pointer(gen.Role(p.Role)),
		Scopes:          list(p.Scopes),
		ExpiresAt:       utc(p.ExpiresAt),
	}}, nil
}
