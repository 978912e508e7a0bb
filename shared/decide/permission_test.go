package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Every list of models is held against a model once, however many surfaces and
// endpoints are asked about: what is known of it decides, even where it is not
// what the lists say.
func TestListsAreMatchedOnceForAModel(t *testing.T) {
	for name, c := range map[string]struct {
		change         func(*world, *decide.KeyFacts)
		models, scopes int
	}{
		"no list":    {func(*world, *decide.KeyFacts) {}, 0, 0},
		"guardrails": {func(w *world, _ *decide.KeyFacts) { w.guards = guards(everywhere(blockModels("zeta/*"))) }, 300, 0},
		"key":        {func(_ *world, k *decide.KeyFacts) { k.Models = []string{"acme*/*"} }, 300, 0},
		"credentials": {func(w *world, _ *decide.KeyFacts) {
			w.catalog.Providers[0].Credential = secret.Sealed("")
			w.own = []policy.Credential{{
				ID: id.New[id.CredentialKind](id.SystemSource()), Provider: "north", Use: policy.UsePriority, Models: []string{"acme*/*"},
			}}
		}, 0, 300},
	} {
		t.Run(name, func(t *testing.T) {
			w, key := crowded(nil, 0), decide.KeyFacts{}
			c.change(w, &key)
			in := w.input(t, decide.Facts{Key: key})
			in.Ladder = decide.Climb(&in)
			models, scopes := decide.Permissions(in, catalog.Surfaces())
			require.Equal(t, []int{c.models, c.scopes}, []int{models, scopes})
			m := &in.Catalog.Models()[0]
			on := []catalog.Surface{catalog.Chat, catalog.Responses, catalog.Messages}
			for i, offers := range decide.Usable(in, m, on) {
				require.Len(t, offers, 1, on[i])
			}
			for i, offers := range decide.Known(in, m, on) {
				require.Equal(t, c.models+c.scopes == 0, len(offers) > 0, on[i])
			}
		})
	}
}

// What guardrails keep out is asked as if there were none: what is known under
// them is not known then.
func TestWhatIsKnownUnderGuardrailsIsForgottenWithoutThem(t *testing.T) {
	w := newWorld()
	w.guards = guards(everywhere(blockModels("acme/*", "zeta/*")))
	key := caller
	key.Models = []string{"*/*"} // of a key without a list nothing is kept
	for _, model := range []string{"acme/small", catalog.AutoModel, catalog.FreeModel} {
		plan := w.decide(t, decide.Facts{Model: model, Key: key})
		require.Equal(t, "guardrail_blocked", string(plan.Refusal.Code), model)
	}
}
