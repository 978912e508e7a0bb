package flow

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Facts is what an evaluation reads of a request and of its key.
type Facts struct {
	Request condition.Facts
	// Subject is who percentages are drawn for: the session id, else the
	// prompt_cache_key, else the end user's id, else the request's id.
	Subject string
	// SubjectHash is HashSubject of the subject where that alone is known, as
	// of a record; else 0.
	SubjectHash uint64
	Usage       Usage
}

// Usage is what the key has used in the windows that now is in.
type Usage struct{ Daily, Weekly, Monthly Bucket }

// Bucket is the usage of one window.
type Bucket struct {
	Known    bool // else it could not be read, and nothing is exceeded
	Requests int64
	Cost     money.Nanos
}

// Action is what the model nodes on a path add up to, the later one winning
// field by field, or the refusal that the path ended in. Its lists belong to
// the program and are not to be changed.
type Action struct {
	Model          string // "" keeps the caller's
	FallbackModels []string
	Mode           string // "" sets none

	Order, Only, Ignore    []string
	Sort                   string
	AllowFallbacks         *bool
	RequireParameters      *bool
	RequireZDR             *bool
	DenyTraining           *bool
	Region                 string
	MaxInputPrice          *money.PerMillion
	MaxOutputPrice         *money.PerMillion
	PreferredMaxLatency    time.Duration
	PreferredMinThroughput float64

	Cache, Session *bool // affinity

	Reject *Rejection // nil: the request goes on
}

// Rejection is what a reject node answers.
type Rejection struct {
	Node    string
	Status  int // 400 to 499
	Code    string
	Message string
}

// Slots says for each percentage node which branch each of its slots belongs
// to, by node id.
type Slots map[string]Table

// Table is the slots of one node as runs: the branch ids in turn with how many
// of the 10 000 slots follow each other.
type Table []Run

// Run is a stretch of slots of one branch.
type Run struct {
	Branch string `json:"branch"`
	Slots  int    `json:"slots"`
}
