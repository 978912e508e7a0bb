// Package policy owns the published language between the planes: the
// immutable snapshot of one workspace at one revision, the document of one API
// key, their encoding and digest, and the frozen view that gateways read. It
// knows nothing of Postgres, NATS or HTTP.
package policy

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Schema is the version of the published form of pointers, plain key documents
// and plain snapshots. A gateway refuses what is newer than it knows and keeps what
// it has.
const Schema = 1

// A snapshot's schema says what its reader has to understand. Unknown members
// are ignored, so that whatever restricts needs a schema of its own: a gateway
// that does not know the restriction would serve without it, and say that it
// has the policy.
const (
	schemaGuardrails = 2
	schemaRoutes     = 3 // and presets
	schemaLimits     = 4
	newestSnapshot   = schemaLimits
)

// Snapshot is everything about a workspace that a gateway must know, keys
// excluded. It never changes after it was published.
type Snapshot struct {
	Schema    int             `json:"schema"` // as Versioned sets it
	Workspace id.Workspace    `json:"workspace"`
	Revision  int64           `json:"revision"` // rises with every change of the workspace
	Status    WorkspaceStatus `json:"status"`
	Tags      []string        `json:"tags,omitempty"` // set by operators, sorted
	Settings  Settings        `json:"settings"`

	Profiles    []Profile    `json:"profiles,omitempty"`    // all of the workspace, sorted by id
	Profile     id.Profile   `json:"profile,omitzero"`      // bound to the workspace itself
	Departments []Department `json:"departments,omitempty"` // all of the workspace, sorted by id
	Members     []Membership `json:"members,omitempty"`     // of departments, sorted by user
	Guardrails  []Guardrail  `json:"guardrails,omitempty"`  // enabled ones, sorted by id
	Routes      []Route      `json:"routes,omitempty"`      // active ones with a deployed version, sorted by id
	Presets     []Preset     `json:"presets,omitempty"`     // with a deployed version, sorted by slug
	Recordings  []Recording  `json:"recordings,omitempty"`  // sorted by route
	// ReplayKey is what recorded texts are hidden under, of ReplayKeyLen bytes;
	// there where something is recorded.
	ReplayKey []byte `json:"replay_key,omitempty"`

	Credentials []Credential `json:"credentials,omitempty"` // enabled ones, in the order in which they are tried
	Auto        *Auto        `json:"auto,omitempty"`        // nil: DefaultAuto
	Limits      *Limits      `json:"limits,omitempty"`      // nil: nothing is limited
}

// Versioned is s with the lowest schema whose readers understand all of it. The
// pointer to it stays what every version reads: one that was not readable would
// be passed over, not missed.
func (s Snapshot) Versioned() Snapshot {
	s.Schema = Schema
	if len(s.Guardrails) > 0 {
		s.Schema = schemaGuardrails
	}
	if len(s.Routes)+len(s.Presets) > 0 {
		s.Schema = schemaRoutes
	}
	if s.Limits != nil {
		s.Schema = schemaLimits
	}
	return s
}

// WorkspaceStatus says whether a workspace may be used.
type WorkspaceStatus string

// The workspace states.
const (
	WorkspaceActive  WorkspaceStatus = "active"
	WorkspaceDeleted WorkspaceStatus = "deleted" // its keys are refused
)

// Mode is how candidates are ordered.
type Mode string

// The routing modes.
const (
	Balanced   Mode = "balanced"
	Price      Mode = "price"
	Latency    Mode = "latency"
	Throughput Mode = "throughput"
)

// Settings is the workspace rung of the policy ladder, and the switches that
// hold for the whole workspace.
type Settings struct {
	RoutingMode        Mode     `json:"routing_mode"`
	DefaultModel       string   `json:"default_model,omitempty"`
	FallbackModels     []string `json:"fallback_models,omitempty"` // at most 8
	BetaChannel        bool     `json:"beta_channel,omitempty"`
	AlphaChannel       bool     `json:"alpha_channel,omitempty"` // needs BetaChannel
	BYOKFallback       bool     `json:"byok_fallback_enabled"`
	RetiredRouting     bool     `json:"retired_model_routing,omitempty"`
	ModelsWithoutModel string   `json:"models_without_model"` // reject or use_first
	MaxAttempts        int      `json:"max_attempts"`         // upstream calls for one request, 1 to 20
	MaxModels          int      `json:"max_models"`           // models in a chain, 1 to 34
	CacheAwareRouting  bool     `json:"cache_aware_routing"`
	ReplayValues       bool     `json:"replay_values,omitempty"`
	LogRetentionDays   int      `json:"log_retention_days"` // 1 to 3650
	RequireZDR         bool     `json:"require_zero_data_retention,omitempty"`
	DenyTraining       bool     `json:"deny_training,omitempty"`
}

// The values of Settings.ModelsWithoutModel.
const (
	ModelsReject   = "reject"
	ModelsUseFirst = "use_first"
)

// DefaultSettings are those of a new workspace.
func DefaultSettings() Settings {
	return Settings{
		RoutingMode:        Balanced,
		BYOKFallback:       true,
		ModelsWithoutModel: ModelsReject,
		MaxAttempts:        8,
		MaxModels:          34,
		CacheAwareRouting:  true,
		LogRetentionDays:   30,
	}
}

// Pointer names the body of a snapshot or a catalog. It is the only thing that
// moves; bodies are write-once.
type Pointer struct {
	Schema    int       `json:"schema"`
	Revision  int64     `json:"revision"`
	Digest    string    `json:"digest"` // hex SHA-256 of the body
	Size      int       `json:"size"`   // bytes of the body
	Where     Where     `json:"where"`
	Name      string    `json:"name"` // key or object name
	Published time.Time `json:"published_at"`
	Previous  []Body    `json:"previous,omitempty"` // older bodies that are still kept, newest first
}

// Body names a stored body.
type Body struct {
	Where Where  `json:"where"`
	Name  string `json:"name"`
}

// Where says which store holds a body.
type Where string

// The stores.
const (
	InKV     Where = "kv"
	InObject Where = "object"
)
