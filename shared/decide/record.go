package decide

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// Bounds of a record.
const (
	MaxRecordBytes      = 16 << 10
	MaxRecordCandidates = 128 // listed; the first MaxScoredCandidates with factors
	MaxScoredCandidates = 16
)

// Record is the content-free account of why a request went where it went. It
// holds no prompt, output, header value or upstream text. The first part is
// written by Decide; the attempts and what follows are filled from what
// happened.
type Record struct {
	RequestedModel string `json:"requested_model"`
	DecidedModel   string `json:"decided_model,omitempty"`
	ServedModel    string `json:"served_model,omitempty"` // as the upstream named it

	DecidedProvider string       `json:"decided_provider,omitempty"`
	ServedProvider  string       `json:"served_provider,omitempty"`
	DecidedUpstream string       `json:"decided_upstream,omitempty"` // endpoint id
	SwitchReason    SwitchReason `json:"routing_switch_reason,omitempty"`
	Override        string       `json:"routing_override,omitempty"`
	Degraded        []string     `json:"routing_degraded,omitempty"` // preferences that the target cannot express

	// Lifecycle is the decided model's state unless it is active: a deprecated
	// model's reply carries a deprecation header.
	Lifecycle catalog.LifecycleState `json:"model_lifecycle,omitempty"`

	PolicyRevision  int64  `json:"policy_revision"`
	CatalogRevision int64  `json:"catalog_revision"`
	Seed            uint64 `json:"seed,string"`

	Route  *RouteTrace  `json:"route,omitempty"`
	Preset *PresetTrace `json:"preset,omitempty"`
	// Recollection is a Recollection, of the first model's turn alone.
	Recollection json.RawMessage `json:"replay,omitempty"`

	Policy     []ResolvedField   `json:"policy,omitempty"` // each resolved field with the rung it came from
	Chain      []string          `json:"chain,omitempty"`  // models in order
	Ordering   Ordering          `json:"ordering,omitempty"`
	Rankings   []Ranking         `json:"rankings,omitempty"` // one for each model of the chain whose candidates have factors
	Candidates []RankedCandidate `json:"candidates,omitempty"`
	Exclusions []Exclusion       `json:"exclusions,omitempty"`
	Auto       *AutoTrace        `json:"auto,omitempty"` // how signalbox/auto chose
	Affinity   *AffinityTrace    `json:"affinity,omitempty"`

	Limits   []LimitCheck    `json:"limits,omitempty"`
	Attempts []AttemptRecord `json:"attempts,omitempty"`
	Refusal  *RefusalRecord  `json:"refusal,omitempty"`
	Usage    *meter.Usage    `json:"usage,omitempty"`
	Cost     *meter.Cost     `json:"cost,omitempty"`

	// Truncated counts the entries left out to stay within MaxRecordBytes.
	Truncated int `json:"truncated,omitempty"`
}

// SwitchReason says why something other than the first choice served.
type SwitchReason string

// The switch reasons.
const (
	SwitchFallbackProvider SwitchReason = "fallback_provider"
	SwitchFallbackModel    SwitchReason = "fallback_model"
	SwitchDynamicRoute     SwitchReason = "dynamic_route"
	SwitchRule             SwitchReason = "rule"
	SwitchRetired          SwitchReason = "retired"
	SwitchAuto             SwitchReason = "auto"
	SwitchSessionPin       SwitchReason = "session_pin"
	SwitchProviderAlias    SwitchReason = "provider_alias"
)

// Ordering says whether the candidates' order is the same for every seed.
type Ordering string

// The orderings.
const (
	Fixed   Ordering = "fixed"
	Sampled Ordering = "sampled"
)

// RouteTrace is the dynamic route's part in a decision.
type RouteTrace struct {
	ID      string   `json:"id"`
	Version int      `json:"version"`
	Nodes   []string `json:"nodes"` // visited, in order
	// While a version is rolled out: which rollout, and which of the two versions
	// the request was sent through.
	Rollout string `json:"rollout,omitempty"`
	Arm     Arm    `json:"arm,omitempty"`
}

// Arm is one of the two versions of a route that a rollout compares.
type Arm string

// The arms.
const (
	ArmStable    Arm = "stable"
	ArmCandidate Arm = "candidate"
)

// PresetTrace is the preset's part in a decision.
type PresetTrace struct {
	Slug    string `json:"slug"`
	Version int    `json:"version"`
}

// ResolvedField is one routing field with its rung of the ladder.
type ResolvedField struct {
	Field string `json:"field"`
	Rung  string `json:"rung"` // see Rung
	Value string `json:"value"`
	// Guardrail is the id of the guardrail that says so; "" of a rung's own.
	Guardrail string `json:"guardrail,omitempty"`
}

// RankedCandidate is one candidate with what went into its rank.
type RankedCandidate struct {
	Model    string  `json:"model"`
	Endpoint string  `json:"endpoint"`
	Provider string  `json:"provider"`
	Rank     int     `json:"rank"`
	Score    float64 `json:"score"` // lower is better, in the unit of the model's Ranking
	// Share is how often a request like this one tries the candidate first: the
	// shares of a model add up to 1. Those that are there for failures only
	// have none.
	Share float64 `json:"share,omitempty"`
	// What puts a candidate before or behind others whatever its score.
	Listed     bool     `json:"listed,omitempty"` // in provider.order
	Pinned     bool     `json:"pinned,omitempty"` // the conversation's turns go there
	FirstParty bool     `json:"first_party,omitempty"`
	Missed     bool     `json:"missed_preference,omitempty"` // of latency or throughput
	Deranked   bool     `json:"deranked,omitempty"`
	Cooling    bool     `json:"cooling,omitempty"` // or its breaker is open
	Factors    []Factor `json:"factors,omitempty"`
}

// Exclusion is one endpoint that a filter dropped.
type Exclusion struct {
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	Stage    string `json:"stage"`
	Reason   string `json:"reason"`
	// Rung is the widest rung whose restriction it was; "" where it was none's.
	Rung string `json:"rung,omitempty"`
	// Guardrail is the id of the guardrail whose restriction it was.
	Guardrail string `json:"guardrail,omitempty"`
}

// AffinityTrace is the part that a conversation's pins had in a decision.
type AffinityTrace struct {
	Source   string     `json:"source,omitempty"`      // session, prompt_cache_key, opening; none when affinity is off
	Off      string     `json:"off,omitempty"`         // the switch that took affinity or the session id away
	Hit      bool       `json:"hit"`                   // there was a pin for the decided model
	Endpoint string     `json:"endpoint,omitempty"`    // that it was at
	Applied  bool       `json:"applied,omitempty"`     // and that was tried first
	Ignored  string     `json:"ignored,omitempty"`     // else: what ordered otherwise, the pin stays
	Break    CacheBreak `json:"cache_break,omitempty"` // or why the conversation leaves it
	MovedTo  string     `json:"moved_to,omitempty"`    // where its turns go from now on
	Hint     bool       `json:"hint,omitempty"`        // the provider was told, where it knows how
	// Of requests that name no model.
	Model      string     `json:"model,omitempty"`       // the session's
	ModelBreak CacheBreak `json:"model_break,omitempty"` // why it was not, or will not be, that
}

// LimitCheck is one gate's view at admission. Costs are in nano-USD.
type LimitCheck struct {
	Scope  string `json:"scope"`
	ID     string `json:"id,omitempty"`     // of the policy, the budget, or whose limit it is
	Metric string `json:"metric,omitempty"` // requests, tokens, concurrent, cost, credit
	Window string `json:"window,omitempty"` // minute, daily, weekly, monthly, lifetime
	Used   int64  `json:"used"`
	Limit  int64  `json:"limit"`
	OK     bool   `json:"ok"`
	// Asked is what had to be kept back for the request and did not fit, and Held
	// what others kept back meanwhile; only of a hard limit that refused.
	Asked int64 `json:"asked,omitempty"`
	Held  int64 `json:"held,omitempty"`
	// Unknown: what is used could not be told in time.
	Unknown bool `json:"unknown,omitempty"`
}

// AttemptRecord is one upstream call.
type AttemptRecord struct {
	Model        string           `json:"model"`
	Provider     string           `json:"provider"`
	Endpoint     string           `json:"endpoint"`
	Credential   CredentialSource `json:"credential"`
	CredentialID id.Credential    `json:"credential_id,omitzero"` // of a workspace's own
	Started      time.Time        `json:"started_at"`
	FirstByte    time.Duration    `json:"first_byte_ns,omitempty"`
	Duration     time.Duration    `json:"duration_ns"`
	Status       int              `json:"status,omitempty"`  // the upstream's; 0 when none came
	Failure      string           `json:"failure,omitempty"` // class; "" for success
	Retryable    bool             `json:"retryable,omitempty"`
	Reason       string           `json:"reason"` // why this one was tried: first_choice, fallback_provider, retry …
}

// RefusalRecord is the error that the caller got.
type RefusalRecord struct {
	Code   string `json:"code"`
	Reason string `json:"reason,omitempty"`
	Stage  string `json:"stage,omitempty"` // the filter that emptied the pool
}
