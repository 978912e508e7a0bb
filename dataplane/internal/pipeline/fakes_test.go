package pipeline_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakes is every step at once. Each notes its name; fail makes one of them
// fail, and boom makes one of them panic.
type fakes struct {
	t        *testing.T
	order    []string
	fail     string
	boom     string
	boomAt   int                 // the panic's turn
	onBegin  func(turn int) bool // says which turns cannot be begun
	err      error
	inactive bool
	noCat    bool
	cancel   context.CancelCauseFunc
	cause    error

	outcome call.Outcome
	settled bool
	access  *fault.Error
	head    http.Header
	listed  []string
	minRev  int64
	input   decide.Input
	// withheld: the plan leaves credentials out.
	withheld bool

	affinity *decide.AffinityTrace

	// The chain, for each step what the gates and the upstreams say, and which
	// turns were passed. Without any there is one step, and fail says.
	chain    []decide.Step
	declines []error
	answers  []error
	at       int
	passed   []call.Outcome
	begun    []call.Turn
	held     []call.Grant
	records  []decide.AttemptRecord
	failed   error
}

func (f *fakes) step(name string) error {
	f.order = append(f.order, name)
	taken := 0
	for _, before := range f.order {
		if before == name {
			taken++
		}
	}
	if f.boom == name && taken >= f.boomAt {
		panic("boom")
	}
	if name == "begin" && f.onBegin != nil && f.onBegin(taken) {
		return f.err
	}
	if f.fail == name {
		if f.cancel != nil {
			f.cancel(f.cause)
		}
		return f.err
	}
	return nil
}

var key = policy.Key{
	ID: id.MustParse[id.KeyKind]("key_00000000000000000000000001"), Workspace: id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001"),
	Models: []string{"acme/*"}, MinRevision: 7,
}

func (f *fakes) Authenticate(context.Context, *call.Call) (call.Principal, error) {
	return call.Principal{Key: key}, f.step("authenticate")
}

func (f *fakes) Pin(_ context.Context, ws id.Workspace, minRevision int64) (*policy.View, error) {
	f.minRev = minRevision
	if err := f.step("pin"); err != nil {
		return nil, err
	}
	s := policy.Snapshot{Workspace: ws, Revision: 9, Status: policy.WorkspaceActive}
	if f.inactive {
		s.Status = policy.WorkspaceDeleted
	}
	return policy.Compile(s)
}

func (f *fakes) Catalog() *catalog.View {
	if f.noCat {
		return nil
	}
	v, err := catalog.Compile(catalog.Catalog{Schema: catalog.Schema, Revision: 3})
	require.NoError(f.t, err)
	return v
}

func (f *fakes) Ready(s catalog.Surface) *fault.Error {
	if s == catalog.Videos && f.fail == "ready" {
		return fault.Of(f.err)
	}
	return nil
}

func (f *fakes) Find(ws id.Workspace, s catalog.Surface, name string) (call.Owned, error) {
	require.Equal(f.t, key.Workspace, ws)
	f.order = append(f.order, "find "+string(s)+" "+name)
	if f.fail == "find" {
		return call.Owned{}, f.err
	}
	return call.Owned{Endpoint: "north:acme/film", ID: "up-1"}, nil
}

func (f *fakes) Keep(_ context.Context, _ id.Workspace, s catalog.Surface, name string) {
	f.listed = append(f.listed, "+"+string(s)+" "+name)
}

func (f *fakes) Forget(_ context.Context, _ id.Workspace, s catalog.Surface, name string) {
	f.listed = append(f.listed, "-"+string(s)+" "+name)
}

// Seen implements call.Meter.
func (f *fakes) Seen() call.Seen { return call.Seen{Kept: "video_1"} }

func (f *fakes) View() decide.Health { return nil }

var (
	north = &catalog.Provider{Slug: "north"}

	small = &catalog.Model{ID: "acme/small"}
)

func (f *fakes) decide(in *decide.Input) decide.Plan {
	f.input = *in
	plan := decide.Plan{Chain: f.chain, Withheld: f.withheld, Record: decide.Record{DecidedModel: "acme/small", Affinity: f.affinity}}
	if err := f.step("decide"); err != nil {
		plan.Refusal = fault.Of(err)
	}
	return plan
}

func (f *fakes) Admit(_ context.Context, _ *call.Call, _ *call.Principal, _ call.Pinned, _ *decide.Plan, step int, held call.Grant) (call.Grant, error) {
	f.held = append(f.held, held)
	if err := f.step("admit"); err != nil {
		return nil, err
	}
	if step < len(f.declines) && f.declines[step] != nil {
		return nil, f.declines[step]
	}
	return grant{f}, nil
}

type grant struct{ f *fakes }

func (grant) Header() http.Header { return http.Header{"X-Ratelimit-Limit-Requests": {"60"}} }

func (grant) Terms() call.Terms { return call.Terms{} }

func (grant) Checks() []decide.LimitCheck { return []decide.LimitCheck{{Scope: "key", OK: true}} }

func (g grant) Settle(meter.Usage, meter.Cost, bool) { g.f.settled = true }

func (f *fakes) Begin(_ *call.Call, _ *call.Principal, _ *decide.Plan, turn *call.Turn) error {
	f.begun = append(f.begun, *turn)
	return f.step("begin")
}

func (f *fakes) Open(*call.Call, *decide.Plan) call.Trial { return f }

// Next implements call.Trial.
func (f *fakes) Next(ctx context.Context) (int, bool) {
	f.at++
	return f.at - 1, ctx.Err() == nil && f.at <= max(1, len(f.chain))
}

// Try implements call.Trial.
func (f *fakes) Try(_ context.Context, step int) (*call.Reply, error) {
	f.records = append(f.records,
		decide.AttemptRecord{Provider: "south", Started: start, Duration: 20 * time.Millisecond, Failure: "server_error"},
		decide.AttemptRecord{Provider: "north", Started: start.Add(20 * time.Millisecond)})
	err := f.step("attempt")
	if step < len(f.answers) {
		err = f.answers[step]
	}
	if err != nil {
		f.records[len(f.records)-1].Duration = time.Millisecond
		f.failed = err
		return nil, err
	}
	return &call.Reply{
		Step: decide.Step{Model: small}, Candidate: decide.Candidate{Provider: north, Endpoint: &catalog.Endpoint{}},
		Status: 200, Attempts: f.records, Degraded: []string{"seed"}, Meter: f,
	}, nil
}

// Failure implements call.Trial.
func (f *fakes) Failure(context.Context) error { return f.failed }

// Attempts implements call.Trial.
func (f *fakes) Attempts() []decide.AttemptRecord { return f.records }

func (f *fakes) Deliver(_ context.Context, _ *call.Reply, head http.Header, sink call.Sink) (call.Seen, error) {
	f.head = head
	_ = sink.Start(call.Head{Status: 200, Header: head})
	return call.Seen{Usage: meter.Usage{Output: 3}}, f.step("deliver")
}

func (f *fakes) Pass(_ context.Context, _ *call.Call, _ *call.Principal, o *call.Outcome) {
	f.order = append(f.order, "pass")
	f.passed = append(f.passed, *o)
	o.Record = decide.Record{RequestedModel: "completed by record, and nobody else's"}
}

func (f *fakes) Record(ctx context.Context, _ *call.Call, p *call.Principal, g call.Grant, o *call.Outcome) {
	f.order = append(f.order, "record")
	require.Equal(f.t, key.ID, p.Key.ID)
	require.NoError(f.t, ctx.Err())
	f.outcome = *o
	if g != nil {
		g.Settle(o.Seen.Usage, meter.Cost{}, false)
	}
}

func (f *fakes) Access(_ context.Context, _ *call.Call, _ call.Principal, _ int, failure *fault.Error) {
	f.order = append(f.order, "access")
	f.access = failure
}

type sink struct {
	status  int
	started bool
	failure *fault.Error
	header  http.Header
}

func (s *sink) Start(h call.Head) error { s.started, s.status = true, h.Status; return nil }

func (s *sink) Write([]byte) error { return nil }

func (s *sink) Started() bool { return s.started }

func (s *sink) Status() int { return s.status }

func (s *sink) Fail(f *fault.Error, h http.Header) {
	s.failure, s.header = f, h
	if !s.started {
		s.status = 418
	}
}

func serve(t *testing.T, f *fakes, c call.Call) *sink {
	t.Helper()
	return serveWith(t, f, &memory{}, c)
}

func serveWith(t *testing.T, f *fakes, m *memory, c call.Call) *sink {
	t.Helper()
	f.t = t
	p := pipeline.New(pipeline.Steps{
		Auth: f, Policies: f, Catalogs: f, Objects: f, Affinity: m, Health: f, Decide: f.decide, Admit: f,
		Begin: f, Attempt: f, Deliver: f, Record: f, Access: f,
		Status: func(e *fault.Error) int {
			return map[fault.Code]int{fault.UpstreamServerError: 502, fault.InsufficientFunds: 402}[e.Code]
		},
	}, func() time.Time { return start.Add(50 * time.Millisecond) }, func() uint64 { return 42 }, id.SystemSource())
	s := &sink{}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if f.cancel != nil {
		f.cancel = cancel
	}
	c.Received = start
	p.Serve(ctx, &c, s)
	return s
}
