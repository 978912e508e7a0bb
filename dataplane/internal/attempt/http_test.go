package attempt_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/stream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// line is the whole way from attempt to the sink, over HTTP to a simulated
// provider.
type line struct {
	sim    *simulator.Server
	client *provider.Client
	health *health.Table
	limits attempt.Limits
	url    string
}

type noKeys struct{}

func (noKeys) Open(secret.Sealed, ...string) (secret.String, error) {
	return secret.String{}, errors.New("no keys here")
}

func newLine(t *testing.T) *line {
	t.Helper()
	l := &line{sim: simulator.New(simulator.Options{}), limits: attempt.DefaultLimits()}
	server := httptest.NewUnstartedServer(nil)
	l.sim.Attach(server.Config)
	server.Start()
	t.Cleanup(server.Close)
	l.url = server.URL + "/v1"
	l.client = provider.New(noKeys{}, provider.Options{})
	t.Cleanup(l.client.Close)
	l.health = health.New(health.Options{Now: time.Now, Seed: func() uint64 { return 1 }})
	return l
}

// ask sends one request along upstream models, each at a provider of its own.
func (l *line) ask(ctx context.Context, c call.Call, s *collector, models ...string) (*call.Reply, call.Seen, *fault.Error) {
	step := decide.Step{Model: &catalog.Model{ID: "acme/small"}}
	for _, model := range models {
		step.Candidates = append(step.Candidates, decide.Candidate{
			Endpoint:    &catalog.Endpoint{ID: model, UpstreamModel: model},
			Provider:    &catalog.Provider{Slug: "at-" + model, Type: catalog.OpenAI, BaseURL: l.url, Keyless: true},
			Credentials: []decide.CredentialUse{{Source: decide.CredentialNone}},
		})
	}
	runner := attempt.New(attempt.Deps{
		Translator: translate.New(nil), Provider: l.client, Health: l.health, Log: slog.New(slog.DiscardHandler),
		Now: time.Now, Rand: func() float64 { return 0 },
	}, l.limits)
	reply, err := along(ctx, runner.Open(&c, &decide.Plan{Chain: []decide.Step{step}}))
	if err != nil {
		return nil, call.Seen{}, fault.Of(err)
	}
	seen, err := stream.New().Deliver(ctx, reply, nil, s)
	return reply, seen, fault.Of(err)
}

func chat(streams bool) call.Call {
	c := call.Call{
		Surface: catalog.Chat, Received: time.Now(),
		Body: []byte(`{"model":"acme/small","messages":[{"role":"user","content":"one two three 北京🙂é five six"}]}`),
	}
	if streams {
		c.Body = []byte(strings.Replace(string(c.Body), `{`, `{"stream":true,`, 1))
		c.Request.Stream = true
	}
	return c
}

// collector is a sink that keeps what came.
type collector struct {
	head   call.Head
	pieces []string
	wrote  func(n int) error
}

func (c *collector) Start(h call.Head) error { c.head = h; return nil }

func (c *collector) Write(p []byte) error {
	c.pieces = append(c.pieces, string(p))
	if c.wrote != nil {
		return c.wrote(len(c.pieces))
	}
	return nil
}

func (c *collector) Fail(*fault.Error, http.Header) {}
func (c *collector) Started() bool                  { return c.head.Status != 0 }
func (c *collector) Status() int                    { return c.head.Status }
func (c *collector) all() string                    { return strings.Join(c.pieces, "") }

var contents = regexp.MustCompile(`"content":"((?:[^"\\]|\\.)*)"`)

// text is what a client would put together.
func (c *collector) text() string {
	var b strings.Builder
	for _, m := range contents.FindAllStringSubmatch(c.all(), -1) {
		b.WriteString(m[1])
	}
	return b.String()
}

func TestOverHTTPWhatFailsIsReplaced(t *testing.T) {
	for _, streams := range []bool{false, true} {
		faults := []string{
			"status-503", "status-429-retry-7", "status-401", "status-404", "status-500", "reset", "html", "redirect", "garbage", "hang", "latency-9s",
		}
		if streams {
			faults = append(faults, "error-first")
		} else {
			faults = append(faults, "cut", "short")
		}
		for _, name := range faults {
			t.Run(name, func(t *testing.T) {
				l := newLine(t)
				if name == "hang" || name == "latency-9s" {
					l.limits.FirstByte = time.Second
				}
				s := &collector{}
				reply, seen, failure := l.ask(t.Context(), chat(streams), s, "fault-"+name, "good")
				require.Nil(t, failure)
				require.Equal(t, "good", reply.Candidate.Endpoint.ID)
				require.Len(t, reply.Attempts, 2)
				require.NotEmpty(t, reply.Attempts[0].Failure)
				require.Contains(t, s.text(), "one two three 北京🙂é five six")
				require.Equal(t, "good", seen.ServedModel)
				require.False(t, seen.Usage.Estimated)
				require.Equal(t, streams, strings.HasSuffix(s.all(), "data: [DONE]\n\n"))
			})
		}
	}
}

func TestOverHTTPWhatIsOnlyOddIsDelivered(t *testing.T) {
	for name, estimated := range map[string]bool{
		"good": false, "fault-crlf": false, "fault-nospace": false, "fault-comments": false, "fault-gzip": false,
		"fault-trickle-crlf": false, "fault-no-done": false, "fault-no-usage": true, "fault-malformed-2": false,
		"fault-long-200": false, "fault-long-3000": false, "fault-crlf-nospace-comments-gzip": false,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			s := &collector{}
			reply, seen, failure := l.ask(t.Context(), chat(true), s, name)
			require.Nil(t, failure)
			require.Len(t, reply.Attempts, 1)
			require.Equal(t, estimated, seen.Usage.Estimated)
			require.True(t, seen.Finished)
			require.Equal(t, 1, strings.Count(s.all(), "[DONE]"))
			require.NotContains(t, s.all(), `"choices":[]`, "the usage chunk was not asked for")
			require.NotContains(t, s.all(), name+`"`, "the upstream's name is not shown")
			if strings.Contains(name, "long") {
				require.GreaterOrEqual(t, len(s.text()), 200<<10)
			} else {
				require.Contains(t, s.text(), "one two three 北京🙂é five six")
			}
		})
	}
}

func TestOverHTTPWhatBreaksInTheMiddleIsSaid(t *testing.T) {
	for name, want := range map[string]fault.Reason{
		"fault-cut-3": fault.StreamCut, "fault-hang-3": fault.StreamIdle, "fault-error-mid": "overloaded", "fault-cut-3-gzip": fault.StreamCut,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.limits.Idle = 100 * time.Millisecond
			s := &collector{}
			reply, seen, failure := l.ask(t.Context(), chat(true), s, name, "good")
			require.NotNil(t, failure)
			require.Equal(t, want, failure.Reason)
			require.Equal(t, fault.Upstream, failure.Origin)
			require.NotContains(t, s.all(), "[DONE]")
			require.NotEmpty(t, s.text())
			require.True(t, seen.Usage.Estimated)
			require.NotEmpty(t, reply.Attempts[0].Failure)
			require.Len(t, reply.Attempts, 1)
			require.Eventually(t, func() bool { return l.sim.Stats().Active == 0 }, 5*time.Second, time.Millisecond)
		})
	}
}

// Connections are used again, also after streams, and one that the provider
// closed meanwhile costs nobody anything.
func TestOverHTTPConnectionsAreKept(t *testing.T) {
	l := newLine(t)
	for range 10 {
		for _, streams := range []bool{true, false} {
			_, _, failure := l.ask(t.Context(), chat(streams), &collector{}, "good")
			require.Nil(t, failure)
		}
	}
	require.EqualValues(t, 1, l.sim.Stats().Open)
	for range 3 {
		reply, _, failure := l.ask(t.Context(), chat(true), &collector{}, "fault-stale", "good")
		require.Nil(t, failure)
		require.Len(t, reply.Attempts, 1)
		require.Empty(t, reply.Attempts[0].Failure)
	}
	require.Zero(t, l.health.View().Endpoint("fault-stale").CoolingUntil)
}

func TestOverHTTPCallerLeaves(t *testing.T) {
	for name, model := range map[string]string{"before the head": "fault-hang", "before the content": "fault-latency-9s", "in the stream": "fault-hang-2"} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			s := &collector{wrote: func(int) error { leave(); return nil }}
			ended := make(chan *fault.Error, 1)
			go func() {
				_, _, failure := l.ask(ctx, chat(true), s, model, "good")
				ended <- failure
			}()
			if name != "in the stream" {
				require.Eventually(t, func() bool { return l.sim.Stats().Active == 1 }, 5*time.Second, time.Millisecond)
				leave()
			}
			failure := <-ended
			require.Equal(t, fault.ClientClosed, failure.Code)
			require.Eventually(t, func() bool { return l.sim.Stats().Aborted == 1 && l.sim.Stats().Active == 0 }, 5*time.Second, time.Millisecond)
			require.EqualValues(t, 1, l.sim.Stats().Total, "nobody else was asked")
		})
	}
}

func TestOverHTTPAWriteThatFailsEndsTheUpstreamCall(t *testing.T) {
	l := newLine(t)
	s := &collector{wrote: func(int) error { return io.ErrClosedPipe }}
	_, seen, failure := l.ask(t.Context(), chat(true), s, "fault-hang-2")
	require.Equal(t, fault.ClientClosed, failure.Code)
	require.True(t, seen.Usage.Estimated)
	require.Eventually(t, func() bool { return l.sim.Stats().Active == 0 }, 5*time.Second, time.Millisecond)
}

// Each event is with the caller before the provider sends the next one.
func TestOverHTTPEventsAreNotGathered(t *testing.T) {
	l := newLine(t)
	arrived := make(chan struct{})
	l.sim.HandleModel("exact", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{hello, hello, hello, finish, done} {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
			<-arrived
		}
	}))
	s := &collector{wrote: func(int) error { arrived <- struct{}{}; return nil }}
	_, _, failure := l.ask(t.Context(), chat(true), s, "exact")
	require.Nil(t, failure)
	require.Len(t, s.pieces, 5)
}
