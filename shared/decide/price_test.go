package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// TestWhatAPriceLimitIsHeldAgainst holds max_price and the spend profile of
// signalbox/auto to the same: what is thought is output, and who wants to pay
// nothing pays no fee.
func TestWhatAPriceLimitIsHeldAgainst(t *testing.T) {
	none := money.PerMillion(0)
	for name, c := range map[string]struct {
		price   func(p *catalog.Price)
		in, out *money.PerMillion
		want    string // the reason for which it is left out
	}{
		"within":                         {func(*catalog.Price) {}, perMillion("1"), perMillion("4"), ""},
		"input above":                    {func(*catalog.Price) {}, perMillion("0.9"), perMillion("4"), "above_max_price"},
		"output above":                   {func(*catalog.Price) {}, perMillion("1"), perMillion("3.9"), "above_max_price"},
		"thoughts above":                 {func(p *catalog.Price) { p.Reasoning = perMillion("4.1") }, perMillion("1"), perMillion("4"), "above_max_price"},
		"thoughts at the limit":          {func(p *catalog.Price) { p.Reasoning = perMillion("4") }, perMillion("1"), perMillion("4"), ""},
		"cheap thoughts do not lower it": {func(p *catalog.Price) { p.Reasoning = perMillion("1") }, perMillion("1"), perMillion("3"), "above_max_price"},
		"thoughts of a tier": {func(p *catalog.Price) {
			p.Tiers = []catalog.Tier{{Above: 10, Price: catalog.Price{Reasoning: perMillion("5")}}}
		}, perMillion("1"), perMillion("4"), "above_max_price"},
		"thoughts where output is not known":  {func(p *catalog.Price) { p.Output, p.Reasoning = nil, perMillion("1") }, perMillion("1"), perMillion("4"), "price_unknown"},
		"a fee is no token's price":           {func(p *catalog.Price) { p.Request = 1_000_000 }, perMillion("1"), perMillion("4"), ""},
		"a fee, and nothing is to be paid":    {func(p *catalog.Price) { p.Input, p.Output, p.Request = &none, &none, 1 }, &none, &none, "above_max_price"},
		"a fee, and nothing for the output":   {func(p *catalog.Price) { p.Output, p.Request = &none, 1 }, perMillion("9"), &none, "above_max_price"},
		"nothing is to be paid, and is asked": {func(p *catalog.Price) { p.Input, p.Output = &none, &none }, &none, &none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := autoWorld(func(a *policy.Auto) {
				a.Spend, a.Prices = policy.SpendCustom, &policy.SpendLimit{Input: *c.in, Output: *c.out}
			})
			w.catalog.Models = []catalog.Model{model("acme/one", "north 1 4")}
			c.price(w.model("acme/one").Endpoints[0].Price)
			plan := w.decide(t, decide.Facts{Model: "acme/one", InputTokens: 20, Provider: decide.Preferences{MaxInputPrice: c.in, MaxOutputPrice: c.out}})
			chosen := w.choose(t, decide.Facts{InputTokens: 20}, work(classify.General, 0.5))
			if c.want == "" {
				require.Nil(t, plan.Refusal)
				require.Nil(t, chosen.Refusal)
				return
			}
			require.NotNil(t, plan.Refusal)
			require.Equal(t, c.want, string(plan.Refusal.Reason))
			require.Equal(t, "request", plan.Record.Exclusions[0].Rung)
			require.NotNil(t, chosen.Refusal)
		})
	}
}

// TestARuleDoesNotLeadOutOfTheModelsOfAuto: the workspace says which models
// signalbox/auto may choose, and the operator's rule of one does not lead to
// another.
func TestARuleDoesNotLeadOutOfTheModelsOfAuto(t *testing.T) {
	w := autoWorld(func(a *policy.Auto) { a.Models = []string{"acme/plain", "acme/unknown"} })
	w.model("acme/plain").Rules = []catalog.Rule{rule("away", always, `{"model":"acme/strong","fallbacks":[{"model":"acme/unknown"}]}`)}
	for _, kind := range []classify.Workload{classify.Code, classify.General} {
		plan := w.choose(t, decide.Facts{}, work(kind, 0.5))
		require.Nil(t, plan.Refusal)
		require.Equal(t, []string{"acme/unknown"}, models(plan))
	}
	w.auto.Models = []string{"acme/plain"}
	plan := w.choose(t, decide.Facts{}, work(classify.General, 0.5))
	require.NotNil(t, plan.Refusal)
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{
		Model: "acme/strong", Endpoint: "north:acme/strong", Stage: "model_policy", Reason: "not_in_auto_models",
	})
	require.Nil(t, w.decide(t, decide.Facts{Model: "acme/plain"}).Refusal, "who names the model goes where the rule says")
}
