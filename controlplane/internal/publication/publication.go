// Package publication owns the account of one change on its way to the
// gateways: what changed, at which revision, and who has applied it. It knows
// nothing of how a change is published, of SQL or of NATS.
package publication

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Publication is one committed change of a workspace.
type Publication struct {
	ID          id.Publication
	Workspace   id.Workspace
	Revision    int64    // a gateway at this revision or a later one has the change
	Changes     []string // what was done, such as "key.revoke"
	KIDs        []string // key documents that changed with it, sorted
	CreatedAt   time.Time
	PublishedAt *time.Time // nil: not in NATS yet
	Receipts    Receipts
}

// Receipts say how far a publication has come. Latencies run from commit to
// the moment a gateway applied it.
type Receipts struct {
	Gateways        int // that count: live now, or applied it before they left
	Applied         int
	Pending         int
	P50, P99        time.Duration // 0 while nobody has reported
	PendingGateways []id.Gateway  // sorted
}

// Done reports whether the change is published and no live gateway is behind.
func (p Publication) Done() bool { return p.PublishedAt != nil && p.Receipts.Pending == 0 }

// Outstanding is how many live gateways do not have the change yet. While it
// is not known to be published it is at least 1, whatever is known of gateways.
func (p Publication) Outstanding() int {
	if p.PublishedAt == nil {
		return max(1, p.Receipts.Pending)
	}
	return p.Receipts.Pending
}
