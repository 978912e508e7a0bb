package allowance

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Account is what is stored of a workspace that its allowance follows from.
type Account struct {
	CreatedAt time.Time
	Paid      money.Nanos
	Billing   *policy.Billing // its own; nil: the deployment's
	Overrides Overrides
}

// Facts are those of a, where the deployment says t.
func (a Account) Facts(t wallet.Terms) Facts {
	billing := t.With(wallet.Own{Billing: a.Billing}).Billing
	return Facts{CreatedAt: a.CreatedAt, Paid: a.Paid, Invoice: billing == policy.BillingInvoice}
}

// Store keeps overrides. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Account fails with not_found where there is no such workspace.
	Account(ctx context.Context, ws id.Workspace) (Account, error)
	// SetOverrides stores o where the stored version, which is 1 where nothing is,
	// is one less; else precondition_failed.
	SetOverrides(ctx context.Context, ws id.Workspace, o Overrides) error
	// Missing are the users that are no members.
	Missing(ctx context.Context, ws id.Workspace, users []id.User) ([]id.User, error)
	// SetPublished notes what the workspace is published with.
	SetPublished(ctx context.Context, ws id.Workspace, p Published) error
}

// Deps are what a Service works with.
type Deps struct {
	Runner   txn.Runner
	Store    Store
	Mutator  *deploy.Mutator
	Settings Settings
	Terms    wallet.Terms // of the deployment
	Now      func() time.Time
}

// Service reads and changes allowances. Changes are for operators.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// State is the allowance of a workspace and where it comes from.
type State struct {
	Enabled   bool
	Standing  Standing
	Reason    Reason
	Facts     Facts
	Overrides Overrides
	Allowance policy.Allowance
}

// Get fails with not_found.
func (s *Service) Get(ctx context.Context, ws id.Workspace) (State, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (State, error) {
		a, err := s.d.Store.Account(ctx, ws)
		return s.state(a), err
	})
}

func (s *Service) state(a Account) State {
	facts := a.Facts(s.d.Terms)
	standing, why := s.d.Settings.Standing(facts, s.d.Now())
	return State{
		Enabled: s.d.Settings.Enabled, Standing: standing, Reason: why, Facts: facts, Overrides: a.Overrides,
		Allowance: s.d.Settings.Allowance(standing, a.Overrides),
	}
}

// Edit changes what it is given. It may run more than once.
type Edit func(o *Overrides)

// Update changes the overrides. It fails with validation_error, also for users
// that are no members, not_found or precondition_failed.
func (s *Service) Update(ctx context.Context, ws id.Workspace, by audit.By, edit Edit, ifMatch *int64) (State, publication.Publication, error) {
	c := deploy.NewChange(by, "allowance.update", "allowance", ws.String())
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (State, error) {
		a, err := s.d.Store.Account(ctx, ws)
		if err != nil {
			return State{}, err
		}
		if err := txn.Match(ifMatch, a.Overrides.Version); err != nil {
			return State{}, err
		}
		before := a.Overrides
		after := before
		if after.Users = maps.Clone(before.Users); after.Users == nil {
			after.Users = map[id.User]int64{}
		}
		edit(&after)
		if err := after.Validate(); err != nil {
			return State{}, err
		}
		if err := s.members(ctx, ws, before, after); err != nil {
			return State{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, txn.Moment(s.d.Now())
		c.Diff = diff(before, after)
		a.Overrides = after
		state := s.state(a)
		return state, s.d.Store.SetOverrides(ctx, ws, after)
	})
}

// members refuses new users that are no members. One that left may stay.
func (s *Service) members(ctx context.Context, ws id.Workspace, before, after Overrides) error {
	var added []id.User
	for user := range after.Users {
		if _, had := before.Users[user]; !had {
			added = append(added, user)
		}
	}
	if len(added) == 0 {
		return nil
	}
	missing, err := s.d.Store.Missing(ctx, ws, added)
	if err == nil && len(missing) > 0 {
		err = fault.Invalid(fault.Violation{Path: "users", Code: rule.NotAllowed, Message: "must name members of the workspace"})
	}
	return err
}

func diff(before, after Overrides) []audit.Change {
	var d audit.Diff
	d.Number("requests_per_minute", before.PerMinute, after.PerMinute)
	d.Number("free_requests_per_day", before.FreePerDay, after.FreePerDay)
	users := maps.Clone(before.Users)
	if users == nil {
		users = map[id.User]int64{}
	}
	maps.Copy(users, after.Users)
	for _, user := range slices.SortedFunc(maps.Keys(users), compareUsers) {
		d.Number("users."+user.String(), entry(before.Users, user), entry(after.Users, user))
	}
	return d
}

func entry(users map[id.User]int64, user id.User) *int64 {
	if n, ok := users[user]; ok {
		return &n
	}
	return nil
}
