// Package attempt owns the upstream calls of one request: the order in which
// candidates are tried, what moves on and what is returned at once, retries,
// every time limit, and the look-ahead after which no fallback may follow. It
// knows neither formats nor transport; what it needs of both are the two
// interfaces below.
package attempt

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Translator writes requests in a provider's format and reads its answers.
type Translator interface {
	// Merge returns c as a preset completes it, and the names of what its surface
	// has no place for.
	Merge(c call.Call, with *policy.PresetVersion) (call.Call, []string, *upstream.Failure)
	Request(c *call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure)
	Codec(c *call.Call, model string, to decide.Candidate) upstream.Codec
}

// Provider makes one upstream call and returns when the head has arrived. The
// context ends the call and its body.
type Provider interface {
	Call(ctx context.Context, r upstream.Request) (upstream.Response, *upstream.Failure)
}

// Health hears how each upstream call ended.
type Health interface {
	Observe(o health.Observation)
}

// Limits are the bounds of an attempt and of a request.
type Limits struct {
	FirstByte    time.Duration // to the first byte, of a stream to the first content
	FirstByteMin time.Duration // least that a request may ask for
	FirstByteMax time.Duration // most that a request may ask for
	Reply        time.Duration // a whole plain reply
	Idle         time.Duration // silence between a stream's events
	Request      time.Duration // the request with all its attempts
	Session      time.Duration // a two-way conversation
	Hold         time.Duration // from a stream's head until it goes out without content
	HoldBytes    int           // of a stream held back
	HoldEvents   int
	ReplyBytes   int64 // of a plain reply, after inflation
	Attempts     int   // upstream calls, when the plan does not say
}

// DefaultLimits are those of the product's specification.
func DefaultLimits() Limits {
	return Limits{
		FirstByte: 60 * time.Second, FirstByteMin: time.Second, FirstByteMax: 300 * time.Second,
		Reply: 180 * time.Second, Idle: 60 * time.Second, Request: 300 * time.Second, Session: time.Hour,
		Hold: 10 * time.Second, HoldBytes: 64 << 10, HoldEvents: 16,
		ReplyBytes: 32 << 20, Attempts: 8,
	}
}

// Deps are what a Runner needs of the world.
type Deps struct {
	Translator Translator
	Provider   Provider
	Health     Health
	Log        *slog.Logger
	Now        func() time.Time
	Rand       func() float64 // uniform in [0, 1), for the jitter of retries
}

// Runner makes the upstream calls of requests. It is safe for concurrent use.
type Runner struct {
	deps   Deps
	limits Limits
}

// New returns a Runner.
func New(deps Deps, limits Limits) *Runner { return &Runner{deps: deps, limits: limits} }

// Open starts a request's way along its plan, and its budget of time.
func (r *Runner) Open(c *call.Call, plan *decide.Plan) call.Trial { return newTrial(r, c, plan) }

// candidates tries the endpoints of one model in order. The failure is the
// last one, nil when no upstream was called.
func (r *Runner) candidates(ctx context.Context, t *trial, n int) (*call.Reply, *upstream.Failure) {
	var last *upstream.Failure
	for i := range t.plan.Chain[n].Candidates {
		reply, failure := r.candidate(ctx, t, n, i)
		if reply != nil {
			return reply, nil
		}
		if sent(failure) {
			last = failure
		}
		if !rules[failure.Class].moves || t.over(ctx) {
			return nil, failure
		}
	}
	return nil, last
}

// candidate tries one endpoint with its credentials in order. Only what is the
// credential's own failure is followed by the next one: a job or file that one
// credential does not know may be another's.
func (r *Runner) candidate(ctx context.Context, t *trial, n, i int) (*call.Reply, *upstream.Failure) {
	step := t.plan.Chain[n]
	uses := step.Candidates[i].Credentials
	if len(uses) == 0 {
		return nil, upstream.Fail(upstream.Internal, errNoCredentials)
	}
	for j := 0; ; j++ {
		to := target{step: step, candidate: step.Candidates[i], with: uses[j], reason: t.reason(n, j)}
		last := j == len(uses)-1
		reply, failure := r.credential(ctx, t, to, last && i == len(step.Candidates)-1)
		if reply != nil {
			return reply, nil
		}
		if failure.Class != upstream.Gone {
			t.doubt = failure
		}
		switch {
		case last || !ofCredential(failure):
			return nil, failure
		case t.over(ctx):
			t.unasked = true
			return nil, failure
		}
	}
}

var errNoCredentials = errors.New("a candidate of the plan has no credentials")

// credential tries one endpoint with one credential, again for as long as the
// retries and the failure allow. alone says that nothing else of the
// model could be tried instead.
func (r *Runner) credential(ctx context.Context, t *trial, to target, alone bool) (*call.Reply, *upstream.Failure) {
	timeouts := 0
	for n := 0; ; n++ {
		reply, failure := r.try(ctx, t, to)
		if reply != nil {
			return reply, nil
		}
		t.note(failure)
		if rules[failure.Class].timeout {
			timeouts++
		}
		if n >= t.retries(to.candidate.Provider) || t.over(ctx) || !t.mayRetry(failure, timeouts) {
			return nil, failure
		}
		wait := r.backoff(n, failure.RetryAfter)
		if !t.fits(r.deps.Now(), wait, alone) || !sleep(ctx, wait) {
			return nil, failure
		}
		to.reason = reasonRetry
	}
}
