package merge

import (
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// kind is what a value is, by its first byte.
type kind byte

const (
	anything kind = 0
	number   kind = '1'
	flag     kind = 't'
	text     kind = '"'
	object   kind = '{'
	list     kind = '['
	// listed is a list, and one text is written as a list of one.
	listed kind = 'L'
	// shaped is told apart by what is inside: see shape.go.
	shaped kind = 'S'
)

// field is a parameter as one format has it.
type field struct {
	name   string
	config bool // in Gemini's generationConfig
	kind   kind
}

// fields are a surface's parameters by their concept: what several formats have
// under different names is one.
type fields map[string]field

// surfaces are the parameters that a preset may add to a body. A surface that is
// not here gets none.
var surfaces = map[catalog.Surface]fields{
	catalog.Chat: known(`temperature:1 top_p:1 top_k:1 min_p:1 max_tokens:1 stop seed:1 n:1 presence_penalty:1 frequency_penalty:1
		repetition_penalty:1 logit_bias:{ logprobs:t top_logprobs:1 response_format:{ tools:S tool_choice:S functions:[ function_call
		parallel_tool_calls:t reasoning_effort:" reasoning:{ thinking:{ verbosity:" modalities:[ audio:{ prediction:{ service_tier:"
		store:t user:" safety_identifier:" web_search_options:{`),
	catalog.Completions: known(`temperature:1 top_p:1 top_k:1 min_p:1 max_tokens:1 stop seed:1 n:1 presence_penalty:1 frequency_penalty:1
		repetition_penalty:1 logit_bias:{ logprobs:1 best_of:1 echo:t user:"`),
	catalog.Responses: known(`temperature:1 top_p:1 max_output_tokens:1 top_logprobs:1 tools:S tool_choice:S parallel_tool_calls:t
		max_tool_calls:1 text:{ reasoning:{ include:[ truncation:" service_tier:" store:t user:" safety_identifier:"`),
	catalog.Messages: known(`temperature:1 top_p:1 top_k:1 max_tokens:1 stop_sequences:L tools:S tool_choice:S thinking:{
		output_config:{ output_format:{ mcp_servers:[ context_management:{`),
	catalog.Gemini: known(`tools:S toolConfig:{ safetySettings:[ labels:{`).and(inConfig(`temperature:1 topP:1 topK:1 maxOutputTokens:1
		stopSequences:L seed:1 candidateCount:1 presencePenalty:1 frequencyPenalty:1 responseMimeType:" responseSchema:{ responseJsonSchema:{
		responseLogprobs:t logprobs:1 thinkingConfig:{ responseModalities:[ speechConfig:{ imageConfig:{ mediaResolution:"`)),
	catalog.Embeddings: known(`dimensions:1 encoding_format:" input_type:" user:"`),
	catalog.Rerank:     known(`top_n:1 return_documents:t max_tokens_per_doc:1`),
	catalog.Images:     known(pictures),
	catalog.ImageEdits: known(pictures + ` input_fidelity:"`),
	catalog.Speech:     known(`voice response_format:" speed:1`),
	catalog.Videos:     known(`seconds size:"`),
}

const pictures = `n:1 size:" quality:" style:" background:" moderation:" output_format:" output_compression:1 response_format:" seed:1
	negative_prompt:" aspect_ratio:" guidance_scale:1 num_inference_steps:1 user:"`

// elsewhere are the concepts that some format has and Chat Completions has not.
// Chat takes every other name: providers have parameters of their own there.
var elsewhere = foreign()

func foreign() map[string]bool {
	names := make(map[string]bool)
	for _, fields := range surfaces {
		for concept := range fields {
			if _, own := surfaces[catalog.Chat][concept]; !own {
				names[concept] = true
			}
		}
	}
	return names
}

// known reads "name:kind" words.
func known(words string) fields {
	out := make(fields)
	for word := range strings.FieldsSeq(words) {
		name, of, _ := strings.Cut(word, ":")
		f := field{name: name}
		if of != "" {
			f.kind = kind(of[0])
		}
		out[conceptOf(name)] = f
	}
	return out
}

func inConfig(words string) fields {
	out := known(words)
	for concept, f := range out {
		f.config = true
		out[concept] = f
	}
	return out
}

func (f fields) and(more fields) fields {
	for concept, field := range more {
		f[concept] = field
	}
	return f
}

// concepts are the names that mean what another does, folded.
var concepts = map[string]string{
	"maxcompletiontokens": "maxtokens", "maxoutputtokens": "maxtokens",
	"stopsequences": "stop", "candidatecount": "n",
}

// conceptOf is what a name stands for: names that differ in their case and in
// underscores alone are the same.
func conceptOf(name string) string {
	folded := policy.FoldParam(name)
	if same, ok := concepts[folded]; ok {
		return same
	}
	return folded
}

// rivals are concepts of which a body may have one: they say the same in other
// words.
var rivals = map[string]string{
	"reasoning": "reasoningeffort", "thinking": "reasoningeffort", "functions": "tools", "functioncall": "toolchoice",
	"responsejsonschema": "responseschema",
}

func rivalOf(concept string) string {
	if same, ok := rivals[concept]; ok {
		return same
	}
	return concept
}

func concept(names string) map[string]bool {
	out := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		out[conceptOf(name)] = true
	}
	return out
}

// counted are the concepts that Anthropic's counting of tokens takes. Any other
// has it refuse the request.
var counted = concept(`tools tool_choice thinking output_config mcp_servers context_management`)
