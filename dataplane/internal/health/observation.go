// Package health owns what gateways know of each endpoint's recent past: a
// rolling window of outcomes and times, a breaker and the cool-downs after 429,
// and of each credential of a workspace's own whether it is refused or limited.
// It hands out frozen views for routing. It counts what this gateway sees and
// merges what others tell (exchange has the way there and back). It knows
// nothing of HTTP or of failure classes: whoever calls an upstream says what a
// call meant.
package health

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Verdict says what one upstream call means for its endpoint.
type Verdict uint8

// The verdicts.
const (
	Neutral     Verdict = iota // says nothing of the endpoint: a bad request, a caller that left
	Succeeded                  // a complete answer
	Failed                     // counts against uptime
	Unpaid                     // counts against uptime, and it cools: the account there has no money left
	RateLimited                // a 429: counted apart, and it cools
	GeoBlocked                 // counted apart
	Refused                    // the workspace's own credential was refused: 401, 402, 403 or 404
)

// Observation is one upstream call that ended.
type Observation struct {
	Endpoint string
	// Credential is the workspace's own that was used; zero for the platform's.
	// Refused and RateLimited then count on it and not on the endpoint, which
	// serves others as before.
	Credential id.Credential
	Began      time.Time // zero: when it ended
	At         time.Time // when it ended
	Verdict    Verdict
	RetryAfter time.Duration // of what cools; 0 when the provider did not say
	FirstByte  time.Duration // 0 when none came
	Generation time.Duration // from the first byte to the end

	// Of an answer, in tokens: all input, the part of it that the provider read
	// from its cache, all output. All 0: not known.
	InputTokens, CachedTokens, OutputTokens int64
}

// began is when the call began.
func (o *Observation) began() time.Time {
	if o.Began.IsZero() {
		return o.At
	}
	return o.Began
}

const (
	window       = 30 * time.Minute
	recentWindow = decide.RecentWindow
)

// The rules of the breaker and of cool-downs.
const (
	tripWindow   = 60 * time.Second
	tripMinCalls = 8
	openFirst    = 30 * time.Second
	openMost     = 15 * time.Minute
	closeAfter   = 5 // successes in the half-open state, over all gateways

	// probePercent of the requests may use a half-open endpoint as if it were
	// closed.
	probePercent = 5

	coolFirst  = 10 * time.Second
	coolMost   = 5 * time.Minute
	coolForget = 10 * time.Minute // without a 429, the doubling starts again

	// coolLongest is the longest that a provider may ask for. A deadline that is
	// further away is of a clock that was wrong, and does not count.
	coolLongest = 24 * time.Hour

	// A credential that was refused is tried last for so long, twice as long
	// each time that it is refused again after that.
	refuseFirst = 30 * time.Second
	refuseMost  = 15 * time.Minute

	// retold is how much later a deadline has to be for the others to hear of it
	// before it is over: with a retry-after each 429 of a burst moves it a little.
	retold = time.Second
)

// What merging puts up with.
const (
	// maxSkew is how far gateways' clocks may be apart.
	maxSkew  = 60 * time.Second
	maxAhead = int64(maxSkew / (10 * time.Second)) // in buckets

	// openBuckets is how many of the newest buckets are kept gateway by gateway:
	// so long, four minutes, what a gateway counted may still arrive, once or more
	// often. Of older ones there is only the sum.
	openBuckets = 24

	maxEndpoints    = 2048 // that others may make known here
	maxOwnEndpoints = 8192 // that are called from here
	maxPeers        = 256
	peerForget      = window // without a message
)
