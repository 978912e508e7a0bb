package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
)

const (
	problemType      = "application/problem+json"
	statusClientGone = 499 // for the log and the metrics only
)

// statuses maps the codes of the management API to HTTP. Any other code is a
// fault of ours.
var statuses = map[fault.Code]int{
	fault.InvalidJSON:          http.StatusBadRequest,
	fault.ValidationError:      http.StatusBadRequest,
	fault.Unauthorized:         http.StatusUnauthorized,
	fault.Forbidden:            http.StatusForbidden,
	fault.InsufficientScope:    http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.Conflict:             http.StatusConflict,
	fault.IdempotencyConflict:  http.StatusConflict,
	fault.PreconditionFailed:   http.StatusPreconditionFailed,
	fault.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.RateLimitExceeded:    http.StatusTooManyRequests,
	fault.GatewayError:         http.StatusInternalServerError,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// StatusOf is the HTTP status of a code, and whether the management API
// answers with it at all.
func StatusOf(code fault.Code) (status int, known bool) {
	status, known = statuses[code]
	return status, known
}

// retryUnavailable is said with a 503 whose cause gives no time of its own.
const retryUnavailable = 2 * time.Second

// fail answers with err as problem details and ends the request's chain. It
// is the one place where failures become HTTP.
func (s *Server) fail(c *gin.Context, err error) {
	f := fault.Of(err)
	if errors.Is(err, c.Request.Context().Err()) && c.Request.Context().Err() != nil {
		c.AbortWithStatus(statusClientGone) // nobody reads an answer
		return
	}
	status, known := StatusOf(f.Code)
	if !known {
		f = fault.Of(errors.New("code outside the management API: " + f.Error()))
		status = http.StatusInternalServerError
	}
	ctx := c.Request.Context()
	switch status {
	case http.StatusInternalServerError:
		s.log.ErrorContext(ctx, "request failed", slog.String("operation", s.operationID(c)), slog.String("error", f.Error()))
	case http.StatusServiceUnavailable:
		s.log.WarnContext(ctx, "request refused, a store is away", slog.String("operation", s.operationID(c)), slog.String("error", f.Error()))
	default:
		s.log.DebugContext(ctx, "request refused", slog.String("operation", s.operationID(c)), slog.String("code", string(f.Code)), slog.String("reason", string(f.Reason)))
	}
	writeProblem(c, status, f)
}

func writeProblem(c *gin.Context, status int, f *fault.Error) {
	p := gen.Problem{
		Type:      "urn:signalbox:problem:" + string(f.Code),
		Title:     http.StatusText(status),
		Status:    status,
		Detail:    f.Message,
		Code:      string(f.Code),
		RequestID: httpserver.RequestID(c),
	}
	if f.Reason != "" {
		p.Reason = pointer(string(f.Reason))
	}
	if f.Retryable || status == http.StatusServiceUnavailable {
		p.Retryable = pointer(true)
	}
	if v, ok := f.Fields["version"].(int64); ok {
		p.CurrentVersion = &v
	}
	if v, ok := f.Fields["missing_scopes"].([]string); ok {
		p.MissingScopes = &v
	}
	if len(f.Violations) > 0 {
		list := make([]gen.Violation, len(f.Violations))
		for i, v := range f.Violations {
			list[i] = violationOf(v)
		}
		p.Violations = &list
	}
	after := f.RetryAfter
	if after == 0 && status == http.StatusServiceUnavailable {
		after = retryUnavailable
	}
	if after > 0 {
		c.Header("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	if status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", `Bearer realm="signalbox"`)
	}
	body, err := json.Marshal(p)
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	c.Abort()
	c.Data(status, problemType, append(body, '\n'))
}

// onPanic answers a request whose handler panicked; the engine has logged it.
func onPanic(c *gin.Context) {
	writeProblem(c, http.StatusInternalServerError, fault.Of(errors.New("panic")))
}

func (s *Server) noRoute(c *gin.Context) {
	s.fail(c, fault.New(fault.NotFound, "No such path. This is the management API, described at /docs; inference is served by the gateways."))
}

func (s *Server) noMethod(c *gin.Context) {
	s.fail(c, fault.New(fault.MethodNotAllowed, "This path does not take that method; the Allow header names those that it takes."))
}

func violationOf(v fault.Violation) gen.Violation {
	return gen.Violation{Path: v.Path, Code: v.Code, Message: v.Message, Node: some(v.Node)}
}

func pointer[T any](v T) *T { return &v }
