package postgres

import (
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// limitsRow are the columns of an API key's limits; 0 is none.
type limitsRow struct {
	DailyRequests    int64 `gorm:"column:daily_requests"`
	WeeklyRequests   int64 `gorm:"column:weekly_requests"`
	MonthlyRequests  int64 `gorm:"column:monthly_requests"`
	DailyCostNanos   int64 `gorm:"column:daily_cost_nanos"`
	WeeklyCostNanos  int64 `gorm:"column:weekly_cost_nanos"`
	MonthlyCostNanos int64 `gorm:"column:monthly_cost_nanos"`
	LimitReserve     bool  `gorm:"column:limit_reserve"`
	LimitIncludeBYOK bool  `gorm:"column:limit_include_byok"`
	SoftBlocked      bool  `gorm:"column:soft_blocked"`
}

func limitsRowOf(l *policy.KeyLimits) limitsRow {
	if l == nil {
		return limitsRow{}
	}
	return limitsRow{
		DailyRequests: l.Daily.Requests, WeeklyRequests: l.Weekly.Requests, MonthlyRequests: l.Monthly.Requests,
		DailyCostNanos: int64(l.Daily.Cost), WeeklyCostNanos: int64(l.Weekly.Cost), MonthlyCostNanos: int64(l.Monthly.Cost),
		LimitReserve: l.Reserve, LimitIncludeBYOK: l.IncludeBYOK, SoftBlocked: l.SoftBlocked,
	}
}

// limits is nil for a row of none.
func (r limitsRow) limits() *policy.KeyLimits {
	if r == (limitsRow{}) {
		return nil
	}
	return &policy.KeyLimits{
		Daily:   policy.KeyWindow{Requests: r.DailyRequests, Cost: money.Nanos(r.DailyCostNanos)},
		Weekly:  policy.KeyWindow{Requests: r.WeeklyRequests, Cost: money.Nanos(r.WeeklyCostNanos)},
		Monthly: policy.KeyWindow{Requests: r.MonthlyRequests, Cost: money.Nanos(r.MonthlyCostNanos)},
		Reserve: r.LimitReserve, IncludeBYOK: r.LimitIncludeBYOK, SoftBlocked: r.SoftBlocked,
	}
}

func (r limitsRow) changeable() map[string]any {
	return map[string]any{
		"daily_requests": r.DailyRequests, "weekly_requests": r.WeeklyRequests, "monthly_requests": r.MonthlyRequests,
		"daily_cost_nanos": r.DailyCostNanos, "weekly_cost_nanos": r.WeeklyCostNanos, "monthly_cost_nanos": r.MonthlyCostNanos,
		"limit_reserve": r.LimitReserve, "limit_include_byok": r.LimitIncludeBYOK, "soft_blocked": r.SoftBlocked,
	}
}
