package catalog

import "regexp"

// authors maps the names that providers and hubs give an author to ours: the
// company's own name in lower case.
var authors = map[string]string{
	"alibaba":           "qwen",
	"bytedance-seed":    "bytedance",
	"deepseek-ai":       "deepseek",
	"huggingfacetb":     "huggingface",
	"ibm-granite":       "ibm",
	"meituan-longcat":   "meituan",
	"meta-llama":        "meta",
	"meta-models":       "meta",
	"minimaxai":         "minimax",
	"mistralai":         "mistral",
	"x-ai":              "xai",
	"xiaomimimo":        "xiaomi",
	"z-ai":              "zai",
	"zai-org":           "zai",
	"thinking-machines": "thinkingmachines",
}

// families tells the author of a model that is listed by its bare name.
var families = []struct {
	pattern *regexp.Regexp
	author  string
}{
	{regexp.MustCompile(`^(gpt-|o\d($|-)|codex-|text-embedding-)`), "openai"},
	{regexp.MustCompile(`^claude-`), "anthropic"},
	{regexp.MustCompile(`^(gemini|gemma)-`), "google"},
	{regexp.MustCompile(`^grok-`), "xai"},
	{regexp.MustCompile(`^glm-`), "zai"},
	{regexp.MustCompile(`^(kimi|moonshot)-`), "moonshotai"},
	{regexp.MustCompile(`^(qwen|qwq)`), "qwen"},
	{regexp.MustCompile(`^deepseek-`), "deepseek"},
	{regexp.MustCompile(`^(meta-llama|llama|muse)-`), "meta"},
	{regexp.MustCompile(`^(mistral|ministral|mixtral|codestral|devstral|magistral|pixtral|voxtral)-`), "mistral"},
	{regexp.MustCompile(`^minimax-`), "minimax"},
	{regexp.MustCompile(`^(nvidia-)?nemotron-`), "nvidia"},
	{regexp.MustCompile(`^cosmos3-`), "nvidia"},
	{regexp.MustCompile(`^nova-`), "amazon"},
	{regexp.MustCompile(`^(command|north)-`), "cohere"},
	{regexp.MustCompile(`^phi-`), "microsoft"},
	{regexp.MustCompile(`^mai-`), "microsoft"},
	{regexp.MustCompile(`^mimo-`), "xiaomi"},
	{regexp.MustCompile(`^hy3`), "tencent"},
	{regexp.MustCompile(`^(doubao-)?seed-`), "bytedance"},
	{regexp.MustCompile(`^ernie-`), "baidu"},
	{regexp.MustCompile(`^step-`), "stepfun"},
	{regexp.MustCompile(`^kat-`), "kwaipilot"},
	{regexp.MustCompile(`^laguna-`), "poolside"},
	{regexp.MustCompile(`^hermes-`), "nousresearch"},
	{regexp.MustCompile(`^inkling`), "thinkingmachines"},
	{regexp.MustCompile(`^mercury-`), "inception"},
	{regexp.MustCompile(`^(ling|ring)-`), "inclusionai"},
	{regexp.MustCompile(`^aion-`), "aion-labs"},
	{regexp.MustCompile(`^lfm-`), "liquid"},
	{regexp.MustCompile(`^jina-`), "jina"},
	{regexp.MustCompile(`^agnes-`), "agnes"},
	{regexp.MustCompile(`^dots-`), "dots-studio"},
	{regexp.MustCompile(`^apertus-`), "swiss-ai"},
}

func authorOf(name string) string {
	for _, f := range families {
		if f.pattern.MatchString(name) {
			return f.author
		}
	}
	return ""
}
