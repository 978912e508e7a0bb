package attempt_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is what a fake provider does with one call.
type answer func(ctx context.Context) (upstream.Response, *upstream.Failure)

// world is a Runner over fake providers.
type world struct {
	t      *testing.T
	limits attempt.Limits
	jitter float64

	mu      sync.Mutex
	answers map[string][]answer // by provider; the last one goes on for ever
	calls   []string
	with    []decide.CredentialUse // of the calls
	bodies  []string               // of the calls
	seen    []health.Observation
	open    int // bodies and calls whose context has not ended
	plan    decide.Plan
}

func newWorld(t *testing.T) *world {
	return &world{t: t, limits: attempt.DefaultLimits(), jitter: 1, answers: make(map[string][]answer)}
}

// model adds a step to the plan with one candidate for each provider.
func (w *world) model(id string, window int64, providers ...string) {
	step := decide.Step{Model: &catalog.Model{ID: id, Context: window}}
	for i, slug := range providers {
		step.Candidates = append(step.Candidates, decide.Candidate{
			Endpoint: &catalog.Endpoint{ID: slug + ":" + id, Provider: slug, UpstreamModel: "up-" + id},
			Provider: &catalog.Provider{Slug: slug, Type: catalog.OpenAICompatible, Keyless: true},
			Rank:     i, Credentials: []decide.CredentialUse{{Source: decide.CredentialNone}},
		})
	}
	w.plan.Chain = append(w.plan.Chain, step)
}

func (w *world) retries(n int) {
	for _, step := range w.plan.Chain {
		for _, c := range step.Candidates {
			c.Provider.Retry.Max = n
		}
	}
}

func (w *world) on(provider string, answers ...answer) { w.answers[provider] = answers }

// Call implements attempt.Provider.
func (w *world) Call(ctx context.Context, r upstream.Request) (upstream.Response, *upstream.Failure) {
	w.mu.Lock()
	slug := r.Provider.Slug
	w.calls = append(w.calls, slug)
	w.with = append(w.with, r.Credential)
	w.bodies = append(w.bodies, string(r.Body.Join()))
	queue := w.answers[slug]
	if len(queue) > 1 {
		w.answers[slug] = queue[1:]
	}
	w.open++
	w.mu.Unlock()
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		w.open--
		w.mu.Unlock()
	})
	require.NotEmpty(w.t, queue, "no answer for %s", slug)
	return queue[0](ctx)
}

// Observe implements attempt.Health.
func (w *world) Observe(o health.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

func (w *world) verdicts() []health.Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []health.Verdict
	for _, o := range w.seen {
		out = append(out, o.Verdict)
	}
	return out
}

func (w *world) unfinished() int {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

func (w *world) runner() *attempt.Runner {
	return attempt.New(attempt.Deps{
		Translator: translate.New(nil), Provider: w, Health: w, Log: slog.New(slog.DiscardHandler),
		Now: time.Now, Rand: func() float64 { return w.jitter },
	}, w.limits)
}

func (w *world) attempt(ctx context.Context, c call.Call) (*call.Reply, []decide.AttemptRecord, *fault.Error) {
	if w.plan.Timeouts.FirstByte == 0 {
		w.plan.Timeouts.FirstByte = c.Request.FirstByte // as the ladder has it
	}
	trial := w.runner().Open(&c, &w.plan)
	reply, err := along(ctx, trial)
	require.Equal(w.t, err == nil, reply != nil)
	return reply, trial.Attempts(), fault.Of(err)
}

// along takes a trial to its end.
func along(ctx context.Context, trial call.Trial) (*call.Reply, error) {
	for {
		step, more := trial.Next(ctx)
		if !more {
			return nil, trial.Failure(ctx)
		}
		if reply, err := trial.Try(ctx, step); err == nil {
			return reply, nil
		}
	}
}

func plainCall() call.Call {
	return call.Call{Surface: catalog.Chat, Received: time.Now(), Body: []byte(`{"model":"m"}`)}
}

func streamCall() call.Call {
	c := plainCall()
	c.Request.Stream = true
	return c
}

// read takes a reply to its end.
func read(t *testing.T, r *call.Reply) (string, *fault.Error) {
	t.Helper()
	var b strings.Builder
	for {
		piece, err := r.Pieces.Next()
		if errors.Is(err, io.EOF) {
			require.NoError(t, r.Body.Close())
			return b.String(), nil
		}
		if err != nil {
			require.NoError(t, r.Body.Close())
			return b.String(), fault.Of(err)
		}
		b.Write(piece)
	}
}

// The bodies of the fakes.
const (
	okPlain = `{"model":"up","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	role    = `data: {"model":"up","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	hello   = `data: {"model":"up","choices":[{"index":0,"delta":{"content":"hello"}}]}` + "\n\n"
	finish  = `data: {"model":"up","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done    = "data: [DONE]\n\n"
	failed  = `data: {"error":{"message":"boom","type":"server_error"}}` + "\n\n"
	limited = `data: {"error":{"message":"slow down","type":"rate_limit_error","code":429}}` + "\n\n"
)

// step is one thing that a body does: data, a pause, an error, or silence
// until the context ends.
type step struct {
	data  string
	pause time.Duration
	err   error
	hang  bool
	end   bool // the last data comes with the end of the body
}

func say(data ...string) []step {
	var out []step
	for _, d := range data {
		out = append(out, step{data: d})
	}
	return out
}

// body plays steps and ends with its context, as bodies over HTTP do.
type body struct {
	ctx   context.Context
	steps []step
}

func (b *body) Read(p []byte) (int, error) {
	for {
		if b.ctx.Err() != nil {
			return 0, b.ctx.Err()
		}
		if len(b.steps) == 0 {
			return 0, io.EOF
		}
		s := &b.steps[0]
		switch {
		case s.hang:
			<-b.ctx.Done()
			continue
		case s.pause > 0:
			select {
			case <-time.After(s.pause):
			case <-b.ctx.Done():
			}
		case s.err != nil:
			return 0, s.err
		case len(s.data) > 0:
			n := copy(p, s.data)
			if s.data = s.data[n:]; s.data == "" && s.end {
				b.steps = nil
				return n, io.EOF
			}
			return n, nil
		}
		b.steps = b.steps[1:]
	}
}

func (b *body) Close() error { return nil }

func ok(media string, steps ...step) answer {
	return func(ctx context.Context) (upstream.Response, *upstream.Failure) {
		copied := append([]step(nil), steps...)
		return upstream.Response{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {media}}, MediaType: media, Length: -1,
			Body: &body{ctx: ctx, steps: copied},
		}, nil
	}
}

func plain(text string) answer { return ok("application/json", say(text)...) }
func sse(steps ...step) answer { return ok("text/event-stream", steps...) }
func good(c call.Call) answer {
	if c.Request.Stream {
		return sse(say(role, hello, finish, done)...)
	}
	return plain(okPlain)
}

func refuse(status int, retryAfter time.Duration) answer {
	return func(context.Context) (upstream.Response, *upstream.Failure) {
		return upstream.Response{}, upstream.Refused(status, retryAfter, []byte(`{"error":{"message":"no"}}`))
	}
}

func fail(class upstream.Class) answer {
	return func(context.Context) (upstream.Response, *upstream.Failure) {
		return upstream.Response{}, upstream.Fail(class, errors.New("cause"))
	}
}

// hang never sends a head.
func hang(ctx context.Context) (upstream.Response, *upstream.Failure) {
	<-ctx.Done()
	return upstream.Response{}, upstream.Fail(upstream.CallerGone, ctx.Err())
}
