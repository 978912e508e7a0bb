package classifier_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/classifier"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func late() *decide.Classification {
	return &decide.Classification{Source: decide.ByRules, Model: "acme/judge", Request: "req_1", Why: decide.LocalTimeout}
}

// A model that hangs costs three requests their 800 ms, and then one at a time.
func TestAModelThatIsTooSlowRests(t *testing.T) {
	k := classifier.New(classifier.Options{Model: "acme/judge", Timeout: 800 * time.Millisecond})
	now := at
	may := func() bool {
		_, why := k.Model(call.Pinned{}, nil, now)
		require.Contains(t, []decide.LocalReason{"", decide.LocalResting}, why)
		return why == ""
	}
	for range 3 {
		require.True(t, may())
		k.Said(late(), now)
	}
	for range 50 { // under way when the third came late
		k.Said(late(), now)
	}
	for _, rest := range []time.Duration{30, 60, 120, 240, 480, 900, 900} {
		now = now.Add(rest*time.Second - 1)
		require.False(t, may(), "%d s", rest)
		now = now.Add(1)
		require.True(t, may(), "one finds out")
		require.False(t, may(), "and the others wait for it")
		now = now.Add(800 * time.Millisecond)
		k.Said(late(), now)
	}
	now = now.Add(15 * time.Minute)
	require.True(t, may())
	now = now.Add(1600 * time.Millisecond)
	require.True(t, may(), "nothing was heard of who found out")
	k.Said(&decide.Classification{Source: decide.ByModel, Model: "acme/judge", Request: "req_1"}, now)
	for range 2 {
		require.True(t, may())
		k.Said(late(), now)
	}
	require.True(t, may(), "an answer in time begins all of it anew")
	k.Said(late(), now)
	require.False(t, may())
	now = now.Add(-time.Hour)
	require.True(t, may(), "a clock that jumps back")
}

// Only what was asked counts, and an error is an answer.
func TestWhatIsNoLateAnswer(t *testing.T) {
	k := classifier.New(classifier.Options{Model: "acme/judge"})
	for _, why := range decide.LocalReasons() {
		c := late()
		if c.Why = why; why == decide.LocalTimeout {
			c.Request = ""
		}
		for range 10 {
			k.Said(c, at)
		}
		_, resting := k.Model(call.Pinned{}, nil, at)
		require.Empty(t, resting, why)
	}
}

type sick struct{}

func (sick) Endpoint(string) decide.EndpointHealth            { return decide.EndpointHealth{Open: true} }
func (sick) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

func TestAModelWhoseEndpointsAreIllIsNotChosen(t *testing.T) {
	in, out := money.PerMillion(100_000_000), money.PerMillion(400_000_000)
	v, err := catalog.Compile(catalog.Catalog{
		Schema: catalog.Schema, Revision: 1,
		Providers: []catalog.Provider{{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "https://north.example/v1", Keyless: true}},
		Models: []catalog.Model{{ID: "acme/judge", Author: "acme", Endpoints: []catalog.Endpoint{{
			ID: "north:acme/judge", Provider: "north", UpstreamModel: "m", Price: &catalog.Price{Input: &in, Output: &out},
		}}}},
	})
	require.NoError(t, err)
	k := classifier.New(classifier.Options{})
	model, why := k.Model(call.Pinned{Catalog: v}, nil, at)
	require.Equal(t, "acme/judge", model)
	require.Empty(t, why)
	model, why = k.Model(call.Pinned{Catalog: v}, sick{}, at)
	require.Empty(t, model)
	require.Equal(t, decide.LocalUnhealthy, why)
}

func TestClassificationsAreCounted(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	k := classifier.New(classifier.Options{Metrics: registry})
	k.Said(late(), at)
	k.Said(&decide.Classification{Source: decide.ByModel, Model: "acme/judge", Request: "req_1"}, at)
	n, err := testutil.GatherAndCount(registry, "signalbox_auto_classifications_total")
	require.NoError(t, err)
	require.Equal(t, 1+len(decide.LocalReasons()), n)
	families, err := registry.Gather()
	require.NoError(t, err)
	total := map[string]float64{}
	for _, m := range families[0].Metric {
		total[m.Label[0].GetValue()+" "+m.Label[1].GetValue()] = m.Counter.GetValue()
	}
	require.InDelta(t, 1, total["local timeout"], 0)
	require.InDelta(t, 1, total["model "], 0)
	require.Zero(t, total["local resting"])
}
