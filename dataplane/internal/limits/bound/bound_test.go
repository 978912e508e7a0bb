package bound_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits/bound"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func usd(text string) *money.PerMillion {
	p, err := money.ParsePerMillion(text)
	if err != nil {
		panic(err)
	}
	return &p
}

// at are a step and a candidate with a price of 1 in, 10 out, a context of 1000
// and an output limit of 100.
func at(price *catalog.Price) (*decide.Step, *decide.Candidate) {
	e := &catalog.Endpoint{ID: "north:acme/small", Price: price, Context: 1_000, MaxOutput: 100}
	c := decide.Candidate{Endpoint: e, Provider: &catalog.Provider{Slug: "north"}}
	return &decide.Step{Model: &catalog.Model{ID: "acme/small"}, Candidates: []decide.Candidate{c}}, &c
}

func plain() *catalog.Price { return &catalog.Price{Input: usd("1"), Output: usd("10")} }

const (
	in       = 1_000 // nano-USD for each token
	out      = 10_000
	overhead = 4096
	rounding = 10
)

func TestWorst(t *testing.T) {
	const whole = 1_000 // the context
	for name, c := range map[string]struct {
		surface catalog.Surface
		body    string
		most    int64
		needs   []catalog.Modality
		in, out int64 // tokens; in -1: the body's bytes and the overhead
	}{
		"without a cap":             {catalog.Chat, `{"messages":[]}`, 0, nil, -1, 100},
		"a cap":                     {catalog.Chat, `{"max_tokens":7}`, 7, nil, -1, 7},
		"a larger cap":              {catalog.Chat, `{"max_tokens":700}`, 700, nil, -1, 700},
		"both names of a cap":       {catalog.Chat, `{"max_tokens":70,"max_completion_tokens":7}`, 7, nil, -1, 70},
		"several answers":           {catalog.Chat, `{"n":3}`, 0, nil, -1, 300},
		"n that is none":            {catalog.Chat, `{"n":"x"}`, 0, nil, -1, 100},
		"n of less than one":        {catalog.Chat, `{"n":-4}`, 0, nil, -1, 100},
		"an escaped name":           {catalog.Chat, `{"\u006e":3}`, 0, nil, -1, 300},
		"n twice":                   {catalog.Chat, `{"n":3,"n":2}`, 0, nil, -1, 300},
		"the best of many":          {catalog.Completions, `{"best_of":5,"n":2}`, 0, nil, -1, 500},
		"several prompts":           {catalog.Completions, `{"prompt":["a","b"],"n":2}`, 0, nil, -1, 400},
		"prompts of tokens":         {catalog.Completions, `{"prompt":[[1,2],[3]]}`, 0, nil, -1, 200},
		"one prompt of tokens":      {catalog.Completions, `{"prompt":[1,2,3]}`, 0, nil, -1, 100},
		"predicted output":          {catalog.Chat, `{"prediction":"0123456789"}`, 0, nil, -1, 112},
		"an image":                  {catalog.Chat, `{}`, 0, []catalog.Modality{catalog.Image}, whole, 100},
		"what the provider keeps":   {catalog.Responses, `{"previous_response_id":"resp_1"}`, 0, nil, whole, 100},
		"a kept conversation":       {catalog.Responses, `{"conversation":{"id":"c"}}`, 0, nil, whole, 100},
		"no kept conversation":      {catalog.Responses, `{"conversation":null}`, 0, nil, -1, 100},
		"a kept item":               {catalog.Responses, `{"input":[{"type":"item_reference","id":"i"}]}`, 0, nil, whole, 100},
		"kept, escaped":             {catalog.Responses, `{"input":[{"type":"item\u005freference","id":"i"}]}`, 0, nil, whole, 100},
		"kept, by its id alone":     {catalog.Responses, `{"input":[{"id":"msg_1"}]}`, 0, nil, whole, 100},
		"kept thoughts":             {catalog.Responses, `{"input":[{"type":"reasoning","id":"rs_1","summary":[]}]}`, 0, nil, whole, 100},
		"what a search found":       {catalog.Responses, `{"input":[{"type":"web_search_call","id":"ws_1"}]}`, 0, nil, whole, 100},
		"items that are whole":      {catalog.Responses, `{"input":[{"role":"user","content":"x"},{"type":"reasoning","encrypted_content":"s"},{"type":"function_call","id":"fc_1","call_id":"c","arguments":"{}"}]}`, 0, nil, -1, 100},
		"media, escaped":            {catalog.Chat, `{"messages":[{"content":[{"type":"image\u005furl","image\u005furl":{"url":"https://x"}}]}]}`, 0, nil, whole, 100},
		"a type alone":              {catalog.Messages, `{"messages":[{"content":[{"type":"tool_result","content":[{"type":"\u0069mage"}]}]}]}`, 0, nil, whole, 100},
		"an earlier answer's sound": {catalog.Chat, `{"messages":[{"role":"assistant","audio":{"id":"a"}}]}`, 0, nil, whole, 100},
		"no sound":                  {catalog.Chat, `{"audio":{"voice":"v"},"messages":[{"role":"assistant","audio":null}]}`, 0, nil, -1, 100},
		"a result with media":       {catalog.Gemini, `{"contents":[{"parts":[{"functionResponse":{"parts":[{"inlineData":{"data":"x"}}]}}]}]}`, 0, nil, whole, 100},
		"a tool's own words":        {catalog.Messages, `{"messages":[{"content":[{"type":"tool_use","input":{"file_id":"f","type":"image"}}]}]}`, 0, nil, -1, 100},
		"a document elsewhere":      {catalog.OCR, `{"document":{"document_url":"https://x"}}`, 0, nil, whole, 100},
		"a picture elsewhere":       {catalog.Videos, `{"prompt":"x","input_reference":{"file_id":"f"}}`, 0, nil, whole, 100},
		"pictures to embed":         {catalog.Embeddings, `{"input":[{"image_url":"https://x"},{"image_url":"https://y"}]}`, 0, nil, 2*whole - 1e6, 0},
		"another spelling":          {catalog.Chat, `{"N":3,"MaxTokens":7}`, 0, nil, -1, 21},
		"thoughts, the later":       {catalog.Messages, `{"max_tokens":50,"thinking":{"budget_tokens":1,"budget_tokens":70}}`, 50, nil, -1, 120},
		"predicted twice":           {catalog.Chat, `{"prediction":"0123456789","prediction":"0"}`, 0, nil, -1, 112},
		"kept content":              {catalog.Gemini, `{"cachedContent":"x"}`, 0, nil, whole, 100},
		"candidates":                {catalog.Gemini, `{"generationConfig":{"candidateCount":4,"maxOutputTokens":5}}`, 5, nil, -1, 20},
		"thoughts within":           {catalog.Messages, `{"max_tokens":50,"thinking":{"budget_tokens":40}}`, 50, nil, -1, 50},
		"thoughts beside":           {catalog.Messages, `{"max_tokens":50,"thinking":{"budget_tokens":70}}`, 50, nil, -1, 120},
		"the caller's tools":        {catalog.Chat, `{"tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{}}]}`, 0, nil, -1, 100},
		"the caller's, Anthropic":   {catalog.Messages, `{"tools":[{"name":"f","input_schema":{}},{"type":"bash_20250124","name":"bash"}]}`, 0, nil, -1, 100},
		"the caller's, Google":      {catalog.Gemini, `{"tools":[{"functionDeclarations":[]}]}`, 0, nil, -1, 100},
		"embeddings":                {catalog.Embeddings, `{"input":"x"}`, 0, nil, -1, 0},
		"documents, one by one":     {catalog.Rerank, `{"documents":["a","b"]}`, 0, nil, -3, 0},
	} {
		q := call.Call{Surface: c.surface, Body: []byte(c.body), Request: call.Request{OutputTokens: c.most, Needs: c.needs}}
		step, candidate := at(plain())
		got, refusal := bound.Read(&q).Worst(step, candidate)
		require.Nil(t, refusal, name)
		tokens := c.in
		switch text := int64(len(c.body) + overhead); {
		case tokens < -1e5: // beside what is read one by one
			tokens += 1e6 + text
		case tokens < 0:
			tokens *= -text
		}
		require.EqualValues(t, tokens*in+c.out*out+rounding, got, name)
	}
}

func TestDearestPrices(t *testing.T) {
	body := []byte(`{"max_tokens":10}`)
	q := call.Call{Surface: catalog.Chat, Body: body, Request: call.Request{OutputTokens: 10}}
	tokens := int64(len(body) + overhead)
	for name, c := range map[string]struct {
		price catalog.Price
		want  int64
	}{
		"a cache write":          {catalog.Price{Input: usd("1"), CacheWrite1h: usd("2"), Output: usd("10")}, tokens*2_000 + 100_000},
		"reasoning":              {catalog.Price{Input: usd("1"), Output: usd("10"), Reasoning: usd("20")}, tokens*1_000 + 200_000},
		"a request":              {catalog.Price{Input: usd("1"), Output: usd("10"), Request: 77}, tokens*1_000 + 100_000 + 77},
		"a tier within reach":    {catalog.Price{Input: usd("1"), Output: usd("10"), Tiers: []catalog.Tier{{Above: 4000, Price: catalog.Price{Input: usd("3")}}}}, tokens*3_000 + 100_000},
		"a tier beyond":          {catalog.Price{Input: usd("1"), Output: usd("10"), Tiers: []catalog.Tier{{Above: 9000, Price: catalog.Price{Input: usd("3")}}}}, tokens*1_000 + 100_000},
		"a cheaper tier":         {catalog.Price{Input: usd("3"), Output: usd("10"), Tiers: []catalog.Tier{{Above: 4000, Price: catalog.Price{Input: usd("1")}}}}, tokens*3_000 + 100_000},
		"output without a price": {catalog.Price{Input: usd("1")}, tokens * 1_000},
	} {
		step, candidate := at(&c.price)
		got, refusal := bound.Read(&q).Worst(step, candidate)
		require.Nil(t, refusal, name)
		require.EqualValues(t, c.want+rounding, got, name)
	}
}

func TestWhatCannotBeBounded(t *testing.T) {
	unknown := func(price *catalog.Price) (*decide.Step, *decide.Candidate) {
		step, c := at(price)
		c.Endpoint.Context, c.Endpoint.MaxOutput = 0, 0
		return step, c
	}
	for name, c := range map[string]struct {
		at      func(*catalog.Price) (*decide.Step, *decide.Candidate)
		price   *catalog.Price
		surface catalog.Surface
		body    string
		path    string
	}{
		"no price":                         {at, nil, catalog.Chat, `{}`, "model"},
		"no price that counts":             {at, &catalog.Price{Image: usd("1")}, catalog.Chat, `{}`, "model"},
		"no limit of output":               {unknown, plain(), catalog.Chat, `{}`, "max_tokens"},
		"no context":                       {unknown, plain(), catalog.Responses, `{"max_output_tokens":5,"conversation":"c"}`, "model"},
		"a search":                         {at, plain(), catalog.Chat, `{"web_search_options":{}}`, "tools"},
		"a tool of OpenAI":                 {at, plain(), catalog.Responses, `{"tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`, "tools"},
		"a tool of Anthropic":              {at, plain(), catalog.Messages, `{"tools":[{"type":"web_search_20250305","name":"web_search"}]}`, "tools"},
		"a tool of Google":                 {at, plain(), catalog.Gemini, `{"tools":[{"googleSearch":{}}]}`, "tools"},
		"one among others":                 {at, plain(), catalog.Gemini, `{"tools":[{"functionDeclarations":[],"googleSearch":{}}]}`, "tools"},
		"a batch":                          {at, plain(), catalog.Batches, `{}`, ""},
		"a conversation":                   {at, plain(), catalog.Realtime, ``, ""},
		"a kept prompt":                    {at, plain(), catalog.Responses, `{"prompt":{"id":"p"}}`, "prompt"},
		"a search, by a preset's spelling": {at, plain(), catalog.Chat, `{"webSearchOptions":{}}`, "tools"},
		"a search of xAI":                  {at, plain(), catalog.Chat, `{"search_parameters":{"mode":"on"}}`, "tools"},
		"tools that are no list":           {at, plain(), catalog.Gemini, `{"tools":{"googleSearch":{}}}`, "tools"},
		"one with a name":                  {at, plain(), catalog.Gemini, `{"tools":[{"name":"f","functionDeclarations":[],"googleSearch":{}}]}`, "tools"},
		"more than anybody has":            {at, plain(), catalog.Chat, `{"n":1e30}`, "n"},
	} {
		step, candidate := c.at(c.price)
		_, refusal := bound.Read(&call.Call{Surface: c.surface, Body: []byte(c.body)}).Worst(step, candidate)
		require.NotNil(t, refusal, name)
		require.Equal(t, fault.ValidationError, refusal.Code, name)
		require.Equal(t, fault.CostUnbounded, refusal.Reason, name)
		require.Equal(t, c.path, refusal.Violations[0].Path, name)
	}
	// What costs nothing need not be known.
	step, candidate := unknown(&catalog.Price{Input: usd("0"), Output: usd("0")})
	got, refusal := bound.Read(&call.Call{Surface: catalog.Realtime}).Worst(step, candidate)
	require.Nil(t, refusal)
	require.Zero(t, got)
	step, candidate = unknown(&catalog.Price{Request: 5})
	got, refusal = bound.Read(&call.Call{Surface: catalog.Images, Body: []byte(`{"n":2}`)}).Worst(step, candidate)
	require.Nil(t, refusal, "by the request alone")
	require.EqualValues(t, 5+rounding, got)
}

func TestWhatAPresetAdds(t *testing.T) {
	q := call.Call{Surface: catalog.Chat, Body: []byte(`{"messages":[]}`)}
	step, candidate := at(plain())
	step.Preset = &policy.PresetVersion{Config: policy.PresetConfig{
		SystemPrompt: strings.Repeat("x", 500), Params: map[string]json.RawMessage{"max_tokens": []byte("9"), "n": []byte("2")},
	}}
	r := bound.Read(&q)
	got, refusal := r.Worst(step, candidate)
	require.Nil(t, refusal)
	require.EqualValues(t, (15+overhead+500+11+2)*in+18*out+rounding, got)

	step.Preset.Config.Params["N"] = []byte("4") // which is written as n
	got, refusal = r.Worst(step, candidate)
	require.Nil(t, refusal)
	require.EqualValues(t, (15+overhead+500+11+2+2)*in+4*9*out+rounding, got)

	step.Preset.Config.Params["tools"] = []byte(`[{"type":"web_search"}]`)
	_, refusal = r.Worst(step, candidate)
	require.NotNil(t, refusal)
	step.Preset = nil
	got, refusal = r.Worst(step, candidate)
	require.Nil(t, refusal, "the next model has no preset")
	require.EqualValues(t, (15+overhead)*in+100*out+rounding, got)
}

func TestForms(t *testing.T) {
	body := "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n3\r\n--b--\r\n"
	q := call.Call{Surface: catalog.ImageEdits, Form: "b", Body: []byte(body)}
	step, candidate := at(plain())
	got, refusal := bound.Read(&q).Worst(step, candidate)
	require.Nil(t, refusal)
	require.EqualValues(t, 1_000*in+300*out+rounding, got, "with a picture, or the address of one")
	q.Surface = catalog.Videos
	got, refusal = bound.Read(&q).Worst(step, candidate)
	require.Nil(t, refusal)
	require.EqualValues(t, int64(len(body)+overhead)*in+300*out+rounding, got)
}

// What is taken to have been used where an upstream reports nothing is within the
// bound too.
func TestAnEstimateIsWithin(t *testing.T) {
	q := call.Call{Surface: catalog.Chat, Body: []byte(`{}`), Request: call.Request{InputTokens: 20_000, Needs: []catalog.Modality{catalog.Image}}}
	step, candidate := at(plain())
	got, refusal := bound.Read(&q).Worst(step, candidate)
	require.Nil(t, refusal)
	require.EqualValues(t, 20_000*in+100*out+rounding, got)
}

// No usage that a provider can report for a request costs more than its bound.
func TestNothingCostsMoreThanTheWorst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := anyPrice(t)
		step, candidate := at(price)
		candidate.Endpoint.Context = rapid.Int64Range(0, 300_000).Draw(t, "context")
		candidate.Endpoint.MaxOutput = rapid.Int64Range(0, 100_000).Draw(t, "limit")
		most, n := rapid.Int64Range(0, 50_000).Draw(t, "most"), rapid.Int64Range(1, 8).Draw(t, "n")
		text := strings.Repeat("x", rapid.IntRange(0, 5_000).Draw(t, "text"))
		media := rapid.Bool().Draw(t, "media")
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"n":%d`, text, n)
		if most > 0 {
			body += fmt.Sprintf(`,"max_tokens":%d`, most)
		}
		q := call.Call{Surface: catalog.Chat, Body: []byte(body + "}"), Request: call.Request{OutputTokens: most}}
		in := int64(len(text)) + rapid.Int64Range(0, 2_000).Draw(t, "added")
		if media {
			q.Request.Needs = []catalog.Modality{catalog.Image}
			in = candidate.Endpoint.Context
		}
		worst, refusal := bound.Read(&q).Worst(step, candidate)
		if refusal != nil {
			return
		}
		out := candidate.Endpoint.MaxOutput
		if out == 0 {
			out = candidate.Endpoint.Context
		}
		if most > 0 {
			out = most
		}
		used := meter.Usage{}
		for _, part := range []*int64{&used.Input, &used.CachedRead, &used.CacheWrite5m, &used.CacheWrite1h, &used.Image, &used.AudioInput} {
			*part = rapid.Int64Range(0, in).Draw(t, "in")
			in -= *part
		}
		for left, parts := out*n, []*int64{&used.Output, &used.Reasoning, &used.AudioOutput}; len(parts) > 0; parts = parts[1:] {
			*parts[0] = rapid.Int64Range(0, left).Draw(t, "out")
			left -= *parts[0]
		}
		require.LessOrEqual(t, meter.Bill(price, used).Total, worst)
	})
}

func anyPrice(t *rapid.T) *catalog.Price {
	p := func(label string) *money.PerMillion {
		if rapid.IntRange(0, 3).Draw(t, label+" known") == 0 {
			return nil
		}
		v := money.PerMillion(rapid.Int64Range(0, 1e12).Draw(t, label))
		return &v
	}
	one := func(label string) catalog.Price {
		return catalog.Price{
			Input: p(label + "input"), Output: p(label + "output"), CachedInput: p(label + "read"), CacheWrite5m: p(label + "5m"), CacheWrite1h: p(label + "1h"),
			Reasoning: p(label + "reasoning"), Image: p(label + "image"), Audio: p(label + "audio"), Request: money.Nanos(rapid.Int64Range(0, 1e9).Draw(t, label+"request")),
		}
	}
	price := one("")
	for above := range rapid.IntRange(0, 2).Draw(t, "tiers") {
		price.Tiers = append(price.Tiers, catalog.Tier{Above: int64(above+1) * rapid.Int64Range(1, 20_000).Draw(t, "above"), Price: one("tier ")})
	}
	return &price
}

func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`{}`, `{"n":3,"tools":[{"type":"function"}]}`, `{"prompt":[[1],"x"]}`, `{"generationConfig":{"candidateCount":1e3}}`,
		`{"prediction":{"content":"x"},"thinking":{"budget_tokens":9}}`, `{"documents":["a"],"conversation":null}`, `[`, `{"n":`,
	} {
		f.Add(body, int64(0))
	}
	step, candidate := at(plain())
	f.Fuzz(func(t *testing.T, body string, most int64) {
		worst, refusal := bound.Read(&call.Call{Surface: catalog.Chat, Body: []byte(body), Request: call.Request{OutputTokens: most}}).Worst(step, candidate)
		if refusal == nil && worst < money.Nanos(min(len(body), 1_000))*in {
			t.Fatalf("%d is less than the text, or the context, alone", worst)
		}
	})
}
