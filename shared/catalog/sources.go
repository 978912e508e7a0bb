package catalog

import "slices"

// source says what the library does not about one of its providers.
type source struct {
	slug       string   // "" keeps the library's id
	aliases    []string // what others call it
	baseURL    string   // "" keeps the library's; the library has variables for some
	kind       ProviderType
	regions    []string
	aggregator bool
	skip       string   // why the provider is left out
	env        []string // further variables that may hold its key
	ownEnv     bool     // env instead of the library's variable, which another provider has too
}

// sources is by the library's id. A provider that is not here is taken as it
// stands.
var sources = map[string]source{
	"openai":    {baseURL: "https://api.openai.com/v1"},
	"anthropic": {baseURL: "https://api.anthropic.com"},
	"gemini": {
		slug: "google", aliases: []string{"gemini", "google-ai-studio"},
		baseURL: "https://generativelanguage.googleapis.com/v1beta", env: []string{"GOOGLE_API_KEY"},
	},
	"vertexai":       {slug: "vertex", aliases: []string{"vertexai", "google-vertex"}},
	"azure":          {aliases: []string{"azure-openai"}},
	"bedrock":        {aliases: []string{"amazon-bedrock", "aws-bedrock"}, regions: []string{"eu", "us"}},
	"bedrock-europe": {slug: "bedrock"},
	"xai":            {aliases: []string{"x-ai"}},
	"moonshot":       {aliases: []string{"moonshotai"}},
	"nebius":         {aliases: []string{"nebius-token-factory"}},
	"ionet":          {aliases: []string{"io-net"}},
	"atlascloud":     {aliases: []string{"atlas-cloud"}},
	"zai":            {aliases: []string{"z-ai"}, baseURL: "https://api.z.ai/api/paas/v4"},
	"minimax":        {baseURL: "https://api.minimax.io/v1", kind: OpenAICompatible},
	"minimax-china": {
		baseURL: "https://api.minimaxi.com/v1", kind: OpenAICompatible,
		env: []string{"MINIMAX_CHINA_API_KEY"}, ownEnv: true,
	},
	"openrouter":   {aggregator: true},
	"vercel":       {aliases: []string{"vercel-ai-gateway"}, aggregator: true, env: []string{"AI_GATEWAY_API_KEY"}},
	"huggingface":  {aggregator: true},
	"aihubmix":     {aggregator: true},
	"cortecs":      {aggregator: true, kind: OpenAICompatible},
	"venice":       {aggregator: true},
	"pioneer":      {aggregator: true},
	"qiniucloud":   {aggregator: true},
	"copilot":      {skip: "takes no API key"},
	"kimi-coding":  {skip: droppedPlan},
	"zhipu-coding": {skip: droppedPlan},
	"opencode-go":  {skip: droppedPlan},
	"opencode-zen": {skip: "speaks another format for each model"},
}

// EnvKeys are the environment variables that by custom hold the API key of a
// provider of the embedded catalog, best first. Unknown providers have none.
func EnvKeys(provider string) []string { return slices.Clone(envKeys()[provider]) }
