package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Reader runs fn in one read-only transaction of the workspace, and again where
// it failed to be one.
type Reader interface {
	Read(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error
}

// Policies compiles committed policy. It is called inside a transaction of ws.
type Policies interface {
	Policy(ctx context.Context, ws id.Workspace) (policy.Snapshot, error)
}

// Key is an API key that lists models.
type Key struct {
	ID     id.Key
	Name   string
	Models []string
}

// Keys reads keys. It is called inside a transaction of ws.
type Keys interface {
	// Listing are the keys that are not revoked and list one of the names, or a
	// pattern with *.
	Listing(ctx context.Context, ws id.Workspace, names []string) ([]Key, error)
}

// Use is what one name was used for.
type Use struct {
	Asked    string // as the request wrote it; "" in Decided
	Decided  string // canonical id; "" when nothing was decided
	Requests int64
	Last     time.Time
}

// Uses reads what inference used. It is called inside a transaction of ws.
type Uses interface {
	// Decided sums up the model attempts of each of the models since then.
	Decided(ctx context.Context, ws id.Workspace, models []string, since time.Time) ([]Use, error)
	// Asked counts the requests since then that wrote one of the names and were
	// not decided for a model of just that name.
	Asked(ctx context.Context, ws id.Workspace, names []string, since time.Time) ([]Use, error)
}

// Deps are what a Service works with.
type Deps struct {
	Runner   Reader
	Policies Policies
	Keys     Keys
	Uses     Uses
	Source   routing.Source
	Now      func() time.Time
}

// Service finds alerts. Its failures are not_found and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Alerts are the models that go and that the workspace names or used within
// Window, the most urgent first.
func (s *Service) Alerts(ctx context.Context, ws id.Workspace) ([]Alert, error) {
	view, err := s.d.Source.View(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the offered catalog: %w", err)
	}
	now := s.d.Now()
	var found *alerts
	err = s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		found = newAlerts(view, now) // anew where the transaction is repeated
		if len(found.byID) == 0 {
			return nil
		}
		return s.read(ctx, ws, found, now.Add(-Window))
	})
	if err != nil {
		return nil, err
	}
	return found.concerning(), nil
}

func (s *Service) read(ctx context.Context, ws id.Workspace, found *alerts, since time.Time) error {
	snapshot, err := s.d.Policies.Policy(ctx, ws)
	if err != nil {
		return err
	}
	found.policy(snapshot)
	spellings := found.spellings()
	keys, err := s.d.Keys.Listing(ctx, ws, spellings)
	if err != nil {
		return err
	}
	found.keys(keys)
	decided, err := s.d.Uses.Decided(ctx, ws, slices.Sorted(maps.Keys(found.byID)), since)
	if err != nil {
		return err
	}
	asked, err := s.d.Uses.Asked(ctx, ws, spellings, since)
	if err != nil {
		return err
	}
	found.uses(decided, asked)
	return nil
}

// uses takes use in. A request that named a model by an alias and was decided
// for it is among both.
func (a *alerts) uses(decided, asked []Use) {
	for _, u := range decided {
		if one, goes := a.byID[u.Decided]; goes {
			one.used(u.Requests, u.Last)
		}
	}
	for _, u := range asked {
		for _, one := range a.meant(u.Asked) {
			if one.Model != u.Decided {
				one.used(u.Requests, u.Last)
			}
		}
	}
}
