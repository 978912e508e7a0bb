package decide_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

var update = flag.Bool("update", false, "rewrite golden files")

// usualProviders are those that the golden picks have a key for.
var usualProviders = []string{"openai", "anthropic", "google", "deepseek", "mistral", "xai", "groq", "moonshot", "zai", "alibaba-singapore", "minimax"}

// embeddedWorld is the catalog that the product comes with, and keys of the
// usual providers.
func embeddedWorld(t *testing.T) *world {
	t.Helper()
	c, err := catalog.Embedded()
	require.NoError(t, err)
	for i := range c.Providers {
		if slices.Contains(usualProviders, c.Providers[i].Slug) {
			c.Providers[i].Credential = secret.Sealed("sealed")
		}
	}
	return &world{catalog: c, settings: policy.DefaultSettings(), health: health{}}
}

// TestPicksOfTheEmbeddedCatalog holds what signalbox/auto chooses with the
// catalog that the product comes with, so that a change of prices, benchmarks
// or constants is reviewed as what it changes for users. docs/auto.md shows it.
func TestPicksOfTheEmbeddedCatalog(t *testing.T) {
	requests := []struct{ name, text string }{
		{"small talk", "Tell me a joke about cats"},
		{"code", "Refactor this python class so that it is thread-safe and write unit tests for it"},
		{"hard reasoning", "Prove that the algorithm is optimal. It must hold without randomness; derive the bound step by step and calculate the constants. It should never fail, unless n is prime."},
		{"translation", "Translate to French: good morning, how are you?"},
		{"summary", "Summarize the key points of these meeting notes"},
		{"extraction", "Extract all names and dates as JSON"},
	}
	var out strings.Builder
	w := embeddedWorld(t)
	view, err := catalog.Compile(w.catalog)
	require.NoError(t, err)
	for _, spend := range []policy.SpendProfile{policy.SpendEconomy, policy.SpendStandard, policy.SpendPremium, policy.SpendAny} {
		for _, objective := range policy.Objectives() {
			a := policy.DefaultAuto()
			a.Objective, a.Spend = objective, spend
			compiled, err := policy.Compile(policy.Snapshot{
				Schema: policy.Schema, Workspace: id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z"),
				Revision: 3, Status: policy.WorkspaceActive, Settings: w.settings, Auto: &a,
			})
			require.NoError(t, err)
			fmt.Fprintf(&out, "\n%s, %s\n", spend, objective)
			for _, q := range requests {
				said := &decide.Classification{Result: classify.Local(classify.Text{Last: q.text, Turns: 1}), Source: decide.ByRules}
				plan := decide.Decide(decide.Input{
					Policy: compiled, Catalog: view, Seed: 1, Classification: said,
					Facts: decide.Facts{Now: now, Surface: catalog.Chat, Model: catalog.AutoModel, InputTokens: int64(len(q.text) / 4)},
				})
				require.Nil(t, plan.Refusal)
				a := plan.Record.Auto
				fmt.Fprintf(&out, "  %-14s %-13s %.2f  %s, then %s (%d of %d)\n", q.name, a.Workload, a.Complexity,
					a.Candidates[0].Model, strings.Join(models(plan)[1:3], ", "), a.Eligible, a.Universe)
			}
		}
	}
	picked, _ := decide.CheapestClassifier(view, now)
	fmt.Fprintf(&out, "\nclassifier: %s\n", picked)
	const golden = "testdata/auto/picks.golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata/auto", 0o700))
		require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String(), "run with -update and review the difference")
}

// Every model that benchmarks.yaml names is one that can be bought: a name that
// the library dropped would otherwise go unnoticed.
func TestEmbeddedBenchmarksAreOfModelsThatExist(t *testing.T) {
	c, err := catalog.Embedded()
	require.NoError(t, err)
	measured := 0
	for _, m := range c.Models {
		if len(m.Benchmarks) > 0 {
			measured++
			require.NotEmpty(t, m.Endpoints, m.ID)
		}
	}
	require.Greater(t, measured, 50)
}
