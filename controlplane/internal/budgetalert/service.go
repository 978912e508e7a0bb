package budgetalert

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// maxShares is how many shares a workspace can be told of.
const maxShares = 4

// Shares are the parts of every limit that a workspace is told of.
type Shares struct {
	Percents []int // whole ones from 1 to 100, rising
	Version  int64 // rises with every change, from 1; 0: never set
}

// DefaultShares are those of a workspace that set none.
func DefaultShares() Shares { return Shares{Percents: []int{80, 100}} }

// Deps are what a Service works with.
type Deps struct {
	Runner  txn.Runner
	Store   Store
	Mutator *deploy.Mutator
}

// Service sets the shares and shows what was told. Its failures are
// validation_error, precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Shares returns the shares of a workspace.
func (s *Service) Shares(ctx context.Context, ws id.Workspace) (Shares, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Shares, error) {
		return s.d.Store.Shares(ctx, ws)
	})
}

// SetShares replaces them. They hold for what is spent from then on.
func (s *Service) SetShares(ctx context.Context, ws id.Workspace, by audit.By, percents []int, ifMatch *int64) (Shares, publication.Publication, error) {
	if err := validate(percents); err != nil {
		return Shares{}, publication.Publication{}, err
	}
	after := Shares{Percents: slices.Sorted(slices.Values(percents))}
	c := deploy.NewChange(by, "budget_alerts.update", "budget_alerts", ws.String())
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Shares, error) {
		before, err := s.d.Store.Shares(ctx, ws)
		if err != nil {
			return Shares{}, err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return Shares{}, err
		}
		after.Version = before.Version + 1
		var d audit.Diff
		d.List("shares", before.texts(), after.texts())
		c.Diff = d
		return after, s.d.Store.SetShares(ctx, ws, after)
	})
}

// Alerts returns a page of what was told, newest first.
func (s *Service) Alerts(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Alert], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Alert], error) {
		return s.d.Store.Alerts(ctx, ws, q)
	})
}

func (s Shares) texts() []string {
	list := make([]string, len(s.Percents))
	for i, p := range s.Percents {
		list[i] = strconv.Itoa(p)
	}
	return list
}

func validate(percents []int) error {
	var v rule.Violations
	v.Between("shares", len(percents), 1, maxShares)
	seen := map[int]bool{}
	for i, p := range percents {
		at := fmt.Sprintf("shares[%d]", i)
		v.Between(at, p, 1, 100)
		if seen[p] {
			v.Add(at, rule.Duplicate, "is in the list already")
		}
		seen[p] = true
	}
	return v.Err()
}

// Kept is for how long alerts of a window are shown after its begin.
const Kept = 400 * 24 * time.Hour
