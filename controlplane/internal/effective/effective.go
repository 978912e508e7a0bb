// Package effective owns the answer to what the policy ladder comes to for a
// key or a workspace: it reads what would be published now and resolves it with
// the function that live traffic is resolved with. It knows nothing of SQL or
// HTTP.
package effective

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Policies compiles committed policy. It is called inside a transaction of ws.
type Policies interface {
	Policy(ctx context.Context, ws id.Workspace) (policy.Snapshot, error)
}

// Keys reads keys. It is called inside a transaction of ws.
type Keys interface {
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, key id.Key) (apikey.Key, error)
}

// Routes reads dynamic routes. It is called inside a transaction of ws.
type Routes interface {
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, route id.Route) (dynamicroute.Route, error)
}

// Deps are what a Service works with.
type Deps struct {
	Runner   txn.Runner
	Policies Policies
	Keys     Keys
	Routes   Routes
	Source   routing.Source
	Now      func() time.Time
}

// Service resolves. Its failures are not_found and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Resolved is what holds at a revision.
type Resolved struct {
	decide.Effective
	Revision int64 // of the workspace; its publication may be on its way yet
	// Refusal is what every request would get for the state of the key, or else
	// for the ladder alone; nil: none.
	Refusal *fault.Error
	// Profiles are the routing profiles of the rungs that have one, by the
	// names of the rungs.
	Profiles map[string]id.Profile
	// Route is the dynamic route that the key is attached to, which has the last
	// word with each request if it Applies; nil: none.
	Route *dynamicroute.Route
}

// Resolve is what holds for a request of the key that says nothing itself, or,
// for the zero id, for the workspace's part of it.
func (s *Service) Resolve(ctx context.Context, ws id.Workspace, key id.Key) (Resolved, error) {
	offered, err := s.d.Source.View(ctx)
	if err != nil {
		return Resolved{}, err
	}
	var snapshot policy.Snapshot
	var document policy.Key
	var route *dynamicroute.Route
	err = s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		if snapshot, err = s.d.Policies.Policy(ctx, ws); err != nil || key.IsZero() {
			return err
		}
		k, err := s.d.Keys.Get(ctx, ws, key)
		if document = apikey.Document(k); err != nil || k.Route.IsZero() {
			return err
		}
		attached, err := s.d.Routes.Get(ctx, ws, k.Route)
		route = &attached
		return err
	})
	if err != nil {
		return Resolved{}, err
	}
	view, err := policy.Compile(snapshot)
	if err != nil {
		return Resolved{}, fmt.Errorf("resolve the policy: %w", err)
	}
	facts := decide.KeyFactsOf(&document)
	r := Resolved{Revision: snapshot.Revision, Profiles: make(map[string]id.Profile), Route: route}
	r.Effective, r.Refusal = decide.ResolveEffective(view, offered, facts)
	if refusal := document.Refusal(s.d.Now()); refusal != nil {
		r.Refusal = refusal
	}
	r.Profiles[decide.RungWorkspaceProfile.String()] = snapshot.Profile
	if d, ok := view.Department(facts.Department); ok {
		r.Profiles[decide.RungDepartment.String()] = d.Profile
	}
	r.Profiles[decide.RungKey.String()] = facts.Profile
	return r, nil
}
