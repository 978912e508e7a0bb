package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestTheChainOfModels(t *testing.T) {
	for name, c := range map[string]struct {
		facts    decide.Facts
		settings func(*policy.Settings)
		route    *policy.Routing
		want     []string
		explicit bool
		first    decide.SwitchReason
	}{
		"one model":                {facts: decide.Facts{Model: "acme/small"}, want: []string{"acme/small"}},
		"the request's":            {facts: decide.Facts{Model: "acme/small", Models: []string{"acme/big", "acme/small", "acme/big"}}, want: []string{"acme/small", "acme/big"}, explicit: true},
		"the ladder's":             {facts: decide.Facts{Model: "acme/small"}, settings: fallbacks("acme/big"), want: []string{"acme/small", "acme/big"}},
		"first the request's":      {facts: decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}}, settings: fallbacks("acme/big"), want: []string{"acme/small", "zeta/small", "acme/big"}, explicit: true},
		"cut":                      {facts: decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}}, settings: func(s *policy.Settings) { fallbacks("acme/big")(s); s.MaxModels = 2 }, want: []string{"acme/small", "zeta/small"}, explicit: true},
		"one that cannot serve":    {facts: decide.Facts{Model: "acme/small", Models: []string{"acme/vec", "no/such", "acme/big"}}, want: []string{"acme/small", "acme/big"}, explicit: true},
		"the same once more":       {facts: decide.Facts{Model: "acme/small", Models: []string{"acme/small:nitro", "north:acme/small", "acme/big"}}, want: []string{"acme/small", "acme/big"}, explicit: true},
		"others of the same":       {facts: decide.Facts{Model: "north:acme/small", Models: []string{"acme/small"}}, want: []string{"acme/small", "acme/small"}, explicit: true},
		"nothing serves the first": {facts: decide.Facts{Model: "acme/vec", Models: []string{"acme/big"}}, want: []string{"acme/big"}, explicit: true, first: decide.SwitchFallbackModel},
		"the route's fallbacks": {
			facts: decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}}, settings: fallbacks("acme/tiny"),
			route: &policy.Routing{FallbackModels: []string{"acme/big"}}, want: []string{"acme/small", "acme/big"}, explicit: true,
		},
		"the route's model": {
			facts: decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}}, settings: fallbacks("acme/tiny"),
			route: &policy.Routing{DefaultModel: "acme/big"}, want: []string{"acme/big"}, explicit: true, first: decide.SwitchDynamicRoute,
		},
		"the route's model and fallbacks": {
			facts: decide.Facts{Model: "acme/big", Models: []string{"zeta/small"}}, settings: fallbacks("acme/tiny"),
			route: &policy.Routing{DefaultModel: "acme/big", FallbackModels: []string{"acme/small"}}, want: []string{"acme/big", "acme/small"}, explicit: true,
		},
		"the route's model for none": {
			route: &policy.Routing{DefaultModel: "acme/big"}, want: []string{"acme/big"}, first: decide.SwitchDynamicRoute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if c.settings != nil {
				c.settings(&w.settings)
			}
			if c.route != nil {
				w.rungs = map[decide.Rung]policy.Routing{decide.RungRoute: *c.route}
			}
			plan := w.decide(t, c.facts)
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.want, plan.Record.Chain)
			require.Equal(t, c.explicit, plan.Explicit)
			require.Equal(t, c.first, plan.Record.SwitchReason)
			for i, step := range plan.Chain {
				r := plan.RecordOf(i)
				require.Equal(t, step.Model.ID, r.DecidedModel)
				require.Equal(t, step.Candidates[0].Endpoint.ID, r.DecidedUpstream)
				require.Equal(t, step.Candidates[0].Provider.Slug, r.DecidedProvider)
				if i > 0 {
					require.Equal(t, decide.SwitchFallbackModel, r.SwitchReason)
				}
			}
		})
	}
}

func fallbacks(models ...string) func(*policy.Settings) {
	return func(s *policy.Settings) { s.FallbackModels = models }
}

// What is left out of the chain is told, with why.
func TestWhatIsLeftOutOfTheChainIsTold(t *testing.T) {
	w := newWorld()
	plan := w.decide(t, decide.Facts{Model: "acme/small", Models: []string{"acme/vec", "no/such", "acme/small:nitro"}})
	reasons := map[string]string{}
	for _, x := range plan.Record.Exclusions {
		reasons[x.Model] = x.Reason
	}
	require.Equal(t, "already_in_chain", reasons["acme/small"])
	require.Equal(t, "model_not_found", reasons["no/such"])
	require.NotEmpty(t, reasons["acme/vec"])

	w.rungs = map[decide.Rung]policy.Routing{decide.RungRoute: {DefaultModel: "acme/big"}}
	plan = w.decide(t, decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}})
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{Model: "zeta/small", Stage: "route", Reason: "replaced_by_route"})
}
