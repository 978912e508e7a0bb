package policy

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Routing is what one rung of the policy ladder sets. A zero field sets
// nothing.
type Routing struct {
	DefaultModel   string      `json:"default_model,omitempty"`
	Auto           bool        `json:"auto,omitempty"`            // the default model is signalbox/auto
	FallbackModels []string    `json:"fallback_models,omitempty"` // at most MaxFallbacks
	Mode           Mode        `json:"routing_mode,omitempty"`
	Provider       Preferences `json:"provider,omitzero"`
	Timeouts       Timeouts    `json:"timeouts,omitzero"`
	Retries        *int        `json:"retries,omitempty"` // at the same endpoint, at most MaxRetries; nil: as the operator set them for each provider
	Affinity       *bool       `json:"affinity,omitempty"`
}

// MaxRetries is how often a rung may have the same endpoint asked again.
const MaxRetries = 3

// MaxFallbacks is how many fallback models a rung may name.
const MaxFallbacks = 8

// Preferences say which providers may serve, and in which order. Only and
// Ignore are restrictions, and so are the Require members, DenyTraining,
// Region and the prices; the others are preferences.
type Preferences struct {
	Order          []string `json:"order,omitempty"`
	Only           []string `json:"only,omitempty"`
	Ignore         []string `json:"ignore,omitempty"`
	AllowFallbacks *bool    `json:"allow_fallbacks,omitempty"`
	Sort           Mode     `json:"sort,omitempty"` // "" none; price, latency or throughput: a fixed order

	RequireParameters bool              `json:"require_parameters,omitempty"`
	RequireZDR        bool              `json:"require_zero_data_retention,omitempty"`
	DenyTraining      bool              `json:"deny_training,omitempty"`
	Region            string            `json:"required_region,omitempty"`
	MaxInputPrice     *money.PerMillion `json:"max_input_price,omitempty"`
	MaxOutputPrice    *money.PerMillion `json:"max_output_price,omitempty"`

	PreferredMaxLatency    time.Duration `json:"preferred_max_latency_ns,omitempty"`
	PreferredMinThroughput float64       `json:"preferred_min_throughput,omitempty"`
	CacheAware             *bool         `json:"cache_aware_routing,omitempty"`
}

// Timeouts bound a request; 0 leaves a bound to the next wider rung.
type Timeouts struct {
	FirstByte time.Duration `json:"first_byte_ns,omitempty"` // of one upstream call
	Request   time.Duration `json:"request_ns,omitempty"`    // with all its attempts
}

// Profile is a named set of routing fields, bound to the workspace, to
// departments and to keys.
type Profile struct {
	ID      id.Profile `json:"id"`
	Name    string     `json:"name"`
	Routing Routing    `json:"routing"`
}

// Department is a part of a workspace that keys belong to.
type Department struct {
	ID      id.Department `json:"id"`
	Name    string        `json:"name"`
	Profile id.Profile    `json:"profile,omitzero"`
}
