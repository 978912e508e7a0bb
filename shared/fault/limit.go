package fault

// LimitReached is the reason of key_limit_exceeded for a limit of a key: interval
// is daily, weekly or monthly, metric request or cost.
func LimitReached(interval, metric string) Reason {
	return Reason(interval + "_" + metric + "_limit_reached")
}

// BudgetReached is the reason of key_limit_exceeded for a budget; interval may
// also be lifetime.
func BudgetReached(interval string) Reason { return Reason(interval + "_cost_budget_reached") }

// DepartmentBudgetReached is the reason of key_limit_exceeded for a budget of a
// department.
func DepartmentBudgetReached(interval string) Reason {
	return Reason("department_" + interval + "_cost_budget_reached")
}
