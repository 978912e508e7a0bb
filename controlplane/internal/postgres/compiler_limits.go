package postgres

import (
	"context"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// limits are what the requests of the workspace may use; nil where nothing is
// limited.
func (c *Compiler) limits(ctx context.Context, ws id.Workspace) (*policy.Limits, error) {
	budgets, err := c.budgets(ctx, ws)
	if err != nil || len(budgets) == 0 {
		return nil, err
	}
	return &policy.Limits{Budgets: budgets}, nil
}
