// Package flow owns dynamic-route graphs: their form, what is wrong with one,
// the slots of their percentages, and their evaluation. It is pure: what a
// request has and what its key has used is looked up before and passed in. It
// knows nothing of the policy ladder, of keys or of versions' storage.
package flow

import "github.com/signalbox-dev/signalbox/shared/condition"

// SchemaVersion is the form of graphs that this package reads and writes.
const SchemaVersion = 1

// The bounds of a graph.
const (
	MaxBytes       = 60_000 // as JSON without blanks
	MaxNodes       = 64
	MaxFallbacks   = 8 // of one model node
	MinBranches    = 2
	MaxBranches    = 10
	MaxProviders   = 64                     // of one list
	MaxID          = 80                     // bytes of a node's or a branch's id
	MaxLabel       = 120                    // characters
	MaxMessage     = 500                    // bytes, of a reject node
	MaxReasonBytes = 64                     // of a reject node's code
	MaxSteps       = 4 * condition.MaxSteps // of the regular expressions of all its conditions
)

// Graph is a dynamic route as it is written. It is valid once Check found
// nothing.
type Graph struct {
	SchemaVersion int       `json:"schema_version"`
	Entry         string    `json:"entry"` // id of the start node
	Nodes         []Node    `json:"nodes"`
	Affinity      *Affinity `json:"affinity,omitempty"`
}

// NodeType says what a node does.
type NodeType string

// The node types.
const (
	Start       NodeType = "start"
	When        NodeType = "condition"
	Percentage  NodeType = "percentage"
	RateLimit   NodeType = "rate_limit"
	BudgetLimit NodeType = "budget_limit"
	Model       NodeType = "model"
	Reject      NodeType = "reject"
	End         NodeType = "end"
)

// Node is one node. Which fields it takes depends on its type.
type Node struct {
	ID    string   `json:"id"`
	Type  NodeType `json:"type"`
	Label string   `json:"label,omitempty"`
	// Position is where an editor draws the node; nothing is decided by it.
	Position *Position `json:"position,omitempty"`

	Next string `json:"next,omitempty"` // of start and model

	When  *condition.Condition `json:"when,omitempty"` // of condition
	True  string               `json:"true,omitempty"`
	False string               `json:"false,omitempty"`

	Branches []Branch `json:"branches,omitempty"` // of percentage

	Window      Window `json:"window,omitempty"`       // of rate_limit and budget_limit
	MaxRequests *int64 `json:"max_requests,omitempty"` // of rate_limit
	MaxCostUSD  string `json:"max_cost_usd,omitempty"` // of budget_limit: a decimal amount
	Within      string `json:"within,omitempty"`
	Exceeded    string `json:"exceeded,omitempty"`

	Model          string    `json:"model,omitempty"` // of model; "" keeps the caller's
	RoutingMode    string    `json:"routing_mode,omitempty"`
	Provider       *Provider `json:"provider,omitempty"`
	AllowFallbacks *bool     `json:"allow_fallbacks,omitempty"`
	// FallbackModels, like the lists of Provider, sets none when it is empty,
	// and leaves what an earlier node set when it is nil.
	FallbackModels []string  `json:"fallback_models,omitzero"`
	Affinity       *Affinity `json:"affinity,omitempty"`

	Status  int    `json:"status,omitempty"` // of reject: 400 to 499
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Position is a place on an editor's canvas.
type Position struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Branch is one way out of a percentage.
type Branch struct {
	ID      string  `json:"id"`
	Label   string  `json:"label,omitempty"`
	Percent Percent `json:"percent"`
	Next    string  `json:"next"`
}

// Percent is a share in hundredths of a percent, 0 to 10 000. In JSON it is a
// number of percents with at most two decimals.
type Percent int

// Affinity switches the two kinds of affinity; nil leaves one as it is.
type Affinity struct {
	Cache   *bool `json:"cache,omitempty"`
	Session *bool `json:"session,omitempty"`
}

// Window is a span of a key's usage, in UTC.
type Window string

// The windows.
const (
	Daily   Window = "daily"
	Weekly  Window = "weekly" // from Monday
	Monthly Window = "monthly"
)

// Provider is a model node's preferences, in the words of a request's
// "provider" object.
type Provider struct {
	Order             []string  `json:"order,omitzero"`
	Only              []string  `json:"only,omitzero"`
	Ignore            []string  `json:"ignore,omitzero"`
	Sort              string    `json:"sort,omitempty"` // price, latency or throughput
	RequireParameters *bool     `json:"require_parameters,omitempty"`
	RequireZDR        *bool     `json:"require_zero_data_retention,omitempty"`
	DenyTraining      *bool     `json:"deny_training,omitempty"`
	Region            string    `json:"required_region,omitempty"`
	MaxPrice          *MaxPrice `json:"max_price,omitempty"`
	// In seconds, and tokens a second.
	PreferredMaxLatency    *float64 `json:"preferred_max_latency,omitempty"`
	PreferredMinThroughput *float64 `json:"preferred_min_throughput,omitempty"`
}

// MaxPrice is in decimal USD per million tokens.
type MaxPrice struct {
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
}
