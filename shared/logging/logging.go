// Package logging owns how processes write logs: one slog handler in JSON or
// text, and attributes that travel in the context, such as the request id and
// the workspace. Only TakeStandard sets anything global.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
)

// Config is the part of a process's configuration that concerns its log.
type Config struct {
	Level  string // the least that is logged: debug, info, warn or error
	Format string // of a line: json or text
}

// Default logs from info on as JSON.
func Default() Config { return Config{Level: "info", Format: "json"} }

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	if _, err := level(c.Level); err != nil {
		return err
	}
	if c.Format != "json" && c.Format != "text" {
		return fmt.Errorf("log format: want json or text")
	}
	return nil
}

// New returns a logger that writes to w. Times are in UTC.
func New(w io.Writer, c Config) (*slog.Logger, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	lowest, _ := level(c.Level)
	options := &slog.HandlerOptions{Level: lowest, ReplaceAttr: utc}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if c.Format == "text" {
		handler = slog.NewTextHandler(w, options)
	}
	return slog.New(contextual{handler}), nil
}

// Discard returns a logger that writes nothing.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

type attrsKey struct{}

// With returns a context whose attributes every record logged with it carries.
// Later attributes of the same key do not replace earlier ones.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	have, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	joined := make([]slog.Attr, 0, len(have)+len(attrs))
	joined = append(append(joined, have...), attrs...)
	return context.WithValue(ctx, attrsKey{}, joined)
}

// contextual adds the attributes of the context to each record.
type contextual struct{ slog.Handler }

// Handle implements slog.Handler.
func (h contextual) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(attrsKey{}).([]slog.Attr); ok {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h contextual) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextual{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h contextual) WithGroup(name string) slog.Handler {
	return contextual{h.Handler.WithGroup(name)}
}

func level(text string) (slog.Level, error) {
	switch strings.ToLower(text) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("log level: want debug, info, warn or error")
}

func utc(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
		a.Value = slog.StringValue(a.Value.Time().UTC().Format(time.RFC3339Nano))
	}
	return a
}
