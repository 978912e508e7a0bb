package routing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func found(v *rule.Violations) (list []string) {
	if err := v.Err(); err != nil {
		for _, one := range fault.Of(err).Violations {
			list = append(list, one.Path+" "+one.Code)
		}
	}
	return list
}

func TestCheckLists(t *testing.T) {
	many := make([]string, 257)
	cases := map[string]struct {
		models, providers policy.Lists
		want              []string
	}{
		"nothing":                          {},
		"all kinds of names":               {policy.Lists{Allow: []string{"acme/*", "tiny"}, Block: []string{"b*", "zeta/small"}}, policy.Lists{Allow: []string{"nord"}, Block: []string{"SOUTH"}}, nil},
		"a provider that is off":           {policy.Lists{}, policy.Lists{Block: []string{"west"}}, nil},
		"an unknown model":                 {policy.Lists{Block: []string{"acme/smal"}}, policy.Lists{}, []string{"models.block[0] model_not_found"}},
		"an ambiguous model":               {policy.Lists{Block: []string{"small"}}, policy.Lists{}, []string{"models.block[0] model_not_found"}},
		"a pattern of nothing":             {policy.Lists{Allow: []string{"acne/*"}}, policy.Lists{}, []string{"models.allow[0] model_not_found"}},
		"a model at a provider":            {policy.Lists{Allow: []string{"north:acme/small"}}, policy.Lists{}, []string{"models.allow[0] model_not_found"}},
		"auto":                             {policy.Lists{Block: []string{"signalbox/auto"}}, policy.Lists{}, []string{"models.block[0] model_not_found"}},
		"no name":                          {policy.Lists{Allow: []string{"", "a b*", strings.Repeat("x", 201)}}, policy.Lists{}, []string{"models.allow[0] required", "models.allow[1] malformed", "models.allow[2] too_long"}},
		"an unknown provider":              {policy.Lists{}, policy.Lists{Allow: []string{"north", "east"}}, []string{"providers.allow[1] unknown_provider_slug"}},
		"a model twice, by an alias":       {policy.Lists{Allow: []string{"acme/small", "tiny"}}, policy.Lists{}, []string{"models.allow[1] duplicate"}},
		"a provider twice, by an alias":    {policy.Lists{}, policy.Lists{Block: []string{"north", "NORD"}}, []string{"providers.block[1] duplicate"}},
		"a model allowed and blocked":      {policy.Lists{Allow: []string{"tiny"}, Block: []string{"acme/small"}}, policy.Lists{}, []string{"models.block[0] contradiction"}},
		"a provider allowed and blocked":   {policy.Lists{}, policy.Lists{Allow: []string{"north"}, Block: []string{"south", "nord"}}, []string{"providers.block[1] contradiction"}},
		"too many stars":                   {policy.Lists{Block: []string{"*a*c*m*e*/*s*m*a*", "acme/****"}}, policy.Lists{}, []string{"models.block[0] too_long"}},
		"a pattern twice, with more stars": {policy.Lists{Block: []string{"acme/*", "acme/**"}}, policy.Lists{}, []string{"models.block[1] duplicate"}},
		"too many":                         {policy.Lists{Allow: many}, policy.Lists{Block: many[:65]}, []string{"models.allow too_long", "providers.block too_long"}},
		"every mistake, in its own place":  {policy.Lists{Allow: []string{"nope", "acme/big", "acme/big"}}, policy.Lists{Block: []string{"east"}}, []string{"models.allow[0] model_not_found", "models.allow[2] duplicate", "providers.block[0] unknown_provider_slug"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var v rule.Violations
			routing.NewChecker(offered(t)).CheckLists(&v, &c.models, &c.providers)
			require.Equal(t, c.want, found(&v))
		})
	}
}

func TestWhatIsKeptOfLists(t *testing.T) {
	var v rule.Violations
	given := policy.Lists{Allow: []string{"tiny", "zeta/***"}}
	models, providers := routing.NewChecker(offered(t)).CheckLists(&v, &given, &policy.Lists{Block: []string{"NORD"}})
	require.Empty(t, found(&v))
	require.Equal(t, &policy.Lists{Allow: []string{"acme/small", "zeta/*"}}, models)
	require.Equal(t, &policy.Lists{Block: []string{"north"}}, providers)
	require.Equal(t, "tiny", given.Allow[0], "the caller's own stay as they were")
	models, providers = routing.NewChecker(offered(t)).CheckLists(&v, nil, nil)
	require.True(t, models == nil && providers == nil)
}

func TestCheckReach(t *testing.T) {
	cases := map[string]struct {
		rules policy.GuardrailRules
		want  []string
	}{
		"nothing is said":                           {},
		"something is left":                         {rules: policy.GuardrailRules{Models: policy.Lists{Allow: []string{"acme/small"}}, Providers: policy.Lists{Block: []string{"south"}}, RequireZDR: true}},
		"everything is blocked, which is a wish":    {rules: policy.GuardrailRules{Models: policy.Lists{Block: []string{"*"}}}},
		"all that is allowed is blocked":            {policy.GuardrailRules{Models: policy.Lists{Allow: []string{"acme/small"}, Block: []string{"acme/*"}}}, []string{"models.allow contradiction"}},
		"a model that only a blocked one serves":    {policy.GuardrailRules{Models: policy.Lists{Allow: []string{"acme/big"}}, Providers: policy.Lists{Block: []string{"south"}}}, []string{"models.allow contradiction"}},
		"a provider that serves nothing allowed":    {policy.GuardrailRules{Models: policy.Lists{Block: []string{"acme/small", "zeta/*"}}, Providers: policy.Lists{Allow: []string{"north"}}}, []string{"providers.allow contradiction"}},
		"only a provider that is switched off":      {policy.GuardrailRules{Providers: policy.Lists{Allow: []string{"west"}}}, []string{"providers.allow contradiction"}},
		"only a provider that may retain":           {policy.GuardrailRules{Providers: policy.Lists{Allow: []string{"south"}}, RequireZDR: true}, []string{"data_policy contradiction"}},
		"a model only of a provider that may train": {policy.GuardrailRules{Models: policy.Lists{Allow: []string{"acme/big"}}, DenyTraining: true}, []string{"data_policy contradiction"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var v rule.Violations
			routing.NewChecker(offered(t)).CheckReach(&v, c.rules)
			require.Equal(t, c.want, found(&v))
		})
	}
}
