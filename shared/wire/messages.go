package wire

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
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
