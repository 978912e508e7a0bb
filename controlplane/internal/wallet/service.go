package wallet

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Deps are what a Service works with.
type Deps struct {
	Runner  txn.Runner
	Store   Store
	Entries Entries
	Counter Counter
	Mutator *deploy.Mutator
	Terms   Terms // of the deployment
	IDs     *id.Source
	Now     func() time.Time
}

// Service reads wallets and changes them. Changes are for operators.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Account is a wallet and how its workspace pays.
type Account struct {
	Wallet
	Terms       Terms
	OwnRequests int64 // completed this UTC month with the workspace's own credentials
}

// FreeRequests is how many more requests with own credentials are without a fee
// this UTC month.
func (a Account) FreeRequests() int64 { return max(0, a.Terms.FeeAfter-a.OwnRequests) }

// Get fails with not_found.
func (s *Service) Get(ctx context.Context, ws id.Workspace) (Account, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Account, error) {
		w, err := s.d.Store.Get(ctx, ws)
		if err != nil {
			return Account{}, err
		}
		return s.account(ctx, w)
	})
}

// Entries returns a page, newest first.
func (s *Service) Entries(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Entry], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Entry], error) {
		if _, err := s.d.Store.Get(ctx, ws); err != nil {
			return page.Result[Entry]{}, err
		}
		return s.d.Entries.List(ctx, ws, q)
	})
}

// Edit changes what it is given.
type Edit func(o *Own)

// SetTerms changes the terms that the workspace has of its own. It fails with
// validation_error, not_found or precondition_failed.
func (s *Service) SetTerms(ctx context.Context, ws id.Workspace, by audit.By, edit Edit, ifMatch *int64) (Account, publication.Publication, error) {
	c := deploy.NewChange(by, "billing.update", "wallet", ws.String())
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Account, error) {
		before, err := s.d.Store.Get(ctx, ws)
		if err != nil {
			return Account{}, err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return Account{}, err
		}
		after := before
		edit(&after.Own)
		if err := after.Own.Validate(); err != nil {
			return Account{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before.Own, after.Own)
		if err := s.d.Store.SetOwn(ctx, ws, after); err != nil {
			return Account{}, err
		}
		return s.account(ctx, after)
	})
}

// account is w with how its workspace pays.
func (s *Service) account(ctx context.Context, w Wallet) (Account, error) {
	requests, err := s.d.Counter.OwnRequests(ctx, w.Workspace, s.d.Now())
	return Account{Wallet: w, Terms: s.d.Terms.With(w.Own), OwnRequests: requests}, err
}

// errRepeated says that the entry of a reference is there.
var errRepeated = errors.New("the entry of this reference is there")

// Add adds an entry. One whose reference is there with the same kind and amount
// is returned as it is, with a publication that is zero: nothing was changed. It
// fails with validation_error, conflict (path "reference"; or when the wallet
// would hold too much) or not_found.
func (s *Service) Add(ctx context.Context, ws id.Workspace, by audit.By, n NewEntry) (Entry, publication.Publication, error) {
	if err := n.Validate(); err != nil {
		return Entry{}, publication.Publication{}, err
	}
	e := Entry{
		ID: id.New[id.WalletEntryKind](s.d.IDs), Workspace: ws, Kind: n.Kind, Amount: n.Amount, Reference: n.Reference, Note: n.Note,
		Actor: by.Kind, ActorName: by.Name, RequestID: by.RequestID,
	}
	c := deploy.NewChange(by, "credit."+string(n.Kind), "wallet_entry", e.ID.String())
	var made Entry
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) (err error) {
		if made, err = s.repeated(ctx, ws, n); err != nil {
			return err
		}
		before, err := s.d.Store.Lock(ctx, ws)
		if err != nil {
			return err
		}
		after := before
		made = e
		if made.CreatedAt = s.now(); n.Kind == TopUp {
			after.Paid = after.Paid.Add(n.Amount)
			if after.ToppedUpAt == nil {
				after.ToppedUpAt = &made.CreatedAt
			}
		}
		after.Granted, after.Entries = after.Granted.Add(n.Amount), after.Entries+1
		if after.Granted > MaxGranted || after.Granted < -MaxGranted || after.Paid > MaxGranted {
			return fault.New(fault.Conflict, "The wallet would hold more than it can.")
		}
		made.Number, made.Balance = after.Entries, after.Balance()
		c.Diff = nil
		addDiff((*audit.Diff)(&c.Diff), before, after, made)
		return s.d.Entries.Append(ctx, ws, after, made)
	})
	if errors.Is(err, errRepeated) {
		return made, publication.Publication{}, nil
	}
	if err != nil {
		return Entry{}, publication.Publication{}, err
	}
	return made, pub, nil
}

// repeated fails with errRepeated and the entry where n was added before. The
// workspace's revision is locked, so that no other can come in between.
func (s *Service) repeated(ctx context.Context, ws id.Workspace, n NewEntry) (Entry, error) {
	if n.Reference == "" {
		return Entry{}, nil
	}
	found, err := s.d.Entries.ByReference(ctx, ws, n.Reference)
	switch {
	case fault.Is(err, fault.NotFound):
		return Entry{}, nil
	case err != nil:
		return Entry{}, err
	case found.Kind == n.Kind && found.Amount == n.Amount:
		return found, errRepeated
	}
	refused := fault.New(fault.Conflict, "An entry with this reference is there, of another kind or amount.")
	refused.Violations = []fault.Violation{{Path: "reference", Code: rule.Duplicate, Message: "is that of another entry"}}
	return Entry{}, refused
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func addDiff(d *audit.Diff, before, after Wallet, e Entry) {
	d.Text("amount_usd", "", e.Amount.String())
	d.Text("granted_usd", before.Granted.String(), after.Granted.String())
	d.Text("reference", "", e.Reference)
	d.Text("note", "", e.Note)
}

func diff(before, after Own) []audit.Change {
	var d audit.Diff
	d.Text("billing", text(before.Billing), text(after.Billing))
	d.Text("floor_usd", amount(before.Floor), amount(after.Floor))
	d.Number("byok_fee_rate", before.FeeRate, after.FeeRate)
	d.Number("byok_free_requests", before.FeeAfter, after.FeeAfter)
	return d
}

func text[T ~string](v *T) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

func amount(v *money.Nanos) string {
	if v == nil {
		return ""
	}
	return v.String()
}
