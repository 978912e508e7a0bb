package wire

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Heartbeat is what a gateway says of itself every few seconds, on
// SubjectHeartbeat.<gateway id>.
type Heartbeat struct {
	Gateway   id.Gateway `json:"gateway"`
	Instance  string     `json:"instance"` // changes with every start
	Version   string     `json:"version"`
	Address   string     `json:"address"` // where it serves inference, host:port
	StartedAt time.Time  `json:"started_at"`
	SentAt    time.Time  `json:"sent_at"`
	Stopping  bool       `json:"stopping,omitempty"` // the last one of a clean stop

	// Marks are the applied revisions of what the gateway holds.
	CatalogRevision int64            `json:"catalog_revision"`
	Workspaces      map[string]int64 `json:"workspaces,omitempty"` // id to revision, at most MaxMarks
	KeysHeld        int              `json:"keys_held"`
	SpoolPending    int64            `json:"spool_pending"`   // usage records not yet committed
	Stale           bool             `json:"stale,omitempty"` // serving from disk, NATS not reached yet

	// How far the gateway has followed each bucket.
	Keys    Position `json:"keys,omitzero"`
	Policy  Position `json:"policy,omitzero"`
	Catalog Position `json:"catalog,omitzero"`
}

// Position is a place in a bucket's stream. A gateway that states one has
// applied, or does not hold, every document up to there.
type Position struct {
	Stream   int64  `json:"stream"` // creation time in Unix ns: tells a stream that was made anew
	Sequence uint64 `json:"sequence"`
}

// Covers reports whether a gateway at p has passed what was written at q.
func (p Position) Covers(q Position) bool { return p.Stream == q.Stream && p.Sequence >= q.Sequence }

// MaxMarks bounds Heartbeat.Workspaces; a gateway that holds more leaves out
// the ones that were applied longest ago.
const MaxMarks = 512

// HeartbeatEvery is how often a gateway speaks; one that was silent for
// GatewayGoneAfter counts as gone and no publication waits for it.
const (
	HeartbeatEvery   = 2 * time.Second
	GatewayGoneAfter = 7 * time.Second
)

// Receipt acknowledges publications that a gateway has applied, on
// SubjectReceipt.<gateway id>. A receipt for revision r means ≥ r.
type Receipt struct {
	Gateway id.Gateway     `json:"gateway"`
	Applied []AppliedEntry `json:"applied"`
}

// AppliedEntry is one workspace, one key's workspace, or the catalog
// (Workspace zero) at the revision that the gateway now serves.
type AppliedEntry struct {
	Workspace id.Workspace `json:"workspace,omitzero"`
	KID       string       `json:"kid,omitempty"`
	Revision  int64        `json:"revision"`
	AppliedAt time.Time    `json:"applied_at"`
}

// MarkRequest asks for a gateway's committed usage mark, on SubjectMarks.
type MarkRequest struct {
	Gateway id.Gateway `json:"gateway"`
}

// MarkReply says that every usage record of the gateway with a spool sequence
// up to Committed is in Postgres. Error is set instead when the control plane
// could not look.
type MarkReply struct {
	Committed uint64 `json:"committed"`
	Error     string `json:"error,omitempty"`
}

// CheckRequest asks a gateway to make one cheap call with a workspace's
// credential, on SubjectCheck. The credential comes sealed, as it would by
// publication, so that one that is disabled can be checked; the gateway opens it
// for the workspace and the provider that are named here, or not at all.
type CheckRequest struct {
	Workspace id.Workspace  `json:"workspace"`
	Provider  string        `json:"provider"`         // slug
	Models    []string      `json:"models,omitempty"` // what the credential may be used for; empty: all
	Sealed    secret.Sealed `json:"sealed"`
}

// CheckReply is what came of it. Nothing in it is the provider's text.
type CheckReply struct {
	Status     CheckStatus   `json:"status,omitempty"`
	HTTPStatus int           `json:"http_status,omitempty"` // the provider's; 0: it gave no answer
	Call       CheckCall     `json:"call,omitempty"`
	Model      string        `json:"model,omitempty"` // that was asked; "" where the call needs none
	Latency    time.Duration `json:"latency_ns,omitempty"`
	// Trouble is set instead where no call was made.
	Trouble CheckTrouble `json:"trouble,omitempty"`
}

// CheckStatus is what a provider made of a credential.
type CheckStatus string

// The outcomes of a check.
const (
	CheckValid        CheckStatus = "valid"        // it took the credential
	CheckInvalid      CheckStatus = "invalid"      // it refused it
	CheckForbidden    CheckStatus = "forbidden"    // it knows it, and it may not do this
	CheckNoCredit     CheckStatus = "no_credit"    // the account cannot be charged
	CheckRateLimited  CheckStatus = "rate_limited" // it is used too much at the moment
	CheckUnreachable  CheckStatus = "unreachable"  // no answer came in time
	CheckInconclusive CheckStatus = "inconclusive" // the answer says nothing of the credential
)

// CheckCall is what a provider was asked.
type CheckCall string

// The calls, from the cheapest.
const (
	CheckListModels  CheckCall = "list_models"
	CheckCountTokens CheckCall = "count_tokens"
	CheckEmbedding   CheckCall = "embedding"  // of one word
	CheckCompletion  CheckCall = "completion" // of one token
)

// CheckTrouble says why a gateway made no call.
type CheckTrouble string

// The troubles.
const (
	CheckNotReadable CheckTrouble = "not_readable" // the request is not one
	CheckNotReady    CheckTrouble = "not_ready"    // no catalog yet, or too much to do
	CheckNoProvider  CheckTrouble = "no_provider"  // the catalog does not have it
	CheckNoModel     CheckTrouble = "no_model"     // nothing to ask that the credential is for
	CheckNotOpened   CheckTrouble = "not_opened"   // the keyring does not open the credential
)
