package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config says where traces go. The zero value exports nothing.
type Config struct {
	// OTLPEndpoint is the base URL of an OTLP/HTTP collector, such as
	// http://collector:4318; "/v1/traces" is added. Empty turns tracing off.
	OTLPEndpoint string `mapstructure:"otlp_endpoint"`
	// SampleRatio is the share of requests traced when the caller has not
	// decided, from 0 to 1.
	SampleRatio float64 `mapstructure:"sample_ratio"`
}

// Default traces nothing, and once it has an endpoint one request in a hundred.
func Default() Config { return Config{SampleRatio: 0.01} }

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.OTLPEndpoint != "" {
		u, err := url.Parse(c.OTLPEndpoint)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
			errs = append(errs, errors.New("otlp_endpoint: want an http or https URL without credentials"))
		}
	}
	if c.SampleRatio < 0 || c.SampleRatio > 1 {
		errs = append(errs, errors.New("sample_ratio: want a number from 0 to 1"))
	}
	return errors.Join(errs...)
}

// Tracing exports spans until Shutdown.
type Tracing struct {
	provider *sdktrace.TracerProvider
}

// StartTracing begins to export in the background; Shutdown ends it. With no
// endpoint it does nothing and costs nothing.
func StartTracing(ctx context.Context, c Config, component, version string) (*Tracing, error) {
	if c.OTLPEndpoint == "" {
		return &Tracing{}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(c.OTLPEndpoint+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("open trace exporter: %w", err)
	}
	about := resource.NewSchemaless(
		attribute.String("service.name", "signalbox-"+component),
		attribute.String("service.version", version),
	)
	return &Tracing{provider: sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.SampleRatio))),
	)}, nil
}

// Enabled reports whether spans go anywhere.
func (t *Tracing) Enabled() bool { return t.provider != nil }

// Tracer returns a tracer, one that does nothing while tracing is off.
func (t *Tracing) Tracer(name string) trace.Tracer {
	if t.provider == nil {
		return noop.NewTracerProvider().Tracer(name)
	}
	return t.provider.Tracer(name)
}

// Shutdown sends what waits and ends the export.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("end trace export: %w", err)
	}
	return nil
}

// Extract takes the caller's trace from W3C traceparent and tracestate
// (https://www.w3.org/TR/trace-context/), so that ours joins it.
func Extract(ctx context.Context, h http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
}
