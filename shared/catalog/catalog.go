// Package catalog owns what can be bought: providers, models, endpoints and
// their prices, the embedded default, the YAML form, and the compiled view
// that routing reads. It knows nothing of tenants, requests or transport.
package catalog

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Schema is the version of the published form. A gateway refuses others and
// keeps what it has.
const Schema = 1

// Catalog is the published form: every provider and model at one revision.
type Catalog struct {
	Schema    int        `json:"schema"`
	Revision  int64      `json:"revision"`
	Providers []Provider `json:"providers"` // sorted by slug
	Models    []Model    `json:"models"`    // sorted by id
}

// ProviderType names the wire format that a provider speaks.
type ProviderType string

// The provider types.
const (
	OpenAI           ProviderType = "openai"
	Anthropic        ProviderType = "anthropic"
	Google           ProviderType = "google"
	Azure            ProviderType = "azure"
	Bedrock          ProviderType = "bedrock"
	Vertex           ProviderType = "vertex"
	OpenAICompatible ProviderType = "openai-compatible"
)

// ProviderTypes lists every provider type.
func ProviderTypes() []ProviderType {
	return []ProviderType{OpenAI, Anthropic, Google, Azure, Bedrock, Vertex, OpenAICompatible}
}

// Bounds of what an operator may set.
const (
	MaxRetry  = 3 // retries at the same provider
	MaxDerank = 3
)

// Provider is a company or server that runs models.
type Provider struct {
	Slug       string       `json:"slug"` // lower case, [a-z0-9-]
	Name       string       `json:"name,omitempty"`
	Aliases    []string     `json:"aliases,omitempty"`
	Type       ProviderType `json:"type"`
	BaseURL    string       `json:"base_url"` // see Address; openai kinds end in /v1
	Regions    []string     `json:"regions,omitempty"`
	DataPolicy DataPolicy   `json:"data_policy"`
	Retry      Retry        `json:"retry"`
	Disabled   bool         `json:"disabled,omitempty"`
	Aggregator bool         `json:"aggregator,omitempty"` // routes further itself
	Quirks     *Quirks      `json:"quirks,omitempty"`     // of the openai kinds; nil: none
	// CacheRetention is how long the provider keeps what it cached of a prompt,
	// between uses; 0 is the default of the type. See CacheLifetime.
	CacheRetention time.Duration `json:"cache_retention_ns,omitempty"`

	// APIVersion turns azure to the paths of deployments, which take one:
	// "2024-10-21".
	APIVersion string `json:"api_version,omitempty"`
	// Project is Google Cloud's, for vertex.
	Project string `json:"project,omitempty"`
	// Location is the cloud's region that endpoints without one of their own are
	// called in, for vertex and bedrock. See Address.
	Location string `json:"location,omitempty"`

	// Credential is the platform's own key for the provider, sealed with the
	// associated data "platform" and the slug. Empty: the provider cannot be
	// used without a key of the workspace, unless Keyless.
	Credential secret.Sealed `json:"credential,omitempty"`
	// Keyless providers, such as a local server, take no key.
	Keyless bool `json:"keyless,omitempty"`
}

// DataPolicy says what a provider does with what it is sent. A nil member is
// unknown, and unknown satisfies no restriction.
type DataPolicy struct {
	Trains            *bool `json:"trains,omitempty"`
	Retains           *bool `json:"retains,omitempty"`
	ZeroDataRetention *bool `json:"zero_data_retention,omitempty"`
}

// Retry bounds the retries at the same provider.
type Retry struct {
	Max int `json:"max"` // 0 to 3
}

// Model is one canonical model with all its endpoints.
type Model struct {
	ID           string      `json:"id"` // author/model
	Author       string      `json:"author"`
	Name         string      `json:"name,omitempty"`
	Aliases      []string    `json:"aliases,omitempty"`
	Context      int64       `json:"context,omitempty"`    // tokens; 0 unknown
	MaxOutput    int64       `json:"max_output,omitempty"` // tokens; 0 unknown
	Input        []Modality  `json:"input_modalities,omitempty"`
	Output       []Modality  `json:"output_modalities,omitempty"`
	Capabilities []string    `json:"capabilities,omitempty"` // tools, structured_output, reasoning, vision …
	Lifecycle    Lifecycle   `json:"lifecycle"`
	Endpoints    []Endpoint  `json:"endpoints"`
	Benchmarks   []Benchmark `json:"benchmarks,omitempty"`
	Rules        []Rule      `json:"rules,omitempty"` // the first that matches decides
}

// Modality is a kind of content.
type Modality string

// The modalities.
const (
	Text      Modality = "text"
	Image     Modality = "image"
	Audio     Modality = "audio"
	Video     Modality = "video"
	File      Modality = "file"
	Embedding Modality = "embedding"
)

// LifecycleState says how long a model will be there.
type LifecycleState string

// The lifecycle states.
const (
	Active     LifecycleState = "active"
	Deprecated LifecycleState = "deprecated"
	Retired    LifecycleState = "retired"
)

// Lifecycle is a model's state with its dates.
type Lifecycle struct {
	State        LifecycleState `json:"state"` // "" is active
	DeprecatedAt *time.Time     `json:"deprecated_at,omitempty"`
	RetiresAt    *time.Time     `json:"retires_at,omitempty"`
	Replacement  string         `json:"replacement,omitempty"` // canonical id
}

// Benchmark is a published score of a model, from 0 to 100.
type Benchmark struct {
	ID           string  `json:"id"`
	Score        float64 `json:"score"`
	SelfReported bool    `json:"self_reported,omitempty"`
}

// Channel says how finished an endpoint is.
type Channel string

// The channels.
const (
	Stable Channel = "stable"
	Beta   Channel = "beta"
	Alpha  Channel = "alpha"
)

// Endpoint is one model at one provider, optionally in one region: what a
// request is finally sent to.
type Endpoint struct {
	ID            string    `json:"id"`       // provider:author/model, with @region where it has one
	Provider      string    `json:"provider"` // slug
	Region        string    `json:"region,omitempty"`
	UpstreamModel string    `json:"upstream_model"`
	Price         *Price    `json:"price,omitempty"` // nil: unknown
	Context       int64     `json:"context,omitempty"`
	MaxOutput     int64     `json:"max_output,omitempty"`
	Surfaces      []Surface `json:"surfaces,omitempty"`   // empty: those of the provider's type
	Parameters    []string  `json:"parameters,omitempty"` // empty: not known, so everything is tried
	Channel       Channel   `json:"channel,omitempty"`    // "" is stable
	Derank        int       `json:"derank,omitempty"`     // 0 to 3: tried after endpoints of a lower derank
	Disabled      bool      `json:"disabled,omitempty"`
}

// Price is what an endpoint charges. Token and unit prices are nano-USD per
// million; a nil member is unknown or does not apply, and then the meter it
// is for falls back as meter.Bill documents.
type Price struct {
	Input        *money.PerMillion `json:"input,omitempty"`
	Output       *money.PerMillion `json:"output,omitempty"`
	CachedInput  *money.PerMillion `json:"cached_input,omitempty"`
	CacheWrite5m *money.PerMillion `json:"cache_write_5m,omitempty"`
	CacheWrite1h *money.PerMillion `json:"cache_write_1h,omitempty"`
	Reasoning    *money.PerMillion `json:"reasoning,omitempty"`
	Image        *money.PerMillion `json:"image,omitempty"`
	Audio        *money.PerMillion `json:"audio,omitempty"`
	Request      money.Nanos       `json:"request,omitempty"` // for each request
	Tiers        []Tier            `json:"tiers,omitempty"`   // ascending by Above
}

// Tier replaces prices for requests with more input than Above.
type Tier struct {
	Above int64 `json:"above"` // input tokens
	Price Price `json:"price"` // its own Tiers are ignored
}
