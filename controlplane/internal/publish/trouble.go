package publish

import (
	"context"
	"log/slog"
	"time"
)

// trouble logs a failure that lasts: at a start, and after an outage, the
// first tries may come before NATS is ready, and that is nothing to report.
type trouble struct {
	log  *slog.Logger
	what string

	since  time.Time
	logged time.Time
}

const (
	patience = 5 * time.Second
	relog    = time.Minute
)

// met reports whether err is a failure, and logs it when it lasts.
func (t *trouble) met(ctx context.Context, now time.Time, err error) bool {
	if err == nil {
		t.since, t.logged = time.Time{}, time.Time{}
		return false
	}
	if t.since.IsZero() {
		t.since = now
	}
	if ctx.Err() == nil && now.Sub(t.since) > patience && now.Sub(t.logged) > relog {
		t.logged = now
		t.log.Warn("publication is in trouble and keeps trying", slog.String("trouble", t.what), slog.Time("since", t.since), slog.Any("error", err))
	}
	return true
}
