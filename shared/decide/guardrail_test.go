package decide_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// The caller of these tests, and ids of guardrails in their order.
var (
	caller  = decide.KeyFacts{ID: id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y7z"), Owner: id.MustParse[id.UserKind]("user_01kb7n0z1v8q5r2m3t4w5x6y7z")}
	guardA  = id.MustParse[id.GuardrailKind]("guard_01kb7n0z1v8q5r2m3t4w5x6y7a")
	guardB  = id.MustParse[id.GuardrailKind]("guard_01kb7n0z1v8q5r2m3t4w5x6y7b")
	guardC  = id.MustParse[id.GuardrailKind]("guard_01kb7n0z1v8q5r2m3t4w5x6y7c")
	nobody  = id.MustParse[id.UserKind]("user_01kb7n0z1v8q5r2m3t4w5x6y70")
	another = id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y70")
)

// These bind a guardrail.

func everywhere(g policy.Guardrail) policy.Guardrail { g.Workspace = true; return g }

func ofMember(g policy.Guardrail) policy.Guardrail {
	g.Members = append(g.Members, caller.Owner)
	return g
}

func ofKey(g policy.Guardrail) policy.Guardrail { g.Keys = append(g.Keys, caller.ID); return g }

// guards numbers guardrails in their order.
func guards(list ...policy.Guardrail) []policy.Guardrail {
	for i, own := range []id.Guardrail{guardA, guardB, guardC}[:len(list)] {
		list[i].ID = own
	}
	return list
}

func says(r policy.GuardrailRules) policy.Guardrail { return policy.Guardrail{Rules: r} }

func blockModels(patterns ...string) policy.Guardrail {
	return says(policy.GuardrailRules{Models: policy.Lists{Block: patterns}})
}

func allowModels(patterns ...string) policy.Guardrail {
	return says(policy.GuardrailRules{Models: policy.Lists{Allow: patterns}})
}

func blockProviders(slugs ...string) policy.Guardrail {
	return says(policy.GuardrailRules{Providers: policy.Lists{Block: slugs}})
}

func allowProviders(slugs ...string) policy.Guardrail {
	return says(policy.GuardrailRules{Providers: policy.Lists{Allow: slugs}})
}

// TestGuardrails holds what is left under guardrails, or why nothing is.
func TestGuardrails(t *testing.T) {
	north := catalog.EndpointID("north", "acme/small", "")
	cases := map[string]struct {
		guards []policy.Guardrail
		change func(*world)
		facts  decide.Facts
		left   []string // sorted
		code   fault.Code
		reason fault.Reason
		stage  string
		by     []string
	}{
		"another key's and another member's bind nothing": {
			guards: guards(policy.Guardrail{Rules: policy.GuardrailRules{Models: policy.Lists{Block: []string{"*"}}}, Keys: []id.Key{another}, Members: []id.User{nobody}}),
			left:   []string{"east:acme/small", north, south},
		},
		"a blocked model": {
			guards: guards(everywhere(blockModels("acme/small"))),
			code:   fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"a pattern about the bare name": {
			guards: guards(ofMember(blockModels("sm*"))),
			code:   fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"a model blocked under a name that is now an alias": {
			guards: guards(ofKey(blockModels("acme/little"))),
			change: func(w *world) { w.model("acme/small").Aliases = []string{"acme/little"} },
			code:   fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"a model that is not allowed": {
			guards: guards(ofKey(allowModels("zeta/*"))),
			code:   fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"allow lists intersect": {
			guards: guards(everywhere(allowModels("acme/*")), ofKey(allowModels("*/big"))),
			code:   fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardB.String()},
		},
		"block lists unite": {
			guards: guards(everywhere(blockProviders("north")), ofMember(blockProviders("south"))),
			code:   fault.GuardrailBlocked, reason: fault.ProviderRestricted, stage: "provider_policy", by: []string{guardA.String(), guardB.String()},
		},
		"a blocked provider, and the aggregator that may pick it": {
			guards: guards(ofKey(blockProviders("nord"))),
			left:   []string{south},
		},
		"an allowed provider": {
			guards: guards(ofKey(allowProviders("south", "north")), everywhere(allowProviders("south"))),
			left:   []string{south},
		},
		"an allowed provider that is gone allows nothing in its place": {
			guards: guards(ofKey(allowProviders("west"))),
			code:   fault.GuardrailBlocked, reason: fault.ProviderRestricted, stage: "provider_policy", by: []string{guardA.String()},
		},
		"a blocked provider that is gone refuses nobody": {
			guards: guards(ofKey(blockProviders("west"))),
			left:   []string{north, south},
		},
		"data is not retained": {
			guards: guards(everywhere(says(policy.GuardrailRules{RequireZDR: true}))),
			left:   []string{north},
		},
		"nobody is known not to train": {
			guards: guards(ofKey(says(policy.GuardrailRules{DenyTraining: true}))),
			change: func(w *world) { w.provider("north").DataPolicy.Trains = ptr(true) },
			code:   fault.GuardrailBlocked, reason: fault.NoDataHandling, stage: "data_policy", by: []string{guardA.String()},
		},
		"the last stage is told, and all that have a part": {
			guards: guards(everywhere(blockProviders("north")), ofMember(says(policy.GuardrailRules{RequireZDR: true})), ofKey(blockModels("zeta/small"))),
			code:   fault.GuardrailBlocked, reason: fault.NoDataHandling, stage: "data_policy", by: []string{guardA.String(), guardB.String()},
		},
		"a provider before the colon does not escape": {
			guards: guards(ofKey(blockProviders("north"))), facts: decide.Facts{Model: "north:acme/small"},
			code: fault.GuardrailBlocked, reason: fault.ProviderRestricted, stage: "provider_policy", by: []string{guardA.String()},
		},
		"neither does a suffix": {
			guards: guards(ofKey(blockModels("acme/small"))), facts: decide.Facts{Model: "acme/small:nitro"},
			code: fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"nor an alias": {
			guards: guards(ofKey(blockModels("acme/small"))), facts: decide.Facts{Model: "little"},
			change: func(w *world) { w.model("acme/small").Aliases = []string{"little"} },
			code:   fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"nor an application's token": {
			guards: guards(ofMember(blockModels("acme/small"))), facts: decide.Facts{OAuth: true},
			code: fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"nor a key of the workspace's own": {
			guards: guards(ofKey(blockProviders("north"))), facts: decide.Facts{Model: "acme/big"},
			change: func(w *world) {
				w.own = []policy.Credential{{ID: id.MustParse[id.CredentialKind]("byok_01kb7n0z1v8q5r2m3t4w5x6y7a"), Provider: "north", Use: policy.UsePriority}}
			},
			code: fault.GuardrailBlocked, reason: fault.ProviderRestricted, stage: "provider_policy", by: []string{guardA.String()},
		},
		"nor an operator's rule that sends the model elsewhere": {
			guards: guards(ofKey(blockModels("acme/small"))),
			change: func(w *world) {
				w.model("acme/small").Rules = []catalog.Rule{rule("all", always, `{"provider":"north","model":"acme/big"}`)}
			},
			code: fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"nor the model of a rule": {
			guards: guards(ofKey(blockModels("acme/big"))),
			change: func(w *world) {
				w.model("acme/small").Rules = []catalog.Rule{rule("all", always, `{"provider":"north","model":"acme/big"}`)}
			},
			code: fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"a fallback takes the place of a blocked model": {
			guards: guards(ofKey(blockModels("acme/small"))), facts: decide.Facts{Models: []string{"acme/big"}},
			left: []string{"north:acme/big"},
		},
		"a blocked fallback is passed over": {
			guards: guards(ofKey(blockModels("acme/big"))), facts: decide.Facts{Model: "zeta/small", Models: []string{"acme/big"}},
			left: []string{"south:zeta/small"},
		},
		"and never replaces what the first lacks": {
			guards: guards(ofKey(blockModels("acme/big"))),
			facts:  decide.Facts{Model: "zeta/small", Models: []string{"acme/big"}, Provider: decide.Preferences{RequireZDR: true}},
			code:   fault.UnsupportedModelOrEndpoint, reason: "zero_data_retention_not_known", stage: "data_policy",
		},
		"what nothing would serve anyway is not blamed on a guardrail": {
			guards: guards(ofKey(blockModels("acme/small"))), facts: decide.Facts{InputTokens: 1_000_000},
			code: fault.UnsupportedModelOrEndpoint, reason: "model_restricted_by_policy", stage: "model_policy",
		},
		"what a rung demands too is the rung's": {
			guards: guards(ofKey(says(policy.GuardrailRules{RequireZDR: true}))), facts: decide.Facts{Model: "zeta/small"},
			change: func(w *world) { w.settings.RequireZDR = true },
			code:   fault.UnsupportedModelOrEndpoint, reason: "zero_data_retention_not_known", stage: "data_policy",
		},
		"free models": {
			guards: guards(ofKey(blockModels("*:free"))), facts: decide.Facts{Model: catalog.FreeModel},
			code: fault.GuardrailBlocked, reason: fault.ModelRestricted, stage: "model_policy", by: []string{guardA.String()},
		},
		"free models of an allowed provider": {
			guards: guards(ofKey(allowProviders("south"))), facts: decide.Facts{Model: catalog.FreeModel},
			left: []string{"south:acme/tiny:free"},
		},
		"what a provider keeps for the caller": {
			guards: guards(ofKey(blockProviders("south"))), facts: decide.Facts{Surface: catalog.Videos, Owner: south},
			code: fault.GuardrailBlocked, reason: fault.ProviderRestricted, stage: "provider_policy", by: []string{guardA.String()},
		},
		"what is made of that": {
			guards: guards(blockModels("acme/big"), ofKey(says(policy.GuardrailRules{DenyTraining: true}))),
			facts:  decide.Facts{Surface: catalog.Batches, Owner: south},
			code:   fault.GuardrailBlocked, reason: fault.NoDataHandling, stage: "data_policy", by: []string{guardB.String()},
		},
		"what is made of that, when the workspace demands it too": {
			guards: guards(ofKey(says(policy.GuardrailRules{DenyTraining: true}))),
			change: func(w *world) { w.settings.DenyTraining = true },
			facts:  decide.Facts{Surface: catalog.Batches, Owner: south},
			code:   fault.UnsupportedModelOrEndpoint, reason: "training_not_ruled_out", stage: "data_policy",
		},
		"what is kept is read, whatever the provider does with it": {
			guards: guards(ofKey(says(policy.GuardrailRules{DenyTraining: true, RequireZDR: true}))),
			change: func(w *world) { w.settings.DenyTraining = true },
			facts:  decide.Facts{Surface: catalog.Batches, Owner: south, Costless: true},
			left:   []string{south},
		},
		"and no guardrail about that is named": {
			guards: guards(ofKey(says(policy.GuardrailRules{DenyTraining: true})), everywhere(blockProviders("south"))),
			facts:  decide.Facts{Surface: catalog.Batches, Owner: south, Costless: true},
			code:   fault.GuardrailBlocked, reason: fault.ProviderRestricted, stage: "provider_policy", by: []string{guardB.String()},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if c.change != nil {
				c.change(w)
			}
			w.guards = c.guards
			if c.facts.Model == "" {
				c.facts.Model = "acme/small"
			}
			c.facts.Key = caller
			plan := w.decide(t, c.facts)
			if c.code == "" {
				require.Nil(t, plan.Refusal)
				left := order(plan)
				slices.Sort(left)
				require.Equal(t, c.left, left)
				return
			}
			require.NotNil(t, plan.Refusal)
			require.Equal(t, []any{c.code, c.reason}, []any{plan.Refusal.Code, plan.Refusal.Reason}, plan.Refusal.Message)
			require.Equal(t, c.stage, plan.Record.Refusal.Stage)
			ids, _ := plan.Refusal.Fields["guardrails"].([]string)
			require.Equal(t, c.by, ids)
			for _, one := range ids {
				require.Contains(t, plan.Refusal.Message, one)
			}
		})
	}
}

// A person sees which guardrail demanded what, and which of them dropped an
// endpoint.
func TestTheRecordNamesGuardrails(t *testing.T) {
	w := newWorld()
	w.guards = guards(everywhere(says(policy.GuardrailRules{Models: policy.Lists{Allow: []string{"acme/*", "zeta/*"}, Block: []string{"*big"}}})),
		ofMember(blockProviders("north")), ofKey(says(policy.GuardrailRules{RequireZDR: true, DenyTraining: true, Providers: policy.Lists{Allow: []string{"south"}}})))
	w.provider("south").DataPolicy = catalog.DataPolicy{Trains: ptr(false), ZeroDataRetention: ptr(true)}
	r := w.decide(t, decide.Facts{Model: "acme/small", Models: []string{"acme/big"}, Key: caller}).Record
	require.Equal(t, []decide.ResolvedField{
		{Field: "guardrails", Rung: "workspace_guardrail", Value: guardA.String()},
		{Field: "guardrails", Rung: "member_guardrail", Value: guardB.String()},
		{Field: "guardrails", Rung: "key_guardrail", Value: guardC.String()},
		{Field: "guardrail.models.allow", Rung: "workspace_guardrail", Value: "acme/*,zeta/*", Guardrail: guardA.String()},
		{Field: "guardrail.models.block", Rung: "workspace_guardrail", Value: "*big", Guardrail: guardA.String()},
		{Field: "guardrail.providers.block", Rung: "member_guardrail", Value: "north", Guardrail: guardB.String()},
		{Field: "guardrail.providers.allow", Rung: "key_guardrail", Value: "south", Guardrail: guardC.String()},
		{Field: "guardrail.data_policy.require_zero_data_retention", Rung: "key_guardrail", Value: "true", Guardrail: guardC.String()},
		{Field: "guardrail.data_policy.deny_training", Rung: "key_guardrail", Value: "true", Guardrail: guardC.String()},
	}, r.Policy[1:])
	require.Equal(t, []decide.Exclusion{
		{Model: "acme/small", Endpoint: "north:acme/small", Stage: "provider_policy", Reason: "provider_restricted_by_policy", Rung: "member_guardrail", Guardrail: guardB.String()},
		{Model: "acme/small", Endpoint: "east:acme/small", Stage: "provider_policy", Reason: "provider_restricted_by_policy", Rung: "member_guardrail", Guardrail: guardB.String()},
		{Model: "acme/big", Endpoint: "north:acme/big", Stage: "model_policy", Reason: "model_restricted_by_policy", Rung: "workspace_guardrail", Guardrail: guardA.String()},
	}, r.Exclusions)
	body, err := json.Marshal(r.Exclusions[0])
	require.NoError(t, err)
	require.Contains(t, string(body), `"guardrail":"`+guardB.String()+`"`)
}

// signalbox/auto and its classifier keep to guardrails like any request.
func TestAutoKeepsToGuardrails(t *testing.T) {
	w := autoWorld(nil)
	w.guards = guards(ofKey(blockModels("acme/strong")), everywhere(allowProviders("north")))
	require.ElementsMatch(t, []string{"north:acme/plain", "north:acme/unknown"}, order(w.choose(t, decide.Facts{Key: caller}, work(classify.Code, 0.9))))

	w.guards = guards(everywhere(blockModels("acme/*")))
	plan := w.choose(t, decide.Facts{Key: caller}, nil)
	require.Equal(t, []any{fault.GuardrailBlocked, fault.ModelRestricted}, []any{plan.Refusal.Code, plan.Refusal.Reason})
	require.Equal(t, []string{guardA.String()}, plan.Refusal.Fields["guardrails"])
	require.Equal(t, "model_policy", plan.Record.Refusal.Stage)

	child := w.decide(t, decide.Facts{Model: "acme/plain", Child: true, Key: caller})
	require.Equal(t, fault.GuardrailBlocked, child.Refusal.Code)

	w.guards = guards(everywhere(blockModels("acme/strong")))
	plan = w.choose(t, decide.Facts{Key: caller, InputTokens: 1_000_000}, nil)
	require.Equal(t, []any{fault.UnsupportedModelOrEndpoint, fault.NoAutoModel}, []any{plan.Refusal.Code, plan.Refusal.Reason}, "too long for the others too")
}

// Discovery lists what a guardrail leaves, and no more.
func TestUsableKeepsToGuardrails(t *testing.T) {
	w := newWorld()
	w.guards = guards(ofKey(says(policy.GuardrailRules{Models: policy.Lists{Block: []string{"acme/big"}}, Providers: policy.Lists{Block: []string{"north"}}})))
	in := w.input(t, decide.Facts{Key: caller})
	usable := func(model string) (ids []string) {
		m, ok := in.Catalog.Model(model)
		require.True(t, ok)
		for _, o := range decide.Usable(in, m, []catalog.Surface{catalog.Chat})[0] {
			ids = append(ids, o.Endpoint.ID)
		}
		return ids
	}
	require.Empty(t, usable("acme/big"))
	require.Equal(t, []string{south}, usable("acme/small"))
}

// What holds for a key has the guardrails joined to the rungs, each named.
func TestEffectiveJoinsGuardrails(t *testing.T) {
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: {Provider: policy.Preferences{Only: []string{"north", "south"}}}}
	w.guards = guards(everywhere(says(policy.GuardrailRules{RequireZDR: true, Providers: policy.Lists{Allow: []string{"south", "east"}}})), ofMember(says(policy.GuardrailRules{DenyTraining: true, Providers: policy.Lists{Block: []string{"anthropic"}}})))
	in := w.input(t, decide.Facts{Key: caller})
	e, refusal := decide.ResolveEffective(in.Policy, in.Catalog, in.Facts.Key)
	require.Nil(t, refusal)
	require.Equal(t, []string{"south"}, e.Routing.Provider.Only)
	require.Equal(t, []string{"anthropic"}, e.Routing.Provider.Ignore)
	require.True(t, e.Routing.Provider.RequireZDR && e.Routing.Provider.DenyTraining && !e.Nothing)
	require.Equal(t, []policy.GuardrailScope{policy.GuardsWorkspace, policy.GuardsMember}, []policy.GuardrailScope{e.Guardrails[0].Scope, e.Guardrails[1].Scope})
	require.Contains(t, e.Fields, decide.ResolvedField{Field: "guardrail.data_policy.deny_training", Rung: "member_guardrail", Value: "true", Guardrail: guardB.String()})

	e, _ = decide.ResolveEffective(in.Policy, in.Catalog, decide.KeyFacts{})
	require.Len(t, e.Guardrails, 1, "of the workspace alone")
	w.guards = append(w.guards, guards(everywhere(allowProviders("west")))...)
	in = w.input(t, decide.Facts{Key: caller})
	e, _ = decide.ResolveEffective(in.Policy, in.Catalog, in.Facts.Key)
	require.True(t, e.Nothing)
}

// What many large guardrails say has no room in a record. It names each all the
// same, and what holds for a key is told whole.
func TestLargeGuardrailsAreNamedAndToldWhole(t *testing.T) {
	w := newWorld()
	models := []string{"acme/*"}
	for i := range policy.MaxGuardrailModels - 1 {
		models = append(models, fmt.Sprintf("author-%d/a-model-with-a-long-name-%d", i, i))
	}
	ids, source := make([]string, policy.MaxGuardrails), id.SystemSource()
	for i := range ids {
		g := everywhere(allowModels(models...))
		g.ID = id.New[id.GuardrailKind](source)
		ids[i] = g.ID.String()
		w.guards = append(w.guards, g)
	}
	r := w.decide(t, decide.Facts{Model: "acme/small", Key: caller}).Record
	require.Equal(t, decide.ResolvedField{Field: "guardrails", Rung: "workspace_guardrail", Value: strings.Join(ids, ",")}, r.Policy[1])
	require.Positive(t, r.Truncated)
	body, err := r.Encode()
	require.NoError(t, err)
	require.LessOrEqual(t, len(body), decide.MaxRecordBytes)
	require.Contains(t, string(body), ids[len(ids)-1])

	in := w.input(t, decide.Facts{Key: caller})
	e, refusal := decide.ResolveEffective(in.Policy, in.Catalog, in.Facts.Key)
	require.Nil(t, refusal)
	for _, one := range ids {
		require.Contains(t, e.Fields, decide.ResolvedField{
			Field: "guardrail.models.allow", Rung: "workspace_guardrail", Value: strings.Join(models, ","), Guardrail: one,
		})
	}
}

// Whatever routing reads of a key is read off its document.
func TestKeyFactsForgetNothing(t *testing.T) {
	k := fill.Value[policy.Key](1)
	f := decide.KeyFactsOf(&k)
	require.Empty(t, fill.Zero(f))
	require.Equal(t, k.CreatedBy, f.Owner)
}

// A session's model that is blocked since is left for the default, and so is
// the endpoint that a conversation is kept at.
func TestConversationsLeaveWhatAGuardrailForbids(t *testing.T) {
	w := newWorld()
	w.settings.DefaultModel = "acme/small"
	ask := func(f decide.Facts, c decide.Conversation) decide.Plan {
		f.Key, f.SessionID = caller, "s"
		in := w.input(t, f)
		in.Conversation = c
		return decide.Decide(in)
	}
	session := decide.Conversation{Source: decide.FromSession, Sure: true, Model: "acme/big"}
	require.Equal(t, "acme/big", ask(decide.Facts{}, session).Record.DecidedModel)
	w.guards = guards(ofKey(blockModels("acme/big")))
	moved := ask(decide.Facts{}, session)
	require.Nil(t, moved.Refusal)
	require.Equal(t, "acme/small", moved.Record.DecidedModel)
	require.Equal(t, decide.BreakPolicy, moved.Record.Affinity.ModelBreak)

	w.guards = guards(ofKey(blockProviders("south")))
	pinned := ask(decide.Facts{Model: "acme/small"}, decide.Conversation{
		Source: decide.FromSession, Sure: true, Pins: []decide.Pin{{Model: "acme/small", Provider: "south", Endpoint: south}},
	})
	require.Equal(t, []string{"north:acme/small"}, order(pinned))
	require.Equal(t, decide.BreakPolicy, pinned.Record.Affinity.Break)
}
