package api

import (
	"context"
	"log/slog"
	"math"
	"time"
)

const lookAtGateways = 50 * time.Millisecond

// coverage says which published revision first had a version of the operator's
// catalog; 0 while none has.
type coverage interface {
	Covering(ctx context.Context, version int64) (int64, error)
}

// fleet counts the live gateways that serve an older revision of the catalog.
type fleet interface {
	Behind(revision int64) int
}

// catalogRollout follows a version of the operator's catalog to the gateways.
type catalogRollout struct {
	coverage coverage
	fleet    fleet
	log      *slog.Logger
}

// await looks until every live gateway serves the version, or the time is up;
// without time it looks once. pending counts those that do not yet: while the
// version is not published, all of them and at least one. Version 0 is nothing
// that could be on its way.
func (r catalogRollout) await(ctx context.Context, version int64, limit time.Duration) (revision int64, pending int) {
	if version == 0 {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(ctx, limit+lookAtGateways)
	defer cancel()
	tick := time.NewTicker(lookAtGateways)
	defer tick.Stop()
	for told := false; ; {
		if revision == 0 { // once it is known it stays
			var err error
			revision, err = r.coverage.Covering(ctx, version)
			if err != nil && ctx.Err() == nil && !told { // the change is committed; that must not look like a failure
				told = true
				r.log.WarnContext(ctx, "the catalog's publication could not be looked up", slog.String("error", err.Error()))
			}
		}
		if pending = r.behind(revision); pending == 0 || limit == 0 {
			return revision, pending
		}
		select {
		case <-ctx.Done():
			return revision, pending
		case <-tick.C:
		}
	}
}

func (r catalogRollout) behind(revision int64) int {
	if revision == 0 {
		return max(1, r.fleet.Behind(math.MaxInt64))
	}
	return r.fleet.Behind(revision)
}
