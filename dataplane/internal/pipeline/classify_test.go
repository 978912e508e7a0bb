package pipeline_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// judged is a request of signalbox/auto on its way, with the real kernel, and
// the model that classifies.
type judged struct {
	fakes
	opening, within *decide.Opening    // of the request, and that the child was told of
	why             decide.LocalReason // no model is asked
	reply           string             // of the classifier model
	err             error              // of its attempt
	hang            bool               // it answers once nobody waits any more
	boom            bool               // the attempt panics
	asked           []string           // models, in the order of their attempts
	records         []recorded
	limit           time.Duration
	ill             bool // the endpoint of the model fails or cools down
	said            []decide.LocalReason
	left            func() // has the caller leave while the classifier is asked
}

// View implements pipeline.Health.
func (j *judged) View() decide.Health { return j }

func (j *judged) Endpoint(id string) decide.EndpointHealth {
	return decide.EndpointHealth{Open: j.ill && id == "west:acme/judge"}
}

func (j *judged) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

func (j *judged) Said(c *decide.Classification, _ time.Time) { j.said = append(j.said, c.Why) }

type recorded struct {
	call    call.Call
	outcome call.Outcome
}

var childID = id.MustParse[id.RequestKind]("req_00000000000000000000000002")

func (j *judged) Catalog() *catalog.View {
	in, out := money.PerMillion(100_000_000), money.PerMillion(400_000_000)
	model := func(modelID string, slugs ...string) catalog.Model {
		m := catalog.Model{ID: modelID, Author: "acme"}
		for _, slug := range slugs {
			m.Endpoints = append(m.Endpoints, catalog.Endpoint{
				ID: catalog.EndpointID(slug, modelID, ""), Provider: slug, UpstreamModel: "m", Price: &catalog.Price{Input: &in, Output: &out},
			})
		}
		return m
	}
	provider := func(slug string) catalog.Provider {
		return catalog.Provider{Slug: slug, Type: catalog.OpenAICompatible, BaseURL: "https://" + slug + ".example/v1", Keyless: true}
	}
	v, err := catalog.Compile(catalog.Catalog{
		Schema: catalog.Schema, Revision: 3,
		Providers: []catalog.Provider{provider("north"), provider("south"), provider("west")},
		Models:    []catalog.Model{model("acme/judge", "west"), model("acme/one", "north", "south"), model("acme/two", "south")},
	})
	require.NoError(j.t, err)
	return v
}

func (j *judged) Read(*call.Call) classify.Text {
	return classify.Text{Last: "Translate to French: hello", Tools: true}
}

func (j *judged) Model(pin call.Pinned, _ decide.Health, _ time.Time) (string, decide.LocalReason) {
	require.NotNil(j.t, pin.Catalog)
	if j.why != "" {
		return "", j.why
	}
	return "acme/judge", ""
}

func (j *judged) Ask(c *call.Call, _ *classify.Text, model string, now time.Time) (call.Call, time.Duration) {
	return call.Call{
		ID: childID, Primary: c.ID, Purpose: "judging", Surface: catalog.Chat, Received: now,
		Request: call.Request{Model: model, Provider: c.Request.Provider},
	}, j.limit
}

func (j *judged) Answer(reply []byte) (r classify.Result, ok bool) {
	r.Mix[classify.Code], r.Complexity, r.Confidence = 1, 0.5, 1
	return r, string(reply) == "code"
}

func (j *judged) Open(c *call.Call, plan *decide.Plan) call.Trial {
	return &trial{judged: j, call: *c, plan: *plan}
}

// trial is that of one request.
type trial struct {
	*judged
	call  call.Call
	plan  decide.Plan
	turns int
	err   error
}

func (q *trial) Next(context.Context) (int, bool) {
	q.turns++
	return q.turns - 1, q.turns <= len(q.plan.Chain) && q.turns == 1
}

func (q *trial) Try(ctx context.Context, step int) (*call.Reply, error) {
	j := q.judged
	j.asked = append(j.asked, q.plan.Chain[step].Model.ID)
	if q.call.Purpose != "" {
		require.Len(j.t, q.plan.Chain, 1, "the classifier's model and no other")
		switch {
		case j.boom:
			panic("boom")
		case j.hang:
			if j.left != nil {
				j.left()
			}
			<-ctx.Done()
			q.err = fault.Wrap(ctx.Err(), fault.ClientClosed, "gone")
		case j.err != nil:
			q.err = j.err
		}
	}
	if q.err != nil {
		return nil, q.err
	}
	text := "the answer"
	if q.call.Purpose != "" {
		text = j.reply
	}
	return &call.Reply{
		Step: q.plan.Chain[step], Candidate: q.plan.Chain[step].Candidates[0], Status: 200, Meter: &j.fakes,
		Body: io.NopCloser(strings.NewReader(text)),
	}, nil
}

func (q *trial) Failure(context.Context) error    { return q.err }
func (q *trial) Attempts() []decide.AttemptRecord { return nil }

func (j *judged) Deliver(_ context.Context, r *call.Reply, head http.Header, out call.Sink) (call.Seen, error) {
	_ = out.Start(call.Head{Status: 200, Header: head})
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return call.Seen{}, err
	}
	return call.Seen{}, out.Write(text)
}

func (j *judged) Record(_ context.Context, c *call.Call, _ *call.Principal, _ call.Grant, o *call.Outcome) {
	j.records = append(j.records, recorded{*c, *o})
}

func (j *judged) decided(in *decide.Input) decide.Plan {
	if in.Facts.Child {
		j.within = in.Within
	} else {
		j.opening = in.Opening
	}
	return in.Decide()
}

func (j *judged) line(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	j.t = t
	if j.limit == 0 {
		j.limit = time.Minute
	}
	return pipeline.New(pipeline.Steps{
		Auth: j, Policies: j, Catalogs: j, Objects: j, Affinity: &memory{}, Health: j, Decide: j.decided, Classify: j, Admit: j,
		Begin: j, Attempt: j, Deliver: j, Record: j, Access: j, Status: func(*fault.Error) int { return 418 },
	}, func() time.Time { return start }, func() uint64 { return 42 }, id.SystemSource())
}

func (j *judged) serve(t *testing.T, c call.Call) *sink {
	t.Helper()
	s := &sink{}
	c.ID = id.MustParse[id.RequestKind]("req_00000000000000000000000001")
	c.Received, c.Surface, c.Request.Model = start, catalog.Chat, catalog.AutoModel
	j.line(t).Serve(t.Context(), &c, s)
	return s
}

func TestAModelClassifies(t *testing.T) {
	j := &judged{reply: "code"}
	s := j.serve(t, call.Call{})
	require.Equal(t, 200, s.status)
	require.Len(t, j.records, 2)
	child, primary := j.records[0], j.records[1]
	require.Equal(t, primary.call.ID, child.call.Primary, "linked")
	require.Equal(t, "judging", child.call.Purpose)
	require.Nil(t, child.outcome.Failure)
	require.True(t, child.outcome.Turn.Begun, "accounted for before it was sent")
	require.Equal(t, "acme/judge", child.outcome.Record.RequestedModel)
	require.NotNil(t, j.within)
	require.Same(t, j.opening, j.within, "held to what restricts the request")
	require.EqualValues(t, 9, child.outcome.Record.PolicyRevision, "under the same revision")

	a := primary.outcome.Record.Auto
	require.Equal(t, "model", a.Classifier)
	require.Empty(t, a.LocalReason)
	require.Equal(t, "acme/judge", a.ClassifierModel)
	require.Equal(t, childID.String(), a.ClassifierRequest)
	require.Equal(t, "tool_use", a.Workload, "tools are a fact, whatever the model says")
	require.Equal(t, []decide.WorkPart{{Workload: "code", Share: 0.4}, {Workload: "tool_use", Share: 0.6}}, a.Mix)
	require.Equal(t, j.asked[1], primary.outcome.Record.DecidedModel)
}

func TestRulesClassifyWhenTheModelDoesNot(t *testing.T) {
	only := func(slug string) call.Call {
		return call.Call{Request: call.Request{Provider: decide.Preferences{Only: []string{slug}}}}
	}
	cases := []struct {
		name    string
		judged  *judged
		call    call.Call
		why     decide.LocalReason
		records int    // rows: that of the child is there when it was sent
		failure string // of the child
	}{
		{"garbage", &judged{reply: "as you wish"}, call.Call{}, decide.LocalInvalid, 2, ""},
		{"an error", &judged{err: fault.New(fault.UpstreamServerError, "no")}, call.Call{}, decide.LocalFailed, 2, "upstream_server_error"},
		{"a bug", &judged{boom: true}, call.Call{}, decide.LocalFailed, 2, "gateway_error"},
		{"any other error", &judged{err: errors.New("x")}, call.Call{}, decide.LocalFailed, 2, "gateway_error"},
		{"no answer in time", &judged{hang: true, limit: time.Nanosecond}, call.Call{}, decide.LocalTimeout, 2, "upstream_timeout"},
		{"a model that cannot meet the restrictions", &judged{}, only("south"), decide.LocalConstrained, 1, ""},
		{"a model whose endpoint is ill", &judged{ill: true, reply: "code"}, call.Call{}, decide.LocalUnhealthy, 1, ""},
		{"an operator who wants none", &judged{why: decide.LocalConfigured}, call.Call{}, decide.LocalConfigured, 1, ""},
		{"a count of tokens", &judged{}, call.Call{Action: call.Count}, decide.LocalNotGenerated, 1, ""},
		{"one candidate", &judged{}, only("north"), decide.LocalOneCandidate, 1, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := c.judged.serve(t, c.call)
			require.Equal(t, 200, s.status, "%v", s.failure)
			require.Len(t, c.judged.records, c.records)
			primary := c.judged.records[c.records-1].outcome
			require.Nil(t, primary.Failure)
			a := primary.Record.Auto
			if c.why == "" {
				return
			}
			require.Equal(t, "local", a.Classifier)
			require.Equal(t, []decide.LocalReason{c.why}, c.judged.said)
			require.Equal(t, string(c.why), a.LocalReason)
			require.Equal(t, "tool_use", a.Workload)
			require.Contains(t, a.Mix, decide.WorkPart{Workload: "tool_use", Share: 0.6})
			if c.failure != "" {
				require.Equal(t, c.failure, string(c.judged.records[0].outcome.Failure.Code))
				require.NotEmpty(t, a.ClassifierRequest)
			}
			if c.records == 1 {
				require.Empty(t, a.ClassifierRequest, "nothing was sent")
			}
		})
	}
}

// A refusal asks nobody in vain, and neither does a model that was named.
func TestNobodyIsAskedInVain(t *testing.T) {
	j := &judged{reply: "code"}
	s := j.serve(t, call.Call{Request: call.Request{Provider: decide.Preferences{Region: "asia"}}})
	require.Equal(t, fault.ModelRegionUnavailable, s.failure.Code)
	require.Len(t, j.records, 1)
	require.Empty(t, j.asked)
	require.NotNil(t, j.records[0].outcome.Record.Auto)
}

func TestAPreviewContactsNobody(t *testing.T) {
	j := &judged{reply: "code"}
	_, plan, err := j.line(t).Preview(t.Context(), &call.Call{Surface: catalog.Chat, Request: call.Request{Model: catalog.AutoModel}})
	require.NoError(t, err)
	require.NotEmpty(t, plan.Chain)
	require.Equal(t, string(decide.LocalPreview), plan.Record.Auto.LocalReason)
	require.Empty(t, j.said)
	require.Empty(t, j.asked)
	require.Empty(t, j.records)
}

// A caller who leaves while the classifier is asked says nothing of it.
func TestACallerWhoLeavesSaysNothingOfTheClassifier(t *testing.T) {
	j := &judged{hang: true}
	ctx, leave := context.WithCancel(t.Context())
	j.left = leave
	c := call.Call{ID: childID, Received: start, Surface: catalog.Chat}
	c.Request.Model = catalog.AutoModel
	j.line(t).Serve(ctx, &c, &sink{})
	require.NotEmpty(t, j.asked)
	require.Empty(t, j.said)
}
