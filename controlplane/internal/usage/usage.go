// Package usage owns what inference used and cost: it takes usage events from
// the stream into the request log exactly once, keeps hourly totals and those
// of accounts beside them, tells gateways how far that has come, deletes what is past its
// retention, and answers questions about all of it. It knows nothing of SQL;
// the store does.
package usage

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Entry is the account of one model attempt, content-free. A request whose
// models were tried in turn has one Entry for each, with one PrimaryID.
type Entry struct {
	ID        id.Request
	PrimaryID id.Request // of the request's first model; equals ID for it
	Workspace id.Workspace
	Key       id.Key  // zero without one
	User      id.User // the key's creator; zero without one
	Gateway   id.Gateway
	Sequence  uint64 // of the gateway's spool

	Surface         catalog.Surface
	Purpose         string // "" for the caller's own requests
	Stream          bool
	ClientRequestID string
	SessionID       string
	EndUser         string

	StartedAt time.Time // the time inside ID, in milliseconds; it chooses the partition
	Duration  time.Duration
	FirstByte time.Duration // 0: none came
	Overhead  time.Duration // time not spent waiting for upstreams

	Outcome wire.Outcome
	Status  int    // what the caller got; 0 when nobody knows
	Code    string // fault code
	Reason  string

	RequestedModel string
	DecidedModel   string
	ServedModel    string
	Provider       string
	Endpoint       string
	Attempts       int // upstream calls
	// CredentialSource says whose credential the provider was called with last:
	// managed, byok or none; "" when nobody was called.
	CredentialSource string

	Usage      meter.Usage
	Cost       meter.Cost
	Suppressed bool        // a reply without output, which is not charged
	Charge     money.Nanos // what the wallet pays

	PolicyRevision  int64
	CatalogRevision int64

	wire.Attribution // what it counts toward beside its key and workspace

	// Rollout is counted when the entry comes in, and not kept in the log, where
	// the decision says the same.
	Rollout *wire.UsageRollout

	Decision []byte // decide.Record as JSON; nil when there is none, and in lists
}

// Primary reports whether e is the first model attempt of its request.
func (e Entry) Primary() bool { return e.ID == e.PrimaryID }

// DeadLetter is a message that cannot become an Entry, kept with the reason for
// a person to look at.
type DeadLetter struct {
	Fingerprint [32]byte // of the message, so that a repeat is kept once
	Gateway     id.Gateway
	Run         Run // the sequences it stands for; zero when unknown
	Subject     string
	Reason      string
	Body        []byte // at most MaxDeadBody
	Lost        bool   // a gateway's report that its spool lost Run; worth keeping only if Run never arrived
}

// MaxDeadBody is how much of an unreadable message is kept, in bytes.
const MaxDeadBody = 64 << 10

// Arrival says that a gateway's run of sequences is accounted for.
type Arrival struct {
	Gateway id.Gateway
	Run     Run
}

// Batch is what one transaction stores.
type Batch struct {
	Entries  []Entry // sorted by Compare, one for each id
	Dead     []DeadLetter
	Arrivals []Arrival // sorted by gateway
}

// Written says what a Batch changed.
type Written struct {
	Inserted int // entries that are new
	Upgraded int // entries that took the place of one with outcome unknown
	Repeated int // entries that were there
	Dead     int // dead letters that are new
}
