package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// SpendingStore reads what accounts spent.
type SpendingStore struct{}

// NewSpendingStore returns a store that works in the transaction of its context.
func NewSpendingStore() *SpendingStore { return &SpendingStore{} }

// spentRow is a day of an account, or with the zero day its lifetime.
type spentRow struct {
	Account   string    `gorm:"column:account"`
	Day       time.Time `gorm:"column:day"`
	Requests  int64     `gorm:"column:requests"`
	CostNanos int64     `gorm:"column:cost_nanos"`
	BYOKNanos int64     `gorm:"column:byok_nanos"`
}

func (r spentRow) spend() wire.Spend { return spendOf(r.Requests, r.CostNanos, r.BYOKNanos) }

// Spent implements spending.Store.
func (*SpendingStore) Spent(
	ctx context.Context, ws id.Workspace, accounts []wire.Account, since time.Time,
) (map[wire.Account]spending.History, error) {
	histories := make(map[wire.Account]spending.History)
	names := make(textArray, len(accounts))
	for i, a := range accounts {
		names[i] = string(a)
	}
	var days, lifetimes []spentRow
	err := scoped(ctx, ws).Table("spend_days").Where("account = ANY(?::text[]) AND day >= ?::date", names, date(since.UTC())).
		Order("account, day").Find(&days).Error
	if err != nil {
		return nil, translate(err, "read what was spent in days")
	}
	if err := scoped(ctx, ws).Table("spend_totals").Where("account = ANY(?::text[])", names).Find(&lifetimes).Error; err != nil {
		return nil, translate(err, "read what was spent in all")
	}
	for _, r := range days {
		h := histories[wire.Account(r.Account)]
		h.Days = append(h.Days, spending.Day{Start: r.Day.UTC(), Spend: r.spend()})
		histories[wire.Account(r.Account)] = h
	}
	for _, r := range lifetimes {
		h := histories[wire.Account(r.Account)]
		h.Lifetime = r.spend()
		histories[wire.Account(r.Account)] = h
	}
	return histories, nil
}

// OwnRequests implements wallet.Counter.
func (s *SpendingStore) OwnRequests(ctx context.Context, ws id.Workspace, now time.Time) (int64, error) {
	month := spending.WindowOf(policy.Monthly, now)
	spent, err := s.Spent(ctx, ws, []wire.Account{wire.AccountBYOK}, month.Start)
	return spent[wire.AccountBYOK].In(month).Requests, err
}

var (
	_ spending.Store = (*SpendingStore)(nil)
	_ wallet.Counter = (*SpendingStore)(nil)
)
