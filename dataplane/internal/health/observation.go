// Package health owns what this gateway knows of each endpoint's recent past:
// a rolling window of outcomes and times, a breaker and the cool-downs after
// 429. It hands out frozen views for routing. It knows nothing of HTTP or of
// failure classes: whoever calls an upstream says what a call meant.
package health

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Verdict says what one upstream call means for its endpoint.
type Verdict uint8

// The verdicts.
const (
	Neutral     Verdict = iota // says nothing of the endpoint: a bad request, a caller that left
	Succeeded                  // a complete answer
	Failed                     // counts against uptime
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
	Credential   id.Credential
	At           time.Time // when it ended
	Verdict      Verdict
	RetryAfter   time.Duration // of a 429; 0 when the provider did not say
	FirstByte    time.Duration // 0 when none came
	Generation   time.Duration // from the first byte to the end
	OutputTokens int64
}

// The rules of the breaker and of cool-downs.
const (
	window      = 30 * time.Minute
	bucketWidth = 10 * time.Second

	tripWindow   = 60 * time.Second
	tripMinCalls = 8
	openFirst    = 30 * time.Second
	openMost     = 15 * time.Minute
	closeAfter   = 5 // successes in the half-open state

	// probePercent of the requests may use a half-open endpoint as if it were
	// closed.
	probePercent = 5

	coolFirst  = 10 * time.Second
	coolMost   = 5 * time.Minute
	coolForget = 10 * time.Minute // without a 429, the doubling starts again

	// A credential that was refused is tried last for so long, twice as long
	// each time that it is refused again after that.
	refuseFirst = 30 * time.Second
	refuseMost  = 15 * time.Minute
)
