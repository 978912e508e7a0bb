package attempt

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// target is whom one upstream call goes to, and why.
type target struct {
	step      decide.Step
	candidate decide.Candidate
	with      decide.CredentialUse
	reason    string
}

// own reports whether the workspace's own credential is used.
func (to *target) own() bool { return to.with.Source == decide.CredentialBYOK }

// blamed is a failure that says whose credential failed.
func (to *target) blamed(f *upstream.Failure) *upstream.Failure {
	if to.own() {
		f.OfWorkspace()
	}
	return f
}

// try makes one upstream call: a reply whose first content has arrived, or the
// failure.
func (r *Runner) try(ctx context.Context, t *trial, to target) (*call.Reply, *upstream.Failure) {
	request, failure := r.deps.Translator.Request(t.asked, to.candidate)
	if failure != nil {
		return nil, failure
	}
	if request.Answer != nil {
		return known(to, request), nil
	}
	request.Credential = to.with
	f := r.take(ctx, t, to)
	if request.Upgrade {
		f.watch.deadline, f.patience = f.started.Add(r.limits.Session), t.firstByte
	}
	f.watch.arm(t.firstByte, upstream.FirstByteTimeout)
	response, failure := r.deps.Provider.Call(f.watch.ctx, request)
	if failure != nil {
		if f.watch.ctx.Err() != nil {
			failure = f.watch.failure(failure, failure.Class)
		}
		failure = to.blamed(meant(t.call, failure))
		f.settle(failure, call.Seen{})
		if !sent(failure) {
			t.unmade()
		}
		return nil, judged(t.call, failure)
	}
	f.status = response.Status
	codec := r.deps.Translator.Codec(t.asked, to.step.Model.ID, to.candidate)
	reply := &call.Reply{
		Step: to.step, Candidate: to.candidate, Status: response.Status, Header: response.Header, Meter: codec,
		Degraded: slices.Concat(request.Degraded, t.unplaced),
	}
	switch {
	case request.Upgrade:
		f.talk(reply, response, codec)
	case request.File:
		failure = r.opaque(f, reply, true, response, codec)
	case request.Opaque:
		failure = r.open(f, reply, request.Framing, response, codec)
	case request.Stream:
		failure = r.stream(f, reply, request.Framing, response, codec)
	default:
		failure = r.whole(f, reply, request.Blank, response, codec)
	}
	if failure != nil {
		failure.Status = response.Status
		failure = to.blamed(failure)
		_ = response.Body.Close() // its failure is known already
		f.settle(failure, codec.Seen())
		return nil, judged(t.call, failure)
	}
	reply.FirstByte = f.firstByte
	return reply, nil
}

// known is the reply to a request whose answer needed no upstream.
func known(to target, request upstream.Request) *call.Reply {
	whole := &plain{rest: request.Answer}
	whole.Reset(request.Answer)
	return &call.Reply{
		Step: to.step, Candidate: to.candidate, Status: http.StatusOK, Header: http.Header{"Content-Type": isJSON},
		Body: whole, Pieces: whole, Meter: unmetered{},
	}
}

// unmetered is the meter of a reply that used nothing.
type unmetered struct{}

// Seen implements call.Meter.
func (unmetered) Seen() call.Seen { return call.Seen{Finished: true} }

// flight is one upstream call from its start to the end of its body. One
// goroutine at a time uses it.
type flight struct {
	runner    *Runner
	trial     *trial
	watch     *watch
	to        target
	record    int           // index in the trial's records
	patience  time.Duration // what it has until the first byte
	started   time.Time
	firstByte time.Duration
	answered  bool
	status    int
	settled   bool
}

func (r *Runner) take(ctx context.Context, t *trial, to target) *flight {
	now := r.deps.Now()
	f := &flight{
		runner: r, trial: t, to: to, started: now, record: len(t.records),
		watch: newWatch(ctx, t.deadline), patience: min(t.firstByte, t.deadline.Sub(now)),
	}
	t.made++
	t.records = append(t.records, decide.AttemptRecord{
		Model: to.step.Model.ID, Provider: to.candidate.Provider.Slug, Endpoint: to.candidate.Endpoint.ID,
		Credential: to.with.Source, CredentialID: to.with.ID, Started: now, Reason: to.reason,
	})
	return f
}

// arrived notes the time to the first byte.
func (f *flight) arrived() { f.firstByte, f.answered = f.runner.deps.Now().Sub(f.started), true }

// settle ends the call: its record is closed, its endpoint's health hears of
// it, and its context is over. failure is nil for a complete answer. Only the
// first call counts.
func (f *flight) settle(failure *upstream.Failure, seen call.Seen) {
	if f.settled {
		return
	}
	f.settled = true
	f.watch.end()
	now := f.runner.deps.Now()
	record := &f.trial.records[f.record]
	record.FirstByte, record.Duration, record.Status = f.firstByte, max(now.Sub(f.started), 1), f.status
	seenBy := health.Observation{
		Endpoint: f.to.candidate.Endpoint.ID, Credential: f.to.with.ID, Began: f.started, At: now, Verdict: health.Succeeded,
		FirstByte: f.firstByte, Generation: now.Sub(f.started) - f.firstByte,
		InputTokens: seen.Usage.InputTotal(), CachedTokens: seen.Usage.CachedRead, OutputTokens: seen.Usage.OutputTotal(),
	}
	if failure != nil {
		record.Failure, record.Retryable = string(failure.Class), rules[failure.Class].moves
		if failure.Status != 0 {
			record.Status = failure.Status
		}
		seenBy.Verdict, seenBy.RetryAfter = f.verdict(failure), failure.RetryAfter
		f.log(failure, seenBy.Verdict)
	}
	f.runner.deps.Health.Observe(seenBy)
}

// verdict is what a failure of this call means for health. A limit says
// something of the endpoint only when it was the gateway's own, or longer: what
// one caller has no time for must not close an endpoint to the others. Nor does
// the end of the request's time while the endpoint was answering.
func (f *flight) verdict(failure *upstream.Failure) health.Verdict {
	limits := &f.runner.limits
	// Where all of a request has hardly longer than a first byte may take, half of
	// it is as long as anybody waits.
	own := min(limits.FirstByte, limits.Request/2)
	switch {
	case failure.Class == upstream.RequestTimeout && f.answered, rules[failure.Class].hurried && f.patience < own:
		return health.Neutral
	}
	return verdictOf(failure, f.to.own())
}

// log tells the operator what the caller is not told.
func (f *flight) log(failure *upstream.Failure, verdict health.Verdict) {
	level := slog.LevelInfo
	if verdict == health.Failed || verdict == health.Unpaid || failure.Class == upstream.CredentialFault {
		level = slog.LevelWarn
	}
	f.runner.deps.Log.LogAttrs(f.watch.ctx, level, "upstream call failed",
		slog.String("request_id", f.trial.call.ID.String()),
		slog.String("provider", f.to.candidate.Provider.Slug),
		slog.String("endpoint", f.to.candidate.Endpoint.ID),
		slog.String("class", string(failure.Class)),
		slog.Int("status", failure.Status),
		slog.Any("error", failure))
}
