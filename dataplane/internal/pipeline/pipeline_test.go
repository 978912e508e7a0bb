package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

func (f *fakes) Authenticate(context.Context, call.Call) (call.Principal, error) {
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

func (f *fakes) decide(in decide.Input) decide.Plan {
	f.input = in
	plan := decide.Plan{Chain: f.chain, Withheld: f.withheld, Record: decide.Record{DecidedModel: "acme/small", Affinity: f.affinity}}
	if err := f.step("decide"); err != nil {
		plan.Refusal = fault.Of(err)
	}
	return plan
}

func (f *fakes) Admit(_ context.Context, _ call.Call, _ call.Principal, _ call.Pinned, _ decide.Plan, step int, held call.Grant) (call.Grant, error) {
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

func (grant) Terms() call.Terms                      { return call.Terms{} }
func (grant) Checks() []decide.LimitCheck            { return []decide.LimitCheck{{Scope: "key", OK: true}} }
func (g grant) Settle(meter.Usage, meter.Cost, bool) { g.f.settled = true }

func (f *fakes) Begin(_ call.Call, _ call.Principal, _ decide.Plan, turn call.Turn) error {
	f.begun = append(f.begun, turn)
	return f.step("begin")
}

func (f *fakes) Open(call.Call, decide.Plan) call.Trial { return f }

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

func (f *fakes) Deliver(_ context.Context, _ call.Call, _ *call.Reply, head http.Header, sink call.Sink) (call.Seen, error) {
	f.head = head
	_ = sink.Start(call.Head{Status: 200, Header: head})
	return call.Seen{Usage: meter.Usage{Output: 3}}, f.step("deliver")
}

func (f *fakes) Pass(_ context.Context, _ call.Call, _ call.Principal, o call.Outcome) {
	f.order = append(f.order, "pass")
	f.passed = append(f.passed, o)
}

func (f *fakes) Record(ctx context.Context, _ call.Call, p call.Principal, g call.Grant, o call.Outcome) {
	f.order = append(f.order, "record")
	require.Equal(f.t, key.ID, p.Key.ID)
	require.NoError(f.t, ctx.Err())
	_, bounded := ctx.Deadline()
	require.True(f.t, bounded)
	f.outcome = o
	if g != nil {
		g.Settle(o.Seen.Usage, meter.Cost{}, false)
	}
}

func (f *fakes) Access(_ context.Context, _ call.Call, _ call.Principal, _ int, failure *fault.Error) {
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
func (s *sink) Write([]byte) error      { return nil }
func (s *sink) Started() bool           { return s.started }
func (s *sink) Status() int             { return s.status }
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
	p.Serve(ctx, c, s)
	return s
}

var whole = []string{"authenticate", "pin", "decide", "admit", "begin", "attempt", "deliver", "record"}

func TestOrder(t *testing.T) {
	f := &fakes{}
	s := serve(t, f, call.Call{Request: call.Request{Model: "acme/small"}})
	require.Equal(t, whole, f.order)
	require.Nil(t, s.failure)
	require.EqualValues(t, 7, f.minRev)
	require.Equal(t, []string{"acme/*"}, f.input.Facts.Key.Models)
	require.EqualValues(t, 42, f.input.Seed)
	require.Equal(t, start, f.input.Facts.Now)

	require.Equal(t, 200, f.outcome.Status)
	require.True(t, f.outcome.Turn.Begun)
	require.EqualValues(t, 9, f.outcome.Record.PolicyRevision)
	require.EqualValues(t, 3, f.outcome.Record.CatalogRevision)
	require.Len(t, f.outcome.Record.Limits, 1)
	require.Equal(t, 50*time.Millisecond, f.outcome.Upstream)
	require.True(t, f.settled)
}

func TestHeadOfAnAnswer(t *testing.T) {
	f := &fakes{}
	serve(t, f, call.Call{})
	require.Equal(t, http.Header{
		"X-Signalbox-Provider": {"north"}, "X-Signalbox-Model": {"acme/small"}, "X-Signalbox-Retry-Count": {"1"},
		"X-Signalbox-Attempted-Fallbacks": {"south"}, "X-Signalbox-Policy-Revision": {"9"},
		"Server-Timing": {"gw;dur=0.000, up;dur=50.000"}, "X-Ratelimit-Limit-Requests": {"60"},
	}, f.head)
}

func TestWhatACallIsAboutIsFoundBeforeItIsDecided(t *testing.T) {
	f := &fakes{}
	about := call.Call{Surface: catalog.Batches, Object: "file-1", Kept: catalog.Files}
	serve(t, f, about)
	require.Equal(t, "find files file-1", f.order[2])
	require.Equal(t, "north:acme/film", f.input.Facts.Owner)
	require.False(t, f.input.Facts.Costless, "a batch over a file is made, and paid for")
	f = &fakes{}
	serve(t, f, call.Call{Surface: catalog.Files, Object: "file-1", Kept: catalog.Files, Action: call.Delete})
	require.True(t, f.input.Facts.Costless)

	f = &fakes{fail: "find", err: fault.New(fault.NotFound, "not there")}
	s := serve(t, f, about)
	require.Equal(t, fault.NotFound, s.failure.Code)
	require.NotContains(t, f.order, "decide")

	f = &fakes{fail: "ready", err: fault.New(fault.UpstreamUndetermined, "no keyring")}
	s = serve(t, f, call.Call{Surface: catalog.Videos})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code, "nothing is made that cannot be found again")
	require.NotContains(t, f.order, "decide")
}

func TestTheListOfJobsIsKept(t *testing.T) {
	for _, c := range []struct {
		call call.Call
		want []string
	}{
		{call.Call{Surface: catalog.Videos}, []string{"+videos video_1"}},
		{call.Call{Surface: catalog.Chat}, nil},
		{call.Call{Surface: catalog.Videos, Action: call.Get, Object: "video_1", Kept: catalog.Videos}, nil},
		{call.Call{Surface: catalog.Videos, Action: call.Delete, Object: "video_1", Kept: catalog.Videos}, []string{"-videos video_1"}},
	} {
		f := &fakes{}
		serve(t, f, c.call)
		require.Equal(t, c.want, f.listed)
	}
	f := &fakes{fail: "attempt", err: fault.New(fault.UpstreamServerError, "x")}
	serve(t, f, call.Call{Surface: catalog.Videos})
	require.Empty(t, f.listed)

	about := call.Call{Surface: catalog.Videos, Action: call.Get, Object: "video_1", Kept: catalog.Videos}
	serve(t, f, about)
	require.Empty(t, f.listed, "it may be there again")
	f = &fakes{fail: "attempt", err: fault.New(fault.NotFound, "gone")}
	serve(t, f, about)
	require.Equal(t, []string{"-videos video_1"}, f.listed, "the provider does not have it")
	f = &fakes{fail: "attempt", err: fault.New(fault.NotFound, "gone"), withheld: true}
	serve(t, f, about)
	require.Empty(t, f.listed, "a credential that was not asked may know it")
}

func TestTheRecordSaysWhatWasDegraded(t *testing.T) {
	f := &fakes{}
	serve(t, f, call.Call{})
	require.Equal(t, []string{"seed"}, f.outcome.Record.Degraded)
}

func TestHeadOfAFailureListsAllThatWereTried(t *testing.T) {
	f := &fakes{fail: "attempt", err: fault.New(fault.UpstreamServerError, "x")}
	s := serve(t, f, call.Call{})
	require.Equal(t, []string{"south,north"}, s.header["X-Signalbox-Attempted-Fallbacks"])
	require.NotContains(t, s.header, "X-Signalbox-Provider")
	require.Equal(t, []string{"1"}, s.header["X-Signalbox-Retry-Count"])
	require.Equal(t, []string{"gw;dur=29.000, up;dur=21.000"}, s.header["Server-Timing"])
}

// A fault at step N runs nothing after N but record, and settles only what was
// granted.
func TestFaultAtEachStep(t *testing.T) {
	for i, name := range whole[:len(whole)-1] {
		t.Run(name, func(t *testing.T) {
			f := &fakes{fail: name, err: fault.New(fault.RateLimitExceeded, "x")}
			s := serve(t, f, call.Call{})
			last := "record"
			if name == "authenticate" {
				last = "access"
			}
			require.Equal(t, append(slices.Clone(whole[:i+1]), last), f.order)
			require.NotNil(t, s.failure)
			require.Equal(t, i > slices.Index(whole, "admit"), f.settled)
			if name == "authenticate" {
				require.Equal(t, fault.RateLimitExceeded, f.access.Code)
				return
			}
			require.Equal(t, s.failure, f.outcome.Failure)
			require.Equal(t, s.status, f.outcome.Status)
			require.Equal(t, i > slices.Index(whole, "begin"), f.outcome.Turn.Begun)
		})
	}
}

func TestPanicAtEachStepIsAnsweredAndRecorded(t *testing.T) {
	for i, name := range whole[1 : len(whole)-1] {
		t.Run(name, func(t *testing.T) {
			f := &fakes{boom: name}
			s := serve(t, f, call.Call{})
			require.Equal(t, append(slices.Clone(whole[:i+2]), "record"), f.order)
			require.Equal(t, fault.GatewayError, s.failure.Code)
			require.NotContains(t, s.failure.Message, "boom")
			require.ErrorContains(t, s.failure, "boom")
			require.ErrorContains(t, s.failure, "pipeline_test.go", "the stack is for the log")
		})
	}
}

func TestCallerGoneIsRecordedAndNotAnswered(t *testing.T) {
	for _, name := range []string{"pin", "attempt", "deliver"} {
		f := &fakes{fail: name, err: errors.New("context canceled"), cancel: func(error) {}, cause: context.Canceled}
		s := serve(t, f, call.Call{})
		require.Nil(t, s.failure, name)
		require.True(t, f.outcome.Canceled)
		require.Equal(t, 499, f.outcome.Status)
		require.Equal(t, fault.ClientClosed, f.outcome.Failure.Code)
	}
	f := &fakes{fail: "deliver", err: fault.New(fault.ClientClosed, "x")}
	s := serve(t, f, call.Call{})
	require.Nil(t, s.failure)
	require.True(t, f.outcome.Canceled)
	require.EqualValues(t, 3, f.outcome.Seen.Usage.Output)
}

func TestGatewayStoppingIsAnswered(t *testing.T) {
	stopping := fault.New(fault.UpstreamUndetermined, "The gateway is stopping.")
	f := &fakes{fail: "deliver", err: errors.New("context canceled"), cancel: func(error) {}, cause: stopping}
	s := serve(t, f, call.Call{})
	require.Equal(t, stopping, s.failure)
	require.False(t, f.outcome.Canceled)
	require.Equal(t, 200, f.outcome.Status, "the head was out already")
}

func TestMalformedCallIsRefusedOnceTheCallerIsKnown(t *testing.T) {
	f := &fakes{}
	bad := fault.New(fault.InvalidJSON, "x")
	s := serve(t, f, call.Call{Malformed: bad, Request: call.Request{Model: "m"}})
	require.Equal(t, []string{"authenticate", "pin", "record"}, f.order)
	require.Equal(t, bad, s.failure)
	require.Equal(t, "m", f.outcome.Record.RequestedModel)
	require.EqualValues(t, 9, f.outcome.Record.PolicyRevision)

	f = &fakes{}
	serve(t, f, call.Call{Malformed: bad, Request: call.Request{Model: "my card is <4111 1111>\n\"" + strings.Repeat("é", 100)}})
	name := f.outcome.Record.RequestedModel
	require.Equal(t, "my?card?is??4111?1111???", name[:24], "as after a decision")
	require.Len(t, name, 128)
	require.Equal(t, decide.Recorded(name), name)
}

func TestPinRefusals(t *testing.T) {
	f := &fakes{inactive: true}
	s := serve(t, f, call.Call{})
	require.Equal(t, fault.KeyRevoked, s.failure.Reason, "a deleted workspace's keys are revoked")

	f = &fakes{noCat: true}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code)

	f = &fakes{fail: "pin", err: errors.New("nats is away")}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code)
	require.True(t, s.failure.Retryable)

	// That nobody has the policy of a key's workspace is no mistake of its caller.
	gone := fmt.Errorf("the policy cannot be determined: %w", fault.New(fault.NotFound, "There is no such pointer."))
	f = &fakes{fail: "pin", err: gone}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code)
	require.Equal(t, fault.Gateway, s.failure.Origin)
	require.True(t, s.failure.Retryable)
	require.ErrorIs(t, s.failure, gone, "the log has why")

	f = &fakes{fail: "begin", err: errors.New("disk full")}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.QuotaUnavailable, s.failure.Code)
}

func TestIdentify(t *testing.T) {
	f := &fakes{t: t}
	p := pipeline.New(pipeline.Steps{Auth: f, Policies: f, Catalogs: f}, time.Now, nil, nil)
	principal, pin, err := p.Identify(t.Context(), call.Call{})
	require.NoError(t, err)
	require.Equal(t, key.ID, principal.Key.ID)
	require.EqualValues(t, 9, pin.Policy.Revision())
	require.Equal(t, []string{"authenticate", "pin"}, f.order)
}
