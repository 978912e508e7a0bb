package catalog

import (
	"regexp"
	"strings"
)

// naming turns a provider's own name for a model into author, name and
// region, and says why when it cannot. The rules are tables, so that a new
// release of the library is a matter of adding lines.
type naming struct {
	author, name, region string
	free                 bool
}

func (n naming) id() string {
	id := n.author + "/" + n.name
	if n.free {
		id += FreeSuffix
	}
	return id
}

// Reasons why a listing has no place in the catalog.
const (
	droppedPlan      = "sold as part of a subscription, not by the token"
	droppedVariant   = "a service level of the provider's own, not a model"
	droppedRouter    = "a router, not a model"
	droppedAuthor    = "its author is not known"
	droppedName      = "its name cannot be a canonical name"
	droppedDuplicate = "the provider lists this model already"
)

// canonical applies the rules. reason is "" when there is a place.
func canonical(provider, raw string) (n naming, reason string) {
	text := strings.ToLower(raw)
	if reason := dropped(provider, text); reason != "" {
		return n, reason
	}
	text, n.region = unwrapped(provider, text)
	text, n.free = strings.CutSuffix(text, FreeSuffix)
	if bare, ok := strings.CutSuffix(text, "-free"); ok {
		text, n.free = bare, true
	}
	text = strings.ReplaceAll(text, ":", "-") // qwen-plus:thinking
	author, name, ok := strings.Cut(text, "/")
	if ok {
		if known, ok := authors[author]; ok {
			author = known
		}
	} else if author, name = authorOf(text), text; author == "" {
		return n, droppedAuthor
	}
	for _, rule := range rewrites {
		if rule.author == "" || rule.author == author {
			name = rule.pattern.ReplaceAllString(name, rule.with)
		}
	}
	if same, ok := sameModel[author+"/"+name]; ok {
		author, name, _ = strings.Cut(same, "/")
	}
	n.author, n.name = author, name
	if !ValidModelID(n.id()) {
		return n, droppedName
	}
	return n, ""
}

// dropped finds listings that are not models sold by the token.
func dropped(provider, text string) string {
	switch {
	case text == "auto" || strings.HasPrefix(text, "openrouter/") || strings.HasPrefix(text, "syn:"):
		return droppedRouter
	case provider == "aihubmix" && strings.HasPrefix(text, "coding-"),
		strings.HasPrefix(text, "kimi-for-coding"):
		return droppedPlan
	case provider == "neuralwatt" && (strings.Contains(text, "-flex") || strings.Contains(text, "-short")),
		provider == "venice" && strings.HasPrefix(text, "e2ee-"):
		return droppedVariant
	}
	return ""
}

var (
	bedrockRegion  = regexp.MustCompile(`^(us|eu|apac|global)\.([a-z0-9]+)\.(.+)$`)
	fireworksPoint = regexp.MustCompile(`(\d)p(\d)`)
	dashedPoint    = regexp.MustCompile(`([a-z-]\d)-(\d{1,2})(-|$)`)
	venicePrefix   = regexp.MustCompile(`^(openai|zai-org|z-ai|google|nvidia|xiaomi|aion-labs)-`)
	veniceDigits   = regexp.MustCompile(`^(gpt-|minimax-m)(\d)(\d)(-|$)`)
)

// unwrapped takes off what a provider puts around its names.
func unwrapped(provider, text string) (name, region string) {
	switch provider {
	case "bedrock", "bedrock-europe":
		if m := bedrockRegion.FindStringSubmatch(text); m != nil {
			return m[2] + "/" + bedrockVersion.ReplaceAllString(m[3], ""), m[1]
		}
	case "fireworks":
		text = fireworksPoint.ReplaceAllString(strings.TrimPrefix(text, "accounts/fireworks/models/"), "$1.$2")
	case "huggingface":
		text, _, _ = strings.Cut(text, ":") // the rest names who is to serve it
	case "synthetic":
		text = strings.TrimPrefix(text, "hf:")
	case "alibaba-us":
		text = strings.TrimSuffix(text, "-us")
	case "chutes":
		text = strings.TrimSuffix(text, "-tee")
	case "aihubmix":
		text = strings.TrimPrefix(strings.TrimPrefix(text, "aihubmix-"), "aihub-")
		text = strings.TrimPrefix(text, "xiaomi-")
	case "venice":
		if strings.HasPrefix(text, "claude-") {
			break
		}
		text = venicePrefix.ReplaceAllString(text, "")
		text = veniceDigits.ReplaceAllString(text, "$1$2.$3$4")
		text = dashedPoint.ReplaceAllString(text, "$1.$2$3")
	}
	return text, ""
}

// rewrite is one rule of spelling, for one author or for all.
type rewrite struct {
	author  string
	pattern *regexp.Regexp
	with    string
}

var bedrockVersion = regexp.MustCompile(`-v\d+(:\d+)?$`)

// rewrites run in their order.
var rewrites = []rewrite{
	// Weights in another precision are the same model.
	{"", regexp.MustCompile(`-(fp8|nvfp4|bf16|int4-mixed-ar)$`), ""},
	// claude-opus4-8, claude-4-6-sonnet, claude-sonnet-4-5-20250929: the
	// documented form is claude-<tier>-<major>.<minor>.
	{"anthropic", regexp.MustCompile(`^claude-(opus|sonnet|haiku)(\d)`), "claude-$1-$2"},
	{"anthropic", regexp.MustCompile(`^claude-([4-9])-(\d)-(opus|sonnet|haiku)`), "claude-$3-$1-$2"},
	{"anthropic", regexp.MustCompile(`-\d{8}$`), ""},
	{"anthropic", regexp.MustCompile(`^(claude-[a-z]+-\d)-(\d)(-|$)`), "$1.$2$3"},
	{"anthropic", regexp.MustCompile(`^claude-3-7-`), "claude-3.7-"},
	{"amazon", bedrockVersion, ""},
	{"google", regexp.MustCompile(`^(gemma-\d-\d+b(-a\d+b)?)$`), "$1-it"},
	{"meta", regexp.MustCompile(`^meta-llama`), "llama"},
	{"meta", regexp.MustCompile(`^(llama-3\.\d-\d+b)$`), "$1-instruct"},
	{"meta", regexp.MustCompile(`^(llama-4-[a-z]+)-.*$`), "$1"},
	{"mistral", regexp.MustCompile(`^mistral-medium-3-5$`), "mistral-medium-3.5"},
	{"moonshotai", regexp.MustCompile(`^kimi-k2-instruct`), "kimi-k2"},
	{"nvidia", regexp.MustCompile(`^nvidia-`), ""},
	{"qwen", regexp.MustCompile(`^qwen-(\d)`), "qwen$1"},
	{"xai", regexp.MustCompile(`^grok-(\d)-(\d{1,2})(-|$)`), "grok-$1.$2$3"},
	{"bytedance", regexp.MustCompile(`^doubao-seed-`), "seed-"},
	{"bytedance", regexp.MustCompile(`^seed-(\d)-(\d)(-|$)`), "seed-$1.$2$3"},
}

// sameModel joins what no rule of spelling can: two names for one model.
var sameModel = map[string]string{
	"google/gemini-3-flash":                       "google/gemini-3-flash-preview",
	"google/gemini-3.1-pro":                       "google/gemini-3.1-pro-preview",
	"google/gemma-4-31b-turbo-it":                 "google/gemma-4-31b-it",
	"google/gemma-4-31b-turbo":                    "google/gemma-4-31b-it",
	"mistral/devstral-2-123b-instruct-2512":       "mistral/devstral-2512",
	"mistral/devstral-2":                          "mistral/devstral-2512",
	"mistral/mistral-large-3":                     "mistral/mistral-large-2512",
	"mistral/mistral-medium-3.5-128b":             "mistral/mistral-medium-3.5",
	"mistral/mistral-small-3.2-24b-instruct-2506": "mistral/mistral-small-3.2-24b-instruct",
	"nvidia/nemotron-3-ultra":                     "nvidia/nemotron-3-ultra-550b-a55b",
	"nvidia/nemotron-3.5-lightning-30b-a3b":       "nvidia/nemotron-3.5-lightning",
	"nvidia/nemotron-lightning-3.5-30b-a3b":       "nvidia/nemotron-3.5-lightning",
	"openai/gpt-5.2-chat-latest":                  "openai/gpt-5.2-chat",
	"qwen/qwen3-235b-a22b-2507":                   "qwen/qwen3-235b-a22b-instruct-2507",
	"qwen/qwen3-235b-a22b-thinking":               "qwen/qwen3-235b-a22b-thinking-2507",
	"qwen/qwen3-coder":                            "qwen/qwen3-coder-480b-a35b-instruct",
	"qwen/qwen3-coder-30b-a3b":                    "qwen/qwen3-coder-30b-a3b-instruct",
	"qwen/qwen3-next-80b":                         "qwen/qwen3-next-80b-a3b-instruct",
	"qwen/qwen3-vl-instruct":                      "qwen/qwen3-vl-235b-a22b-instruct",
	"meta/llama-3.1-nemotron-ultra-253b-v1":       "nvidia/llama-3.1-nemotron-ultra-253b-v1",
	"qwen/qwen3.8-2-4t-a95b":                      "qwen/qwen3.8-2.4t-a95b",
	"qwen/qwen3-vl-thinking":                      "qwen/qwen3-vl-235b-a22b-thinking",
	"sakana/sakana-namazu":                        "sakana/namazu",
	"intel/qwen3-coder-480b-a35b-instruct":        "qwen/qwen3-coder-480b-a35b-instruct",
}
