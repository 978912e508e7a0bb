package simulator

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

func openAIRoutes() []route {
	both := []platform{openAI, azure}
	json := func(path string, serve func(x *exchange), on []platform) route {
		return route{method: http.MethodPost, path: path, format: chatFormat{}, body: jsonBody, serve: serve, on: on}
	}
	either := func(path string, serve func(x *exchange)) route {
		return route{method: http.MethodPost, path: path, format: chatFormat{}, body: eitherBody, serve: serve}
	}
	return []route{
		json("/completions", (*exchange).completions, both),
		json("/embeddings", func(x *exchange) { x.replied(embeddings(x.json, x.model)) }, both),
		json("/moderations", func(x *exchange) { x.replied(moderations(x.json, x.model)) }, both),
		json("/rerank", func(x *exchange) { x.replied(rerank(x.json, x.model)) }, nil),
		either("/ocr", func(x *exchange) { x.replied(x.ocr()) }),
		either("/parse", func(x *exchange) { x.replied(x.parse()) }),
		either("/decisions", func(x *exchange) { x.replied(x.decide()) }),
		{method: http.MethodGet, path: "/realtime", format: chatFormat{}, serve: (*exchange).realtime, on: both, model: realtimeModel},
	}
}

func firstWord(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

func (x *exchange) replied(reply json.RawMessage, refused *refusal) {
	if refused != nil {
		x.refuse(refused)
		return
	}
	if x.fault.NoUsage {
		reply = without(reply, "usage", "usage_info", "meta")
	}
	x.plain(reply)
}

// without leaves members out of an object.
func without(raw json.RawMessage, names ...string) json.RawMessage {
	left := set(strings.Join(names, " "))
	var pairs []any
	gjson.ParseBytes(raw).ForEach(func(k, v gjson.Result) bool {
		if !left[k.Str] {
			pairs = append(pairs, k.Str, json.RawMessage(v.Raw))
		}
		return true
	})
	return obj(pairs...)
}

// completions is OpenAI's legacy form
// (https://platform.openai.com/docs/api-reference/completions).
func (x *exchange) completions() {
	body := x.json
	in := body.Get("prompt")
	p := &prompt{
		model: x.model, terms: termsOf(x.model), stream: body.Get("stream").Bool(),
		usage: body.Get("stream_options.include_usage").Bool(), choices: int(body.Get("n").Int()),
		stops: strs(body.Get("stop")), maxTokens: int(body.Get("max_tokens").Int()),
	}
	refused := openAIBasics(x, "prompt")
	switch {
	case refused != nil:
	case in.Type != gjson.String && !in.IsArray():
		refused = refuse("prompt", "Invalid type for 'prompt': expected a string, an array of strings or an array of tokens.")
	case body.Get("messages").Exists():
		refused = chatFormat{}.unknown("messages")
	case body.Get("stream_options").IsObject() && !p.stream:
		refused = refuse("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	p.addUser(p.add(strings.Join(strs(in), " ")))
	a := answerTo(p, x.body)
	a.created = x.server.options.Now()
	if x.fault.NoUsage {
		a.usage = nil
	}
	piece := func(text string, index int, finish, usage any) json.RawMessage {
		return obj("id", "cmpl-"+a.id, "object", "text_completion", "created", a.created.Unix(), "model", a.model,
			"choices", list(obj("text", text, "index", index, "logprobs", nil, "finish_reason", finish)), "usage", usage)
	}
	if !p.stream {
		var choices []json.RawMessage
		for i := range max(p.choices, 1) {
			choices = append(choices, obj("text", a.text, "index", i, "logprobs", nil, "finish_reason", chatFinish(a.finish)))
		}
		x.plain(obj("id", "cmpl-"+a.id, "object", "text_completion", "created", a.created.Unix(), "model", a.model,
			"choices", choices, "usage", chatUsage(a.usage)))
		return
	}
	var out []frame
	for i := range max(p.choices, 1) {
		for _, word := range a.deltas() {
			out = append(out, frame{data: string(piece(word, i, nil, omitted)), kind: frameContent})
		}
		out = append(out, frame{data: string(piece("", i, chatFinish(a.finish), omitted))})
	}
	if p.usage && a.usage != nil {
		out = append(out, frame{kind: frameUsage, data: string(obj("id", "cmpl-"+a.id, "object", "text_completion",
			"created", a.created.Unix(), "model", a.model, "choices", list[int](), "usage", chatUsage(a.usage)))})
	}
	x.stream(append(out, frame{data: "[DONE]", kind: frameTerminal}))
}

var harms = strings.Fields(`harassment harassment/threatening hate hate/threatening illicit illicit/violent self-harm
	self-harm/instructions self-harm/intent sexual sexual/minors violence violence/graphic`)

// moderations is https://platform.openai.com/docs/api-reference/moderations.
// Text with the word "kill" is violence.
func moderations(body gjson.Result, model string) (json.RawMessage, *refusal) {
	in := body.Get("input")
	inputs := []gjson.Result{in}
	if in.IsArray() {
		inputs = in.Array()
	}
	if !in.Exists() || len(inputs) == 0 {
		return nil, missing("input")
	}
	if inputs[0].IsObject() { // the parts of one input
		for i, part := range inputs {
			if kind := part.Get("type").Str; kind != "text" && kind != "image_url" {
				return nil, oneOf("input["+itoa(i)+"].type", kind, "text image_url")
			}
		}
		inputs = []gjson.Result{in}
	}
	var results []json.RawMessage
	for _, one := range inputs {
		flagged := strings.Contains(strings.ToLower(one.Raw), "kill")
		var is, scores, applied []any
		for _, harm := range harms {
			hit := flagged && harm == "violence"
			score := 0.0001
			if hit {
				score = 0.98
			}
			is, scores, applied = append(is, harm, hit), append(scores, harm, score), append(applied, harm, list("text"))
		}
		results = append(results, obj("flagged", flagged, "categories", obj(is...), "category_scores", obj(scores...),
			"category_applied_input_types", obj(applied...)))
	}
	return obj("id", "modr-"+hexOf([]byte(body.Raw)), "model", firstWord(model, "omni-moderation-latest"), "results", results), nil
}
