package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// anyWorld draws a catalog of up to 8 providers and 6 models with all that
// filters look at.
func anyWorld(t *rapid.T) *world {
	w := &world{settings: policy.DefaultSettings(), health: health{}, catalog: catalog.Catalog{Schema: catalog.Schema, Revision: 1}}
	w.settings.BetaChannel = rapid.Bool().Draw(t, "beta")
	w.settings.RequireZDR = rapid.Bool().Draw(t, "workspace zdr")
	maybe := func(label string) *bool {
		return rapid.SampledFrom([]*bool{nil, ptr(true), ptr(false)}).Draw(t, label)
	}
	slugs := []string{}
	for i := range rapid.IntRange(1, 8).Draw(t, "providers") {
		slug := fmt.Sprintf("p%d", i)
		slugs = append(slugs, slug)
		p := provider(slug, nil)
		p.Type = rapid.SampledFrom(catalog.ProviderTypes()).Draw(t, "type")
		p.Aggregator = rapid.IntRange(0, 4).Draw(t, "aggregator") == 0
		p.Disabled = rapid.IntRange(0, 6).Draw(t, "disabled") == 0
		p.Regions = rapid.SliceOfN(rapid.SampledFrom([]string{"eu", "eu-west", "us"}), 0, 2).Draw(t, "regions")
		p.DataPolicy = catalog.DataPolicy{Trains: maybe("trains"), ZeroDataRetention: maybe("zdr")}
		if rapid.IntRange(0, 5).Draw(t, "credential") == 0 {
			p.Credential = nil
		}
		w.catalog.Providers = append(w.catalog.Providers, p)
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "models") {
		m := catalog.Model{ID: fmt.Sprintf("acme/m%d", i), Author: "acme", Context: rapid.SampledFrom([]int64{0, 1000, 100_000}).Draw(t, "context")}
		for _, slug := range slugs {
			if rapid.IntRange(0, 2).Draw(t, "serves") > 0 {
				m.Endpoints = append(m.Endpoints, anyEndpoint(t, w, slug, m.ID))
			}
		}
		w.catalog.Models = append(w.catalog.Models, m)
	}
	return w
}

func anyEndpoint(t *rapid.T, w *world, slug, modelID string) catalog.Endpoint {
	e := catalog.Endpoint{
		Provider: slug, UpstreamModel: "x", Disabled: rapid.IntRange(0, 6).Draw(t, "disabled") == 0,
		Region:  rapid.SampledFrom([]string{"", "", "eu", "us"}).Draw(t, "region"),
		Channel: rapid.SampledFrom([]catalog.Channel{"", "", catalog.Beta, catalog.Alpha}).Draw(t, "channel"),
		Derank:  rapid.IntRange(0, 3).Draw(t, "derank"),
	}
	e.Surfaces = rapid.SampledFrom([][]catalog.Surface{
		nil, nil, {catalog.Responses}, {catalog.Rerank, catalog.Embeddings}, {catalog.Embeddings, catalog.Chat},
	}).Draw(t, "surfaces")
	e.ID = catalog.EndpointID(slug, modelID, e.Region)
	if rapid.IntRange(0, 4).Draw(t, "priced") > 0 {
		in := money.PerMillion(rapid.Int64Range(0, 4).Draw(t, "input")) * 1e9
		out := money.PerMillion(rapid.Int64Range(0, 4).Draw(t, "output")) * 1e9
		e.Price = &catalog.Price{Input: &in, Output: &out}
		if rapid.IntRange(0, 3).Draw(t, "priced thoughts") == 0 {
			e.Price.Reasoning = ptr(money.PerMillion(rapid.Int64Range(0, 6).Draw(t, "thoughts")) * 1e9)
		}
		if rapid.IntRange(0, 3).Draw(t, "fee") == 0 {
			e.Price.Request = 1
		}
	}
	w.health[e.ID] = decide.EndpointHealth{
		Calls: rapid.Int64Range(0, 50).Draw(t, "calls"), Success: rapid.Float64Range(0, 1).Draw(t, "success"),
		Open: rapid.IntRange(0, 4).Draw(t, "open") == 0,
	}
	return e
}

func anyFacts(t *rapid.T, w *world) decide.Facts {
	providers := rapid.SliceOfNDistinct(rapid.SampledFrom(w.catalog.Providers), 0, 3, func(p catalog.Provider) string { return p.Slug })
	slugs := func(label string) (out []string) {
		for _, p := range providers.Draw(t, label) {
			out = append(out, p.Slug)
		}
		return out
	}
	f := decide.Facts{
		Surface:     rapid.SampledFrom([]catalog.Surface{catalog.Chat, catalog.Messages, catalog.Embeddings}).Draw(t, "surface"),
		InputTokens: rapid.Int64Range(0, 2000).Draw(t, "tokens"),
		Model:       rapid.SampledFrom(w.catalog.Models).Draw(t, "model").ID,
		Provider: decide.Preferences{
			Order: slugs("order"), Only: slugs("only"), Ignore: slugs("ignore"),
			Region: rapid.SampledFrom([]string{"", "", "eu", "us"}).Draw(t, "want region"), RequireZDR: rapid.Bool().Draw(t, "want zdr"),
			DenyTraining: rapid.Bool().Draw(t, "deny training"),
			Sort:         rapid.SampledFrom([]policy.Mode{"", policy.Price, policy.Latency}).Draw(t, "sort"),
		},
	}
	for range rapid.IntRange(0, 3).Draw(t, "fallbacks") {
		f.Models = append(f.Models, rapid.SampledFrom(w.catalog.Models).Draw(t, "fallback").ID)
	}
	for _, limit := range []**money.PerMillion{&f.Provider.MaxInputPrice, &f.Provider.MaxOutputPrice} {
		if rapid.Bool().Draw(t, "capped") {
			*limit = ptr(money.PerMillion(rapid.Int64Range(0, 4).Draw(t, "cap")) * 1e9)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "patterns") == 0 {
		f.Key.Models = []string{"acme/m1", "*2"}
	}
	return f
}

// violated names the restriction that a candidate breaks, or "".
func violated(w *world, f *decide.Facts, m *catalog.Model, c decide.Candidate) string {
	e, p := c.Endpoint, c.Provider
	yes := func(b *bool) bool { return b != nil && *b }
	inside := func(region string) bool {
		return region == f.Provider.Region || strings.HasPrefix(region, f.Provider.Region+"-")
	}
	limit := f.Provider.MaxInputPrice
	switch {
	case len(f.Provider.Only) > 0 && !slices.Contains(f.Provider.Only, p.Slug):
		return "only"
	case slices.Contains(f.Provider.Ignore, p.Slug) || len(f.Provider.Ignore) > 0 && p.Aggregator:
		return "ignore"
	case len(f.Key.Models) > 0 && m.ID != "acme/m1" && !strings.HasSuffix(m.ID, "2"):
		return "key models"
	case p.Disabled || e.Disabled || p.Credential.IsZero():
		return "status"
	case e.Channel == catalog.Alpha, e.Channel == catalog.Beta && !w.settings.BetaChannel:
		return "channel"
	case f.Surface == catalog.Embeddings && (!speaksOpenAI(p.Type) || !slices.Contains(e.Surfaces, catalog.Embeddings)):
		return "format or surface"
	case f.Surface != catalog.Embeddings && slices.Contains(e.Surfaces, catalog.Rerank):
		return "surface"
	case m.Context > 0 && f.InputTokens > m.Context:
		return "context"
	case f.Provider.Region != "" && e.Region != "" && !inside(e.Region),
		f.Provider.Region != "" && e.Region == "" && (len(p.Regions) == 0 || p.Aggregator || slices.ContainsFunc(p.Regions, func(r string) bool { return !inside(r) })):
		return "region"
	case (f.Provider.RequireZDR || w.settings.RequireZDR) && !yes(p.DataPolicy.ZeroDataRetention):
		return "zdr"
	case f.Provider.DenyTraining && (p.DataPolicy.Trains == nil || *p.DataPolicy.Trains):
		return "training"
	case limit != nil && (e.Price == nil || *e.Price.Input > *limit || *limit == 0 && e.Price.Request > 0):
		return "price"
	case f.Provider.MaxOutputPrice != nil && (e.Price == nil || *e.Price.Output > *f.Provider.MaxOutputPrice ||
		e.Price.Reasoning != nil && *e.Price.Reasoning > *f.Provider.MaxOutputPrice || *f.Provider.MaxOutputPrice == 0 && e.Price.Request > 0):
		return "output price"
	}
	return ""
}

func speaksOpenAI(t catalog.ProviderType) bool {
	return t == catalog.OpenAI || t == catalog.OpenAICompatible || t == catalog.Azure
}

func TestNoCandidateViolatesARestrictionAndNoneIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		f := anyFacts(t, w)
		plan := decide.Decide(w.input(t, f))
		planned := map[string]bool{}
		for _, step := range plan.Chain {
			require.NotEmpty(t, step.Candidates)
			open := false
			for i, c := range step.Candidates {
				require.Equal(t, i, c.Rank)
				require.Empty(t, violated(w, &f, step.Model, c), c.Endpoint.ID)
				require.False(t, planned[c.Endpoint.ID], "%s is there twice", c.Endpoint.ID)
				planned[c.Endpoint.ID] = true
				h := w.health[c.Endpoint.ID]
				require.False(t, open && !h.Open, "an open endpoint before a closed one")
				open = h.Open
			}
		}
		require.Equal(t, len(plan.Chain) == 0, plan.Refusal != nil)
		// Whatever breaks no restriction of a model of the chain is tried.
		for _, name := range append([]string{f.Model}, f.Models...) {
			m := w.model(name)
			for i := range m.Endpoints {
				c := decide.Candidate{Endpoint: &m.Endpoints[i], Provider: w.provider(m.Endpoints[i].Provider)}
				if violated(w, &f, m, c) == "" {
					require.True(t, planned[c.Endpoint.ID], "%s was lost", c.Endpoint.ID)
				}
			}
		}
	})
}

func TestSameInputSamePlanWhateverTheOrderOfRestrictions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		f := anyFacts(t, w)
		in := w.input(t, f)
		in.Seed = rapid.Uint64().Draw(t, "seed")
		first := decide.Decide(in)
		require.Equal(t, first, decide.Decide(in))

		// Neither the order of a list of restrictions nor that of the catalog matters.
		turned := in
		turned.Facts.Provider.Only = reversed(f.Provider.Only)
		turned.Facts.Provider.Ignore = reversed(f.Provider.Ignore)
		slices.Reverse(w.catalog.Models)
		for i := range w.catalog.Models {
			slices.Reverse(w.catalog.Models[i].Endpoints)
		}
		turned.Catalog = w.input(t, f).Catalog
		require.Equal(t, order(first), order(decide.Decide(turned)))
	})
}

func reversed(s []string) []string {
	out := slices.Clone(s)
	slices.Reverse(out)
	return out
}

func TestARestrictionNeverAddsACandidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		f := anyFacts(t, w)
		f.Models = nil
		restricted := order(decide.Decide(w.input(t, f)))
		f.Provider = decide.Preferences{}
		f.Key.Models = nil
		w.settings.RequireZDR = false
		free := order(decide.Decide(w.input(t, f)))
		for _, id := range restricted {
			require.Contains(t, free, id)
		}
	})
}

func TestRecordIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{settings: policy.DefaultSettings(), health: health{}, catalog: catalog.Catalog{Schema: catalog.Schema}}
		name := strings.Repeat("n", rapid.IntRange(1, 50).Draw(t, "name"))
		for i := range rapid.IntRange(1, 60).Draw(t, "providers") {
			w.catalog.Providers = append(w.catalog.Providers, provider(fmt.Sprintf("%s%d", name, i), func(p *catalog.Provider) {
				if i%3 == 0 {
					p.Credential = secret.Sealed(nil)
				}
			}))
		}
		f := decide.Facts{Model: "a/m0"}
		for i := range rapid.IntRange(1, 8).Draw(t, "models") {
			m := catalog.Model{ID: fmt.Sprintf("a/m%d", i), Author: "a"}
			for _, p := range w.catalog.Providers {
				e := catalog.Endpoint{ID: catalog.EndpointID(p.Slug, m.ID, ""), Provider: p.Slug, UpstreamModel: "x"}
				m.Endpoints = append(m.Endpoints, e)
				w.health[e.ID] = decide.EndpointHealth{
					Calls: 9, Success: 1.0 / 3, FirstByte: time.Second / 3, FirstByteP95: 2 * time.Second / 3, Throughput: 1.0 / 7,
					InputTokens: 123_456, OutputTokens: 7_890, CacheHit: 1.0 / 3, Recent: 7, Errors: 2.0 / 7, RateLimited: 3.0 / 7,
				}
			}
			w.catalog.Models = append(w.catalog.Models, m)
			f.Models = append(f.Models, m.ID)
		}
		for range rapid.IntRange(0, 25-len(f.Models)).Draw(t, "junk") {
			f.Models = append(f.Models, rapid.StringN(1, 60, 200).Draw(t, "junk name"))
		}
		if rapid.Bool().Draw(t, "odd name") {
			f.Model = rapid.String().Draw(t, "model")
		}
		plan := decide.Decide(w.input(t, f))
		body, err := plan.Record.Encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), 12<<10, "attempts and usage have room")
		for range rapid.IntRange(0, 40).Draw(t, "attempts") {
			plan.Record.Attempts = append(plan.Record.Attempts, decide.AttemptRecord{
				Model: f.Model, Provider: name, Endpoint: name + ":" + f.Model, Credential: "managed", Started: now, Status: 503, Failure: "upstream_server_error", Reason: "fallback_provider",
			})
		}
		plan.Record.ServedModel = rapid.String().Draw(t, "served")
		body, err = plan.Record.Encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), decide.MaxRecordBytes)
	})
}

// TestARefusalCountsEveryEndpoint: however many endpoints there are, the stages
// of a refusal add up to all of them, and residency alone is what it says.
func TestARefusalCountsEveryEndpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		n := rapid.IntRange(1, 300).Draw(t, "endpoints")
		odd := rapid.IntRange(0, n-1).Draw(t, "the one that something else drops")
		how := rapid.SampledFrom([]string{"nothing", "disabled", "ignored"}).Draw(t, "what")
		crowd(w, "acme/big", n, func(p *catalog.Provider) { p.Regions = []string{"us"} })
		w.model("acme/big").Endpoints = w.model("acme/big").Endpoints[1:]
		f := decide.Facts{Model: "acme/big", Provider: decide.Preferences{Region: "eu"}}
		e := &w.model("acme/big").Endpoints[odd]
		switch how {
		case "disabled":
			e.Disabled = true
		case "ignored":
			f.Provider.Ignore = []string{e.Provider}
		}
		plan := decide.Decide(w.input(t, f))
		total := 0
		for _, stage := range plan.Refusal.Fields["stages"].([]decide.Fallen) {
			total += stage.Dropped
		}
		alone := how != "ignored" && (how != "disabled" || n > 1)
		require.Equal(t, alone, fault.Is(plan.Refusal, fault.ModelRegionUnavailable))
		require.Equal(t, n, total)
	})
}
