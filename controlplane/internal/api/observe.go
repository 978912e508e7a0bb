package api

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics count calls by operation, never by anything that a caller chose.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_management_requests_total",
			Help: "Calls of the management API. A rise of status 5xx means that callers fail through no fault of theirs.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signalbox_management_request_seconds",
			Help:    "Time to answer, waiting for receipts included. Slow reads point at Postgres.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
	}
	registry.MustRegister(m.requests, m.seconds)
	return m
}

// observe counts each call and writes its access line.
func (s *Server) observe(c *gin.Context) {
	start := time.Now()
	c.Next()
	took, operation := time.Since(start), s.operationID(c)
	s.metrics.requests.WithLabelValues(operation, strconv.Itoa(c.Writer.Status())).Inc()
	s.metrics.seconds.WithLabelValues(operation).Observe(took.Seconds())
	level := slog.LevelInfo
	if operation == "" {
		level = slog.LevelDebug // pages, probes and strangers
	}
	s.log.LogAttrs(c.Request.Context(), level, "request served",
		slog.String("operation", operation), slog.Int("status", c.Writer.Status()),
		slog.Int("bytes", c.Writer.Size()), slog.Duration("took", took))
}

// operationID is the contract's name of the call, "" for what is not in it.
func (s *Server) operationID(c *gin.Context) string {
	if route := s.contract.route(c); route != nil {
		return route.Operation.OperationID
	}
	return ""
}
