package postgres

import (
	"context"
	"reflect"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// limits are what the workspace's requests may use, nil where nothing is
// limited.
func (c *Compiler) limits(ctx context.Context, ws id.Workspace) (*policy.Limits, error) {
	var l policy.Limits
	var err error
	if l.RatePolicies, err = c.ratePolicies(ctx, ws); err != nil {
		return nil, err
	}
	if l.Budgets, err = c.budgets(ctx, ws); err != nil {
		return nil, err
	}
	if l.Allowance, err = c.allowance(ctx, ws); err != nil {
		return nil, err
	}
	if l.Credit, err = c.credit(ctx, ws); err != nil {
		return nil, err
	}
	if reflect.ValueOf(l).IsZero() {
		return nil, nil //nolint:nilnil // no limits and no error is an answer here
	}
	return &l, nil
}
