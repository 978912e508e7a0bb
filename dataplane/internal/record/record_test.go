package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/record"
	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type disk struct {
	intents []spool.Intent
	events  []wire.UsageEvent
	err     error
}

func (d *disk) Intent(i spool.Intent) error {
	d.intents = append(d.intents, i)
	return d.err
}

func (d *disk) Complete(events ...wire.UsageEvent) error {
	d.events = append(d.events, events...)
	return d.err
}

type fixture struct {
	*record.Recorder
	disk     *disk
	log      bytes.Buffer
	access   bytes.Buffer
	registry *prometheus.Registry
	recent   *record.Recent
}

// Begin, Pass, Record and Access are the recorder's, for values that nobody else has.
func (f *fixture) Begin(c call.Call, p call.Principal, plan decide.Plan, turn call.Turn) error {
	return f.Recorder.Begin(&c, &p, &plan, &turn)
}

func (f *fixture) Pass(ctx context.Context, c call.Call, p call.Principal, o call.Outcome) {
	f.Recorder.Pass(ctx, &c, &p, &o)
}

func (f *fixture) Record(ctx context.Context, c call.Call, p call.Principal, grant call.Grant, o call.Outcome) {
	f.Recorder.Record(ctx, &c, &p, grant, &o)
}

func (f *fixture) Access(ctx context.Context, c call.Call, p call.Principal, status int, failure *fault.Error) {
	f.Recorder.Access(ctx, &c, p, status, failure)
}

func newFixture() *fixture {
	f := &fixture{disk: &disk{}, registry: prometheus.NewRegistry(), recent: record.NewRecent(2)}
	f.Recorder = record.New(record.Deps{
		Spool: f.disk, Access: &f.access,
		Log: slog.New(slog.NewJSONHandler(&f.log, nil)), Metrics: record.NewMetrics(f.registry), Recent: f.recent,
	})
	return f
}

// counter reads a metric without labels.
func (f *fixture) counter(t *testing.T, name string) float64 {
	t.Helper()
	families, err := f.registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "no such metric", name)
	return 0
}

var (
	ids       = id.SystemSource()
	principal = call.Principal{Key: policy.Key{ID: id.New[id.KeyKind](ids), Workspace: id.New[id.WorkspaceKind](ids), CreatedBy: id.New[id.UserKind](ids)}}
	dollar    = money.PerMillion(money.USD)
	north     = decide.Candidate{
		Provider: &catalog.Provider{Slug: "north"},
		Endpoint: &catalog.Endpoint{ID: "north:acme/small", Price: &catalog.Price{Input: &dollar, Output: &dollar}},
	}
	dear  = 2 * dollar
	south = decide.Candidate{
		Provider: &catalog.Provider{Slug: "south"},
		Endpoint: &catalog.Endpoint{ID: "south:acme/large", Price: &catalog.Price{Input: &dear, Output: &dear}},
	}
	small = decide.Step{Model: &catalog.Model{ID: "acme/small"}, Candidates: []decide.Candidate{north}}
)

func newCall() call.Call {
	return call.Call{ID: id.New[id.RequestKind](ids), Surface: catalog.Chat, Route: "POST /v1/chat/completions", Received: start}
}

// served is a request that north answered.
func served(change func(*call.Outcome)) call.Outcome {
	o := call.Outcome{
		Status: 200, Turn: call.Turn{ID: id.New[id.RequestKind](ids), Started: start, Begun: true, Status: 200}, Finished: start.Add(time.Second), FirstByte: 100 * time.Millisecond, Upstream: 900 * time.Millisecond,
		Reply:    &call.Reply{Step: small, Candidate: north},
		Seen:     call.Seen{Usage: meter.Usage{Input: 10, Output: 5}, ServedModel: "small-v1", Finished: true},
		Attempts: []decide.AttemptRecord{{Model: "acme/small", Provider: "north", Started: start.Add(100 * time.Millisecond)}},
		Record:   decide.Record{RequestedModel: "small", DecidedModel: "acme/small", DecidedProvider: "north", PolicyRevision: 3, CatalogRevision: 4},
	}
	if change != nil {
		change(&o)
	}
	if o.Turn.Failure == nil {
		o.Turn.Failure = o.Failure // as the pipeline has it
	}
	return o
}

// first has the outcome be of the request's first turn.
func first(c call.Call, o call.Outcome) call.Outcome {
	o.Turn.ID = c.ID
	return o
}

func TestIntent(t *testing.T) {
	f := newFixture()
	c := newCall()
	c.Request.InputTokens = 100
	plan := decide.Plan{Chain: []decide.Step{small}, Record: decide.Record{RequestedModel: "small", DecidedModel: "acme/small", PolicyRevision: 3, CatalogRevision: 4}}
	plan.Chain = append(plan.Chain, decide.Step{Model: &catalog.Model{ID: "acme/large"}, Candidates: []decide.Candidate{south}})
	require.NoError(t, f.Begin(c, principal, plan, call.Turn{ID: c.ID, Started: start}))
	further := call.Turn{ID: id.New[id.RequestKind](ids), Step: 1, Started: start.Add(time.Second)}
	require.NoError(t, f.Begin(c, principal, plan, further))
	i := f.disk.intents[1]
	require.Equal(t, []any{further.ID, c.ID, further.Started}, []any{i.ID, i.PrimaryID, i.StartedAt})
	require.Equal(t, []string{"acme/large", "south", "south:acme/large"}, []string{i.DecidedModel, i.Provider, i.Endpoint})
	require.EqualValues(t, 200_000, i.Cost.Total)
	i = f.disk.intents[0]
	require.Equal(t, []any{c.ID, c.ID}, []any{i.ID, i.PrimaryID})
	require.Equal(t, "acme/small", i.DecidedModel)
	require.Equal(t, principal.Key.Workspace, i.Workspace)
	require.Equal(t, "north", i.Provider)
	require.True(t, i.Usage.Estimated)
	require.EqualValues(t, 100_000, i.Cost.Total)
	require.EqualValues(t, 4, i.CatalogRevision)

	f.disk.err = errors.New("disk full")
	require.Error(t, f.Begin(c, principal, plan, call.Turn{ID: c.ID}))
}

type grant struct {
	call.Grant
	settled  []money.Nanos
	own      []bool
	onSettle func()
}

func (g *grant) Settle(_ meter.Usage, cost meter.Cost, own bool) {
	g.settled, g.own = append(g.settled, cost.Total), append(g.own, own)
	if g.onSettle != nil {
		g.onSettle()
	}
}

func decision(t *testing.T, e wire.UsageEvent) decide.Record {
	t.Helper()
	var r decide.Record
	require.NoError(t, json.Unmarshal(e.Decision, &r))
	return r
}

func TestDecisionIsCompleted(t *testing.T) {
	f := newFixture()
	f.Record(t.Context(), newCall(), principal, nil, served(nil))
	r := decision(t, f.disk.events[0])
	require.Equal(t, "small-v1", r.ServedModel)
	require.Equal(t, "north", r.ServedProvider)
	require.EqualValues(t, 15_000, r.Cost.Total)
	require.Equal(t, 900*time.Millisecond, r.Attempts[0].Duration)
	require.Empty(t, r.SwitchReason)
	require.Nil(t, r.Refusal)

	for want, change := range map[decide.SwitchReason]func(*call.Outcome){
		decide.SwitchFallbackProvider: func(o *call.Outcome) { o.Record.DecidedProvider = "south" },
		decide.SwitchFallbackModel: func(o *call.Outcome) {
			o.Record.DecidedProvider, o.Record.SwitchReason = "south", decide.SwitchFallbackModel
		},
		decide.SwitchRetired: func(o *call.Outcome) {
			o.Record.DecidedModel, o.Record.SwitchReason = "acme/large", decide.SwitchRetired
		},
	} {
		f.Record(t.Context(), newCall(), principal, nil, served(change))
		require.Equal(t, want, decision(t, f.disk.events[len(f.disk.events)-1]).SwitchReason)
	}

	f.Record(t.Context(), newCall(), principal, nil, served(func(o *call.Outcome) {
		o.Failure = fault.New(fault.UpstreamServerError, "x").Because(fault.StreamCut)
	}))
	r = decision(t, f.disk.events[len(f.disk.events)-1])
	require.Equal(t, &decide.RefusalRecord{Code: "upstream_server_error", Reason: "stream_cut"}, r.Refusal)
	require.Equal(t, "stream_cut", r.Attempts[0].Failure)
}

// A turn that the chain goes past is accounted for on its own, and the request
// once, with the turn that it ended with.
func TestEachTurnIsAnEvent(t *testing.T) {
	f := newFixture()
	c := newCall()
	g := &grant{}
	attempts := []decide.AttemptRecord{
		{Model: "acme/large", Provider: "north", Started: start, Duration: time.Millisecond, Failure: "server_error", Status: 500},
		{Model: "acme/large", Provider: "south", Started: start, Duration: 2 * time.Millisecond, Failure: "rate_limited", Status: 429},
		{Model: "acme/small", Provider: "north", Started: start.Add(3 * time.Millisecond)},
	}
	limited := fault.New(fault.UpstreamRateLimited, "x").From(fault.Upstream)
	f.Pass(t.Context(), c, principal, call.Outcome{
		Turn:     call.Turn{ID: c.ID, Started: start, Begun: true, Failure: limited, Status: 429},
		Finished: start.Add(2 * time.Millisecond), Attempts: attempts[:2:2],
		Record: decide.Record{RequestedModel: "large", DecidedModel: "acme/large", DecidedProvider: "north"},
	})
	require.Empty(t, f.access.String(), "the request goes on")
	require.Zero(t, f.counter(t, "signalbox_cost_usd_total"))
	further := call.Turn{ID: id.New[id.RequestKind](ids), Step: 1, Started: start.Add(3 * time.Millisecond), First: 2, Begun: true, Status: 200}
	f.Record(t.Context(), c, principal, g, served(func(o *call.Outcome) { o.Turn, o.Attempts = further, attempts }))

	require.Len(t, f.disk.events, 2)
	first, second := f.disk.events[0], f.disk.events[1]
	require.Equal(t, []id.Request{c.ID, c.ID, further.ID, c.ID}, []id.Request{first.ID, first.PrimaryID, second.ID, second.PrimaryID})
	require.Equal(t, []int{2, 1}, []int{first.Attempts, second.Attempts})
	require.Equal(t, []string{"acme/large", "acme/small"}, []string{first.DecidedModel, second.DecidedModel})
	require.Equal(t, []wire.Outcome{wire.Failed, wire.Success}, []wire.Outcome{first.Outcome, second.Outcome})
	require.Equal(t, []any{429, "upstream_rate_limited", 2 * time.Millisecond}, []any{first.Status, first.Code, first.Duration})
	require.Equal(t, further.Started, second.StartedAt)
	require.Equal(t, 97*time.Millisecond, second.FirstByte, "from its own start")
	require.Zero(t, first.GatewayDur)
	require.Equal(t, 100*time.Millisecond, second.GatewayDur, "what the gateway took is of the whole request")
	require.Zero(t, first.Cost.Total)
	require.EqualValues(t, 15_000, second.Cost.Total)
	require.Equal(t, []money.Nanos{15_000}, g.settled)
	require.Len(t, decision(t, first).Attempts, 2)
	require.Equal(t, "upstream_rate_limited", decision(t, first).Refusal.Code)
	require.Len(t, decision(t, second).Attempts, 3, "with all that came before")
	require.Equal(t, 1, strings.Count(f.access.String(), "\n"))

	for _, asked := range []id.Request{c.ID, further.ID} {
		found, ok := f.recent.Generation(principal.Key.Workspace, asked)
		require.True(t, ok)
		require.Len(t, found, 2)
		require.Equal(t, c.ID, found[0].ID)
	}
}

// The last event of a request says how its version of the route fared, by what
// the caller got; the turns before, and the gateway's own requests, say nothing.
func TestTheLastEventSaysHowARolloutFared(t *testing.T) {
	rollout := id.New[id.RolloutKind](ids)
	failed := fault.New(fault.UpstreamServerError, "x").From(fault.Upstream)
	refused := fault.New(fault.RateLimitExceeded, "x").From(fault.Client)
	under := func(arm decide.Arm, change func(*call.Outcome)) call.Outcome {
		return served(func(o *call.Outcome) {
			o.Record.Route = &decide.RouteTrace{ID: "route_x", Version: 2, Rollout: rollout.String(), Arm: arm}
			if change != nil {
				change(o)
			}
		})
	}
	classifier := newCall()
	classifier.Purpose = "classifier"
	tests := map[string]struct {
		call    call.Call
		outcome call.Outcome
		want    *wire.UsageRollout
	}{
		"candidate": {newCall(), under(decide.ArmCandidate, nil), &wire.UsageRollout{ID: rollout, Candidate: true, Outcome: wire.Success, Took: time.Second}},
		"stable":    {newCall(), under(decide.ArmStable, nil), &wire.UsageRollout{ID: rollout, Outcome: wire.Success, Took: time.Second}},
		"what the caller got": {newCall(), under(decide.ArmCandidate, func(o *call.Outcome) {
			o.Failure, o.Turn.Failure, o.Reply = failed, refused, nil
		}), &wire.UsageRollout{ID: rollout, Candidate: true, Outcome: wire.Failed, Code: "upstream_server_error", Took: time.Second}},
		"a name of the version's own": {newCall(), under(decide.ArmCandidate, func(o *call.Outcome) {
			o.Failure = fault.New(fault.ModelNotFound, "x").With("rung", "route")
		}), &wire.UsageRollout{ID: rollout, Candidate: true, Outcome: wire.Failed, Code: "model_not_found", Named: true, Took: time.Second}},
		"a name of the caller's": {newCall(), under(decide.ArmCandidate, func(o *call.Outcome) {
			o.Failure = fault.New(fault.ModelNotFound, "x")
		}), &wire.UsageRollout{ID: rollout, Candidate: true, Outcome: wire.Failed, Code: "model_not_found", Took: time.Second}},
		"no rollout":          {newCall(), served(nil), nil},
		"the gateway's own":   {classifier, under(decide.ArmCandidate, nil), nil},
		"a route without one": {newCall(), served(func(o *call.Outcome) { o.Record.Route = &decide.RouteTrace{ID: "route_x"} }), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			f.Pass(t.Context(), tt.call, principal, tt.outcome)
			f.Record(t.Context(), tt.call, principal, nil, tt.outcome)
			require.Nil(t, f.disk.events[0].Rollout, "the request goes on")
			require.Equal(t, tt.want, f.disk.events[1].Rollout)
		})
	}
}

// The last model was refused at the gates; what the caller got came before.
func TestARefusedTurnEndsTheRequestWithAnothersFailure(t *testing.T) {
	f := newFixture()
	c := newCall()
	broke := fault.New(fault.UpstreamServerError, "x").From(fault.Upstream)
	f.Record(t.Context(), c, principal, nil, call.Outcome{
		Turn: call.Turn{
			ID: id.New[id.RequestKind](ids), Step: 1, Started: start, First: 1,
			Failure: fault.New(fault.InsufficientFunds, "x"), Status: 402,
		},
		Failure: broke, Status: 502, Finished: start.Add(time.Second),
		Attempts: []decide.AttemptRecord{{Model: "acme/large", Provider: "north", Started: start, Duration: 1, Failure: "server_error"}},
	})
	e := f.disk.events[0]
	require.Equal(t, []any{wire.Refused, 402, "insufficient_funds", 0}, []any{e.Outcome, e.Status, e.Code, e.Attempts})
	var line map[string]any
	require.NoError(t, json.Unmarshal(f.access.Bytes(), &line))
	require.Equal(t, []any{"error", "upstream_server_error", 502.0}, []any{line["outcome"], line["code"], line["status"]})
}

// A record that many attempts make too long loses entries, not itself.
func TestALongDecisionIsCut(t *testing.T) {
	f := newFixture()
	f.Record(t.Context(), newCall(), principal, nil, served(func(o *call.Outcome) {
		for range 100 {
			o.Record.Exclusions = append(o.Record.Exclusions, decide.Exclusion{Model: "acme/small", Endpoint: strings.Repeat("x", 200)})
		}
	}))
	r := decision(t, f.disk.events[0])
	require.Positive(t, r.Truncated)
	require.Len(t, r.Attempts, 1)
	require.LessOrEqual(t, len(f.disk.events[0].Decision), decide.MaxRecordBytes)
}

func TestLostRecordsAreCountedAndLogged(t *testing.T) {
	f := newFixture()
	f.disk.err = errors.New("closed")
	f.Record(t.Context(), newCall(), principal, nil, served(nil))
	require.Contains(t, f.log.String(), "usage record not kept")
	require.Contains(t, f.log.String(), `"level":"ERROR"`)
	require.InDelta(t, 1, f.counter(t, "signalbox_usage_records_lost_total"), 0)
	require.NotEmpty(t, f.access.String(), "the access line is written all the same")
}

func TestBugsAreLoggedWithTheirCause(t *testing.T) {
	f := newFixture()
	f.Record(t.Context(), newCall(), principal, nil, served(func(o *call.Outcome) { o.Failure = fault.Of(errors.New("the cause")) }))
	require.Contains(t, f.log.String(), "the cause")
	require.NotContains(t, f.access.String(), "the cause")
}

// The access line must never have a member that nobody has thought about.
func TestAccessLineFields(t *testing.T) {
	f := newFixture()
	c := newCall()
	c.Request.ClientRequestID = "mine"
	f.Record(t.Context(), c, principal, nil, served(func(o *call.Outcome) { o.Failure = fault.New(fault.UpstreamServerError, "x") }))
	var line map[string]any
	require.NoError(t, json.Unmarshal(f.access.Bytes(), &line))
	keys := []string{}
	for key := range line {
		keys = append(keys, key)
	}
	require.ElementsMatch(t, []string{
		"time", "level", "msg", "request_id", "route", "remote", "status", "workspace_id", "key_id", "client_request_id", "code", "reason",
		"surface", "outcome", "requested_model", "model", "stream", "attempts", "provider", "endpoint", "duration_us", "gateway_us",
		"upstream_us", "first_byte_us", "input_tokens", "output_tokens", "cost_nano_usd", "policy_revision", "catalog_revision",
	}, keys)
	require.InDelta(t, 100_000, line["gateway_us"], 0)
}

// What a caller or an upstream wrote must end neither the line nor its strings.
func TestAccessLineIsOneLineOfJSON(t *testing.T) {
	f := newFixture()
	const hostile = "a\",\"status\":1,\"x\":\"\n\x00\xff\u2028</script>\\"
	f.Record(t.Context(), newCall(), principal, nil, served(func(o *call.Outcome) { o.Record.RequestedModel = hostile }))
	f.Access(t.Context(), newCall(), call.Principal{}, 404, nil)
	lines := bytes.SplitAfter(f.access.Bytes(), []byte("\n"))
	require.Len(t, lines, 3)
	require.Empty(t, lines[2])
	var line struct {
		Time   time.Time
		Level  string
		Msg    string
		Status int
		Model  string `json:"requested_model"`
	}
	require.NoError(t, json.Unmarshal(lines[0], &line))
	require.Equal(t, strings.ToValidUTF8(hostile, "\uFFFD"), line.Model)
	require.Equal(t, start.Add(time.Second), line.Time)
	require.Equal(t, []any{"INFO", "request", 200}, []any{line.Level, line.Msg, line.Status})
	require.NoError(t, json.Unmarshal(lines[1], &line))
	require.Equal(t, 404, line.Status)
}

func TestNoAccessLinesWithoutAWriter(t *testing.T) {
	f := newFixture()
	f.Recorder = record.New(record.Deps{
		Spool: f.disk, Log: slog.New(slog.DiscardHandler), Metrics: record.NewMetrics(prometheus.NewRegistry()),
		Recent: f.recent,
	})
	f.Record(t.Context(), newCall(), principal, nil, served(nil))
	f.Access(t.Context(), newCall(), call.Principal{}, 404, nil)
	require.Len(t, f.disk.events, 1)
}

// The metrics that are looked up once must be those that the labels name.
func TestRequestsAreCountedByTheirLabels(t *testing.T) {
	f := newFixture()
	broke := func(o *call.Outcome) {
		o.Failure = fault.New(fault.UpstreamServerError, "x").Because(fault.StreamCut)
	}
	for _, change := range []func(*call.Outcome){nil, broke, nil, nil} {
		f.Record(t.Context(), newCall(), principal, nil, served(change))
	}
	other := newCall()
	other.Surface = catalog.Completions
	f.Record(t.Context(), other, principal, nil, served(nil))
	families, err := f.registry.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += "/" + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"signalbox_requests_total//success/chat":                    3,
		"signalbox_requests_total/upstream_server_error/error/chat": 1,
		"signalbox_requests_total//success/completions":             1,
		"signalbox_attempts_total//north":                           4,
		"signalbox_attempts_total/stream_cut/north":                 1,
		"signalbox_tokens_total/input":                              50,
		"signalbox_tokens_total/output":                             25,
		"signalbox_request_duration_seconds/chat":                   4,
		"signalbox_gateway_duration_seconds/completions":            1,
		"signalbox_first_byte_seconds/chat":                         4,
	} {
		require.InDelta(t, want, got[name], 0, "%s in %v", name, got)
	}
}

func TestRecentForgetsTheOldestAndKeepsWorkspacesApart(t *testing.T) {
	f := newFixture()
	calls := []call.Call{newCall(), newCall(), newCall()}
	for _, c := range calls {
		f.Record(t.Context(), c, principal, nil, first(c, served(nil)))
	}
	ws := principal.Key.Workspace
	_, ok := f.recent.Generation(ws, calls[0].ID)
	require.False(t, ok)
	events, ok := f.recent.Generation(ws, calls[2].ID)
	require.True(t, ok)
	require.Equal(t, calls[2].ID, events[0].ID)
	_, ok = f.recent.Generation(id.New[id.WorkspaceKind](ids), calls[2].ID)
	require.False(t, ok)
}

func BenchmarkRecord(b *testing.B) {
	f := newFixture()
	f.Recorder = record.New(record.Deps{
		Spool: nowhere{}, Access: io.Discard,
		Log: slog.New(slog.DiscardHandler), Metrics: record.NewMetrics(prometheus.NewRegistry()), Recent: record.NewRecent(64),
	})
	c, o := newCall(), served(nil)
	b.ReportAllocs()
	for b.Loop() {
		c.ID = id.New[id.RequestKind](ids) // another request each time
		o.Turn.ID = c.ID
		f.Recorder.Record(b.Context(), &c, &principal, nil, &o)
	}
}

type nowhere struct{}

func (nowhere) Intent(spool.Intent) error { return nil }

func (nowhere) Complete(...wire.UsageEvent) error { return nil }
