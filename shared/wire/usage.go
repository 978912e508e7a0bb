package wire

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// UsageSchema is the version of UsageEvent.
const UsageSchema = 1

// UsageEvent is the account of one model attempt of one request, published
// on SubjectUsage.<gateway id> in a message of its own or in a batch. It may
// come more than once: its ID tells a repeat. It is content-free: no prompt,
// output, header value or upstream text.
type UsageEvent struct {
	Schema    int          `json:"schema"`
	ID        id.Request   `json:"id"`         // of this model attempt; the row's identity
	PrimaryID id.Request   `json:"primary_id"` // equals ID for the first model of a request
	Workspace id.Workspace `json:"workspace"`
	Key       id.Key       `json:"key,omitzero"`
	User      id.User      `json:"user,omitzero"` // the key's creator
	Gateway   id.Gateway   `json:"gateway"`
	Sequence  uint64       `json:"sequence"` // of the gateway's spool, from 1 without gaps

	Surface         catalog.Surface `json:"surface"`
	Purpose         string          `json:"purpose,omitempty"` // "" for the caller's own requests
	Stream          bool            `json:"stream,omitempty"`
	ClientRequestID string          `json:"client_request_id,omitempty"`
	SessionID       string          `json:"session_id,omitempty"`
	EndUser         string          `json:"end_user,omitempty"`

	StartedAt  time.Time     `json:"started_at"`
	Duration   time.Duration `json:"duration_ns"`
	FirstByte  time.Duration `json:"first_byte_ns,omitempty"` // 0: none came
	GatewayDur time.Duration `json:"gateway_ns,omitempty"`    // time not spent waiting for upstreams

	Outcome Outcome `json:"outcome"`
	Status  int     `json:"status"` // what the caller got; 499 when it had left
	Code    string  `json:"code,omitempty"`
	Reason  string  `json:"reason,omitempty"`

	RequestedModel string `json:"requested_model,omitempty"`
	DecidedModel   string `json:"decided_model,omitempty"`
	ServedModel    string `json:"served_model,omitempty"`
	Provider       string `json:"provider,omitempty"` // who served; "" when none did
	Endpoint       string `json:"endpoint,omitempty"`
	// CredentialSource says whose credential the provider was called with last:
	// managed, byok or none; "" when nobody was called. What byok costs is the
	// workspace's own account with the provider.
	CredentialSource string `json:"credential_source,omitempty"`
	Attempts         int    `json:"attempts"` // upstream calls

	Usage      meter.Usage `json:"usage"`
	Cost       meter.Cost  `json:"cost"`
	Suppressed bool        `json:"billing_suppressed,omitempty"`
	// Charge is what the wallet pays: the cost of managed models, the fee for the
	// workspace's own credentials, nothing without billing.
	Charge          money.Nanos `json:"charge,omitempty"`
	PolicyRevision  int64       `json:"policy_revision"`
	CatalogRevision int64       `json:"catalog_revision"`

	Attribution

	// Rollout comes with the last event of a request whose dynamic route has a
	// version that is being rolled out.
	Rollout *UsageRollout `json:"rollout,omitempty"`

	Decision json.RawMessage `json:"decision,omitempty"` // decide.Record, at most 16 KiB
}

// Attribution is what a request counts toward, beside its key and workspace, as
// of the revision that it was admitted under.
type Attribution struct {
	Departments []id.Department `json:"departments,omitempty"`
	Guardrails  []id.Guardrail  `json:"guardrails,omitempty"` // that have a budget
	Agent       string          `json:"agent,omitempty"`      // at most MaxAgent bytes
	Free        bool            `json:"free,omitempty"`       // on the user's allowance of free models
	// First: the request's first model that was admitted, after others that were
	// not. It counts as the request's one, in place of them.
	First bool `json:"first,omitempty"`
}

// Outcome says how a model attempt ended.
type Outcome string

// The outcomes.
const (
	Success  Outcome = "success"
	Failed   Outcome = "error"
	Refused  Outcome = "refused"  // by the gateway, before any upstream call
	Canceled Outcome = "canceled" // the caller left
	Unknown  Outcome = "unknown"  // the gateway died before it could say
)

// Headers of a usage message. HeaderUsageSequence repeats the sequence outside
// the body, so that a body nobody can read still counts as received.
// HeaderUsageLost says that the body is a UsageLost.
const (
	HeaderUsageSequence = "Signalbox-Sequence"
	HeaderUsageLost     = "Signalbox-Lost"
)

// UsageLost says that the gateway's spool has lost records: a run of sequences,
// both ends included, for which no event will come.
type UsageLost struct {
	Gateway id.Gateway `json:"gateway"`
	First   uint64     `json:"first"`
	Last    uint64     `json:"last"`
	Reason  string     `json:"reason"`
}
