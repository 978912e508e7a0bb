package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Health answers what is known of endpoints and of workspaces' own provider
// credentials. Implementations are frozen values: a decision may ask twice and
// must get the same answer.
type Health interface {
	// Endpoint returns the view of the endpoint with this id.
	Endpoint(endpointID string) EndpointHealth
	// Credential returns the view of a workspace's own credential.
	Credential(credential id.Credential) CredentialHealth
}

// RecentWindow is the stretch that EndpointHealth's times, Throughput, Errors
// and RateLimited cover. The window of the other fields (30 minutes) is too
// long for them: it would take a quarter of an hour of slow answers to move a
// median, as long again to come back to a provider that has recovered, and
// `make bench-routing` shows what that costs.
const RecentWindow = 2 * time.Minute

// FewRecent answers in RecentWindow, or fewer, say too little about times: the
// whole window is taken then.
const FewRecent = 10

// EndpointHealth is what routing reads of an endpoint's recent past. The zero
// value of each field means "nothing known", which is neutral: weights.go says
// what stands in for it. A value that cannot be (NaN, negative, a share above
// one) counts as not known.
type EndpointHealth struct {
	// Calls are those in the window that succeeded or failed: neither rate
	// limits nor anything else that says nothing about uptime. Success is the
	// share of them that succeeded, from 0 to 1. Both are as measured: ranking
	// smooths them itself.
	Calls   int64
	Success float64

	// FirstByte is the median time to the first byte of the calls answered in
	// the last RecentWindow, or in the whole window when those are at most
	// FewRecent, and FirstByteP95 the 95th percentile of the same calls. For a
	// reply that is not streamed, the first byte of the body. Throughput is
	// the median, over the same calls, of output tokens per second after the
	// first byte.
	FirstByte    time.Duration
	FirstByteP95 time.Duration
	Throughput   float64

	// InputTokens and OutputTokens are the mean sizes of the answered calls in
	// the window: all input (meter.Usage.InputTotal, cached or not) and all
	// output (OutputTotal, reasoning included), rounded, at least 1 once a call
	// was measured. Ranking joins those of a model's candidates, by Calls, to
	// the model's typical sizes. CacheHit is the share, from 0 to 1, of those
	// input tokens that the provider read from its cache (Usage.CachedRead).
	InputTokens  int64
	OutputTokens int64
	CacheHit     float64

	// Recent counts the calls of the last RecentWindow that succeeded, failed
	// or were rate limited. Errors is the share of them that failed and
	// RateLimited the share that was answered with 429, each from 0 to 1. With
	// Recent 0 neither counts.
	Recent      int64
	Errors      float64
	RateLimited float64

	Open         bool // the breaker is open, or a cool-down runs
	CoolingUntil time.Time
}

// CredentialHealth is what routing reads of a workspace's own credential. The
// zero value means that nothing speaks against it.
type CredentialHealth struct {
	// CoolingUntil is how long the credential is tried after all others, for a
	// 429 or because its provider refused it. In the past, or zero, it does not
	// cool. A later deadline is never replaced by an earlier one.
	CoolingUntil time.Time
	// Refused counts the times in a row that the provider answered 401, 402,
	// 403 or 404; calls that were under way together count once. 0: it works, or
	// nobody has used it lately.
	Refused int
}

// Cooling reports whether the credential is to be tried after all others.
func (c CredentialHealth) Cooling(now time.Time) bool { return c.CoolingUntil.After(now) }
