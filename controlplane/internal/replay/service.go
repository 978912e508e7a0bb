package replay

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Deps are what a Service works with.
type Deps struct {
	Runner   txn.Runner
	Routes   Routes
	Versions Versions
	Keys     Keys
	Policies Policies
	Log      Log
	Source   routing.Source
	Now      func() time.Time
}

// Service replays. Its failures are validation_error, not_found, conflict (one
// of the workspace is under way, or a version cannot be evaluated any more) and
// unavailable. It is safe for concurrent use.
type Service struct {
	d Deps

	mu   sync.Mutex
	busy map[id.Workspace]bool
}

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d, busy: make(map[id.Workspace]bool)} }

// Replay reports what a version of a route would change, if it were deployed,
// for the requests that its keys made. It takes the policy and catalog of now,
// and changes nothing.
func (s *Service) Replay(ctx context.Context, ws id.Workspace, route id.Route, number int, q Query) (Report, error) {
	if err := q.complete(s.d.Now()); err != nil {
		return Report{}, err
	}
	release, ok := s.claim(ws)
	if !ok {
		return Report{}, fault.New(fault.Conflict, "A replay of this workspace is under way. Ask again when it has ended.")
	}
	defer release()
	offered, err := s.d.Source.View(ctx)
	if err != nil {
		return Report{}, err
	}
	var report Report
	err = s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		c, err := s.prepare(ctx, ws, route, number, q, offered)
		if err != nil {
			return err
		}
		if err := s.run(ctx, ws, c, q); err != nil {
			return err
		}
		report = c.result()
		report.Since, report.Limited = q.Since, report.Requests == q.Limit
		return nil
	})
	return report, err
}

// claim admits one replay of a workspace at a time.
func (s *Service) claim(ws id.Workspace) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[ws] {
		return nil, false
	}
	s.busy[ws] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, ws)
	}, true
}

// complete fills in what a query leaves open.
func (q *Query) complete(now time.Time) error {
	if q.Since.IsZero() {
		q.Since = now.Add(-DefaultSpan)
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	var wrong []fault.Violation
	if q.Since.After(now) {
		wrong = append(wrong, fault.Violation{Path: "since", Code: "invalid_value", Message: "must not be in the future"})
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		wrong = append(wrong, fault.Violation{Path: "limit", Code: "invalid_value", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	if len(wrong) > 0 {
		return fault.Invalid(wrong...)
	}
	return nil
}

// prepare reads everything but the requests.
func (s *Service) prepare(ctx context.Context, ws id.Workspace, route id.Route, number int, q Query, offered *catalog.View) (*comparison, error) {
	r, err := s.d.Routes.Get(ctx, ws, route)
	if err == nil && r.DeletedAt != nil {
		err = fault.New(fault.NotFound, "The dynamic route was deleted, and has no keys any more.")
	}
	if err != nil {
		return nil, err
	}
	version, err := s.d.Versions.Get(ctx, ws, route, number)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Wrap(err, fault.NotFound, "The dynamic route has no such version.")
	}
	if err != nil {
		return nil, err
	}
	var deployed dynamicroute.Version
	if r.Deployed != 0 {
		if deployed, err = s.d.Versions.Get(ctx, ws, route, r.Deployed); err != nil {
			return nil, err
		}
	}
	snapshot, err := s.d.Policies.Policy(ctx, ws)
	if err != nil {
		return nil, err
	}
	if err := q.kept(s.d.Now(), snapshot.Settings); err != nil {
		return nil, err
	}
	before, err := sideOf(snapshot, r, deployed)
	if err != nil {
		return nil, err
	}
	after, err := sideOf(snapshot, r, version)
	if err != nil {
		return nil, err
	}
	c := newComparison(before, after)
	c.catalog, c.now, c.hider = offered, s.d.Now(), condition.NewHider(snapshot.ReplayKey)
	if c.durations, err = s.d.Log.Durations(ctx, ws, q.Since); err != nil {
		return nil, err
	}
	c.keys, err = s.keys(ctx, ws, route)
	return c, err
}

// kept refuses to go back beyond what the log has.
func (q *Query) kept(now time.Time, settings policy.Settings) error {
	if q.Since.Before(now.AddDate(0, 0, -settings.LogRetentionDays)) {
		return fault.Invalid(fault.Violation{
			Path: "since", Code: "invalid_value", Message: fmt.Sprintf("must be within the %d days that the request log is kept", settings.LogRetentionDays),
		})
	}
	return nil
}

func (s *Service) keys(ctx context.Context, ws id.Workspace, route id.Route) (map[id.Key]decide.KeyFacts, error) {
	documents, err := s.d.Keys.Documents(ctx, ws, route)
	if err != nil {
		return nil, err
	}
	keys := make(map[id.Key]decide.KeyFacts, len(documents))
	for i := range documents {
		keys[documents[i].ID] = decide.KeyFactsOf(&documents[i])
	}
	return keys, nil
}

// run compares the requests, one after the other as they come.
func (s *Service) run(ctx context.Context, ws id.Workspace, c *comparison, q Query) error {
	if len(c.keys) == 0 {
		return nil
	}
	keys := make([]id.Key, 0, len(c.keys))
	for key := range c.keys {
		keys = append(keys, key)
	}
	return s.d.Log.Requests(ctx, ws, keys, q.Since, q.Limit, func(r *Request) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.add(r)
		return nil
	})
}
