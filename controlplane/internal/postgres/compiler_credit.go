package postgres

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// deployment is what the deployment says of billing and allowances; without it
// both are off.
type deployment struct {
	terms  wallet.Terms
	ladder allowance.Settings
	now    func() time.Time
}

// Under has the compiler publish what the deployment says of billing and
// allowances.
func (c *Compiler) Under(terms wallet.Terms, ladder allowance.Settings, now func() time.Time) *Compiler {
	c.deployment = deployment{terms: terms, ladder: ladder, now: now}
	return c
}

// credit is how the workspace pays.
func (c *Compiler) credit(ctx context.Context, ws id.Workspace) (policy.Credit, error) {
	var rows []walletRow // one at most
	err := scoped(ctx, ws).Find(&rows).Error
	var w wallet.Wallet
	for _, row := range rows {
		w = row.wallet()
	}
	return c.deployment.terms.With(w.Own).Credit(w.Granted), translate(err, "compile how the workspace pays")
}

// allowance is what the platform lets the workspace's users do. The standing is
// that of now: the watch publishes again when it rises.
func (c *Compiler) allowance(ctx context.Context, ws id.Workspace) (policy.Allowance, error) {
	a, err := NewAllowanceStore().Account(ctx, ws)
	if err != nil {
		return policy.Allowance{}, err
	}
	standing := allowance.New
	if c.deployment.now != nil {
		standing, _ = c.deployment.ladder.Standing(a.Facts(c.deployment.terms), c.deployment.now())
	}
	return c.deployment.ladder.Allowance(standing, a.Overrides), nil
}
