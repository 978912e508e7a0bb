package httpserver

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/shared/logging"
)

// Options are what an engine needs of its process.
type Options struct {
	Log *slog.Logger
	// NewRequestID names each request.
	NewRequestID func() string
	// OnPanic answers a request whose handler panicked before it wrote.
	OnPanic gin.HandlerFunc
}

// RequestIDHeader carries the request id on every answer.
const RequestIDHeader = "X-Signalbox-Request-Id"

const requestIDKey = "signalbox.request_id"

var quiet sync.Once

// NewEngine returns a gin engine with request ids and recovery, whose routes
// match exactly: nothing is redirected, and a known path with another method
// reaches NoMethod. Context values of a request are seen through gin's
// context.
func NewEngine(o Options) *gin.Engine {
	quiet.Do(func() { gin.SetMode(gin.ReleaseMode) })
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.ForwardedByClientIP = false
	engine.Use(requestID(o.NewRequestID), recovery(o))
	return engine
}

// RequestID is the id of the request that c belongs to.
func RequestID(c *gin.Context) string { return c.GetString(requestIDKey) }

func requestID(newID func() string) gin.HandlerFunc {
	return func(c *gin.Context) {
		rid := newID()
		c.Set(requestIDKey, rid)
		c.Header(RequestIDHeader, rid)
		c.Request = c.Request.WithContext(logging.With(c.Request.Context(), slog.String("request_id", rid)))
		c.Next()
	}
}

func recovery(o Options) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) // net/http's own way to cut a connection
			}
			o.Log.ErrorContext(c.Request.Context(), "handler panicked",
				slog.String("panic", panicText(v)), slog.String("route", c.FullPath()), slog.String("stack", string(debug.Stack())))
			if c.Writer.Written() {
				panic(http.ErrAbortHandler) // half an answer must not look whole
			}
			c.Abort()
			o.OnPanic(c)
		}()
		c.Next()
	}
}

// panicText keeps values out of the log that were never meant for it: only
// errors and strings, which programmers wrote, are shown.
func panicText(v any) string {
	switch v := v.(type) {
	case error:
		return v.Error()
	case string:
		return v
	default:
		return "panic of another type"
	}
}
