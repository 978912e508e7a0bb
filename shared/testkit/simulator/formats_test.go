package simulator_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

func TestResponses(t *testing.T) {
	r := start(t, simulator.Options{})
	plain := r.ask("/v1/responses", `{"model":"m","input":"Say hello","reasoning":{"effort":"low"}}`)
	require.Equal(t, "reasoning", plain.Get("output.0.type").Str)
	require.Contains(t, plain.Get("output.1.content.0.text").Str, "Say hello")
	require.Equal(t, "completed", plain.Get("status").Str)
	require.Positive(t, plain.Get("usage.output_tokens_details.reasoning_tokens").Int())

	events, err := r.events("/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"get_weather"}]}],"stream":true,
		"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]}`)
	require.NoError(t, err)
	var args string
	for i, e := range events {
		v := gjson.Parse(e)
		require.Equal(t, int64(i), v.Get("sequence_number").Int())
		if v.Get("type").Str == "response.function_call_arguments.delta" {
			args += v.Get("delta").Str
		}
	}
	last := gjson.Parse(events[len(events)-1])
	require.Equal(t, "response.completed", last.Get("type").Str)
	require.Equal(t, last.Get("response.output.0.arguments").Str, args)
	require.NotEmpty(t, gjson.Get(args, "city").Str)
}

func TestAnthropic(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := `{"model":"m","max_tokens":100,"system":"Be kind","messages":[{"role":"user","content":"get_weather for Paris"}],
		"tools":[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]`
	plain := r.ask("/v1/messages", ask+`}`)
	require.Equal(t, "tool_use", plain.Get("stop_reason").Str)
	require.Equal(t, "Paris", plain.Get("content.0.input.city").Str)

	events, err := r.events("/v1/messages", ask+`,"stream":true}`)
	require.NoError(t, err)
	var types []string
	var args string
	for _, e := range events {
		v := gjson.Parse(e)
		types = append(types, v.Get("type").Str)
		args += v.Get("delta.partial_json").Str
	}
	require.Equal(t, "message_start", types[0])
	require.Equal(t, []string{"content_block_stop", "message_delta", "message_stop"}, types[len(types)-3:])
	require.JSONEq(t, plain.Get("content.0.input").Raw, args)

	require.Positive(t, r.ask("/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"hello there"}]}`).Get("input_tokens").Int())

	resp := r.post("/v1/messages", strings.Replace(ask, `"m"`, `"fault-status-529"`, 1)+`}`)
	require.Equal(t, 529, resp.StatusCode)
}

func TestGemini(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := `{"contents":[{"role":"user","parts":[{"text":"Say hello"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}]}`
	plain := r.ask("/v1beta/models/m:generateContent", ask)
	text := plain.Get("candidates.0.content.parts.0.text").Str
	require.Contains(t, text, "Say hello")
	require.Contains(t, text, "1 image")
	require.Equal(t, "STOP", plain.Get("candidates.0.finishReason").Str)

	events, err := r.events("/v1beta/models/m:streamGenerateContent?alt=sse", ask)
	require.NoError(t, err)
	var joined string
	for _, e := range events {
		joined += gjson.Get(e, "candidates.0.content.parts.0.text").Str
	}
	require.Equal(t, text, joined)
	require.Len(t, r.ask("/v1beta/models/m:streamGenerateContent", ask).Array(), len(events))

	require.Positive(t, r.ask("/v1beta/models/a%2Fb:countTokens", ask).Get("totalTokens").Int())
	require.Equal(t, 503, r.post("/v1beta/models/a/fault-status-503:generateContent", ask).StatusCode)

	called := r.ask("/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],
		"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"n":{"type":"INTEGER"}}}}]}],
		"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`)
	require.Equal(t, "f", called.Get("candidates.0.content.parts.0.functionCall.name").Str)
	require.Equal(t, int64(1), called.Get("candidates.0.content.parts.0.functionCall.args.n").Int())
}

func TestStructuredOutput(t *testing.T) {
	r := start(t, simulator.Options{})
	schema := `{"type":"object","properties":{
		"zeta":{"$ref":"#/$defs/leaf"},"alpha":{"type":["null","string"],"minLength":3,"maxLength":20},
		"kind":{"enum":["b","a"]},"n":{"type":"integer","minimum":5,"maximum":9},"list":{"type":"array","items":{"type":"number"},"minItems":2},
		"any":{"anyOf":[{"type":"null"},{"const":7}]},"tree":{"$ref":"#"},"when":{"type":"string","format":"date"}},
		"required":["zeta","alpha","kind","n","list","any","when"],"$defs":{"leaf":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}`
	reply := r.ask(chatPath, chat("m", "Describe “Ada”", `,"response_format":{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":`+schema+`}}`))
	text := reply.Get("choices.0.message.content").Str
	require.True(t, gjson.Valid(text), text)
	v := gjson.Parse(text)
	require.True(t, v.Get("zeta.ok").Bool())
	require.Equal(t, "Ada", v.Get("alpha").Str)
	require.Equal(t, "b", v.Get("kind").Str)
	require.Equal(t, int64(5), v.Get("n").Int())
	require.Len(t, v.Get("list").Array(), 2)
	require.Equal(t, int64(7), v.Get("any").Int())
	require.Equal(t, "2026-01-02", v.Get("when").Str)
	require.True(t, strings.HasPrefix(text, `{"zeta"`), "the schema's order is kept")

	object := r.ask(chatPath, chat("m", "hi", `,"response_format":{"type":"json_object"}`))
	require.Equal(t, "hi", gjson.Get(object.Get("choices.0.message.content").Str, "answer").Str)
}

func TestCatalogIsGood(t *testing.T) {
	text := simulator.Catalog("http://127.0.0.1:9101/v1")
	merged, _, warnings, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema}, strings.NewReader(text), "catalog.yaml", nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	view, err := catalog.Compile(merged)
	require.NoError(t, err)
	for _, id := range []string{"signalbox-sim/small", "signalbox-sim/large", "signalbox-sim/flaky"} {
		_, ok := view.Model(id)
		require.True(t, ok, id)
	}
	p, ok := view.Provider(simulator.Provider)
	require.True(t, ok)
	require.True(t, p.Keyless)
	require.Equal(t, "http://127.0.0.1:9101/v1", p.BaseURL)
	_, ok = view.Provider(simulator.AtVertex)
	require.False(t, ok, "nothing can be asked of Vertex without a key")
}

// What misbehaves on purpose is dearer than the widest profile with a limit of
// signalbox/auto and than every other model, so that auto leaves it alone.
func TestWhatMisbehavesIsTooDearForAuto(t *testing.T) {
	merged, _, _, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema},
		strings.NewReader(simulator.Catalog("http://127.0.0.1:9101/v1")), "catalog.yaml", nil)
	require.NoError(t, err)
	faulty := map[string]bool{"slow": true, "flaky": true, "limited": true, "cut": true}
	premium := policy.Auto{Spend: policy.SpendPremium}
	limit := premium.Limit()
	seen, cheapest, dearest := 0, money.PerMillion(math.MaxInt64), money.PerMillion(0)
	for _, m := range merged.Models {
		for _, e := range m.Endpoints {
			if !faulty[strings.TrimPrefix(m.ID, "signalbox-sim/")] {
				dearest = max(dearest, *e.Price.Input)
				continue
			}
			seen++
			cheapest = min(cheapest, *e.Price.Input)
			require.Greater(t, *e.Price.Input, limit.Input, m.ID)
			require.Greater(t, *e.Price.Output, limit.Output, m.ID)
		}
	}
	require.Equal(t, 5, seen)
	require.Greater(t, cheapest, dearest)
}

func TestCatalogNamesAKeyForEachProviderThatTakesOne(t *testing.T) {
	const url = "http://127.0.0.1:9101/v1"
	text := simulator.CatalogWithKeys(url, func(slug string) string { return "${" + strings.ReplaceAll(slug, "-", "_") + "}" })
	keys := simulator.Keys(url)
	env := func(name string) (string, bool) { v, ok := keys[strings.ReplaceAll(name, "_", "-")]; return v, ok }
	merged, _, warnings, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema}, strings.NewReader(text), "catalog.yaml", env)
	require.NoError(t, err)
	require.Empty(t, warnings)
	view, err := catalog.Compile(merged)
	require.NoError(t, err)
	for slug, base := range map[string]string{
		simulator.AtOpenAI: "/as-openai/v1", simulator.AtAnthropic: "/as-anthropic", simulator.AtGoogle: "/as-google/v1beta",
		simulator.AtAzure: "/as-azure/openai/v1", simulator.AtBedrock: "/as-bedrock",
		simulator.AtVertex: "/as-vertex/v1/projects/simulated-project/locations/global",
	} {
		p, ok := view.Provider(slug)
		require.True(t, ok, slug)
		require.False(t, p.Keyless, slug)
		require.Equal(t, "http://127.0.0.1:9101"+base, p.Address(""), slug)
	}
	for _, s := range catalog.Surfaces() {
		served := false
		for _, m := range merged.Models {
			for i := range m.Endpoints {
				p, _ := view.Provider(m.Endpoints[i].Provider)
				served = served || decide.Serves(&catalog.Offer{Endpoint: &m.Endpoints[i], Provider: p, Model: &m}, s)
			}
		}
		require.True(t, served, "no model for %s", s)
	}
}
