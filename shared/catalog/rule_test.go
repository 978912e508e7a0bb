package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
)

// facts are a request's metadata.
type facts map[string]string

func (f facts) Look(s condition.Source, path string) []condition.Value {
	if text, ok := f[path]; ok && s == condition.Metadata {
		return []condition.Value{condition.Text(text)}
	}
	return nil
}

const ruled = `
providers:
  - {slug: north, type: openai-compatible, base_url: "http://127.0.0.1:1/v1", keyless: true}
  - {slug: south, type: openai-compatible, base_url: "http://127.0.0.1:2/v1", keyless: true}
models:
  - id: acme/small
    endpoints:
      - {provider: north, upstream_model: small-v1, price: {input: "1", output: "2"}}
      - {provider: north, region: eu, upstream_model: small-eu}
    rules:
      - name: pro
        when: {source: metadata, path: plan, op: equals, value: pro}
        then: {provider: north, upstream_model: small-v2, fallbacks: [{provider: south, upstream_model: other}, {provider: north, region: eu}]}
      - name: trial
        when: {source: metadata, path: plan, op: in, value: [trial, free]}
        then: {provider: north, credential: managed}
`

func TestRulesCompile(t *testing.T) {
	merged, _, warnings, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema}, strings.NewReader(ruled), "c.yaml", env)
	require.NoError(t, err)
	require.Empty(t, warnings)
	body, err := json.Marshal(merged)
	require.NoError(t, err)
	var published catalog.Catalog
	require.NoError(t, json.Unmarshal(body, &published))
	require.Equal(t, merged, published, "what gateways read is what was written")

	v, err := catalog.Compile(published)
	require.NoError(t, err)
	m, _ := v.Model("acme/small")
	rules := v.Rules(m)
	require.Len(t, rules, 2)
	require.True(t, rules[0].Matches(facts{"plan": "Pro"}))
	require.False(t, rules[0].Matches(facts{"plan": "trial"}))
	require.True(t, rules[1].Matches(facts{"plan": "trial"}))

	var ids []string
	for _, target := range rules[0].Targets {
		for _, o := range target.Offers {
			ids = append(ids, o.Endpoint.ID)
		}
	}
	require.Equal(t, []string{"north:acme/small~pro", "north:acme/small@eu~pro", "south:acme/small~pro.1", "north:acme/small@eu"}, ids)
	first := rules[0].Targets[0].Offers[0]
	require.Equal(t, "small-v2", first.Endpoint.UpstreamModel)
	require.Equal(t, "1.00", first.Endpoint.Price.Input.String(), "the price of the provider's endpoint")
	require.Nil(t, rules[0].Targets[1].Offers[0].Endpoint.Price, "unknown where it has none")
	own, ok := v.Endpoint("north:acme/small~pro")
	require.True(t, ok, "a job that went there is found again")
	require.Same(t, first.Endpoint, own.Endpoint)
	require.Len(t, v.Offers(m), 2, "and no request without the rule goes there")
	require.Equal(t, catalog.ManagedCredential, rules[1].Targets[0].Credential)
	require.Len(t, rules[1].Targets[0].Offers, 2, "every region of the provider")
}

// TestRulesOfOneNameAreToldApart: two models' rules of the same name that go to
// the same endpoint under different upstream names.
func TestRulesOfOneNameAreToldApart(t *testing.T) {
	c := sample()
	for i, upstream := range []string{"a", "b"} {
		c.Models[i].Rules = []catalog.Rule{{
			Name: "r", When: condition.Condition{Source: condition.Model, Op: condition.Exists},
			Then: catalog.Then{Target: catalog.Target{Model: "acme/small", Provider: "north", UpstreamModel: upstream}},
		}}
	}
	v, err := catalog.Compile(c)
	require.NoError(t, err)
	seen := map[string]string{}
	for _, id := range []string{"zeta/small", "acme/small"} {
		m, _ := v.Model(id)
		e := v.Rules(m)[0].Targets[0].Offers[0].Endpoint
		seen[e.ID] = e.UpstreamModel
	}
	require.Equal(t, map[string]string{"north:acme/small~r": "b", "north:acme/small~r~zeta/small": "a"}, seen)
}

// TestRulesAreJoinedByName: an overlay's rules come first, override field by
// field, and leave the base's others behind them.
func TestRulesAreJoinedByName(t *testing.T) {
	base, _, _, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema}, strings.NewReader(ruled), "c.yaml", env)
	require.NoError(t, err)
	merged, _, _, err := catalog.Overlaid(base, strings.NewReader(`
models:
  - id: acme/small
    rules:
      - {name: new, when: {source: workspace_tag, op: equals, value: gold}, then: {provider: north}}
      - {name: trial, disabled: true}
`), "d.yaml", env)
	require.NoError(t, err)
	var names []string
	for _, r := range merged.Models[0].Rules {
		names = append(names, r.Name)
	}
	require.Equal(t, []string{"new", "trial", "pro"}, names)
	require.True(t, merged.Models[0].Rules[1].Disabled)
	require.Equal(t, base.Models[0].Rules[1].When, merged.Models[0].Rules[1].When)
	require.Equal(t, base.Models[0].Rules[1].Then, merged.Models[0].Rules[1].Then)
	require.False(t, base.Models[0].Rules[1].Disabled, "the base is not changed")
	v, err := catalog.Compile(merged)
	require.NoError(t, err)
	m, _ := v.Model("acme/small")
	require.Len(t, v.Rules(m), 2, "what is switched off is not there")
}
