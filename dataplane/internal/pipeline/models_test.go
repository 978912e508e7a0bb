package pipeline_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// chain has one candidate for each model.
func chain(models ...string) []decide.Step {
	var steps []decide.Step
	for _, model := range models {
		step := decide.Step{
			Model:      &catalog.Model{ID: model},
			Candidates: []decide.Candidate{{Provider: north, Endpoint: &catalog.Endpoint{ID: "north:" + model}}},
		}
		if len(steps) > 0 {
			step.Reason = decide.SwitchFallbackModel
		}
		steps = append(steps, step)
	}
	return steps
}

var (
	broken = fault.New(fault.UpstreamServerError, "x").From(fault.Upstream)
	broke  = fault.New(fault.InsufficientFunds, "x").From(fault.Gateway)
	mine   = call.Call{ID: id.MustParse[id.RequestKind]("req_00000000000000000000000007")}
)

func declined(f *fault.Error) error { return &call.Declined{Fault: f, Model: true} }

func TestEachModelHasATurn(t *testing.T) {
	f := &fakes{chain: chain("acme/small", "acme/large", "acme/huge"), answers: []error{broken, broken, nil}}
	s := serve(t, f, mine)
	require.Nil(t, s.failure)
	require.Equal(t, []string{
		"authenticate", "pin", "decide", "admit", "begin", "attempt", "pass", "admit", "begin", "attempt", "pass", "admit", "begin", "attempt", "deliver", "record",
	}, f.order)
	require.Len(t, f.passed, 2)
	turns := []call.Outcome{f.passed[0], f.passed[1], f.outcome}
	for i, o := range turns {
		require.Equal(t, f.begun[i].ID, o.Turn.ID, "what was begun is what is completed")
		require.Equal(t, []int{i, 2 * i}, []int{o.Turn.Step, o.Turn.First})
		require.True(t, o.Turn.Begun)
		require.Len(t, o.Attempts, 2*(i+1), "all so far")
		require.Equal(t, []string{"acme/small", "acme/large", "acme/huge"}[i], o.Record.DecidedModel)
	}
	require.Equal(t, mine.ID, turns[0].Turn.ID, "the first has the request's id")
	require.NotEqual(t, turns[1].Turn.ID, turns[2].Turn.ID)
	require.Equal(t, start, turns[0].Turn.Started)
	require.Equal(t, []any{broken, 502}, []any{turns[1].Turn.Failure, turns[1].Turn.Status})
	require.Nil(t, turns[2].Turn.Failure)
	require.Equal(t, 200, turns[2].Turn.Status)
	require.Equal(t, decide.SwitchFallbackModel, turns[2].Record.SwitchReason)
	require.Equal(t, "north:acme/huge", turns[2].Record.DecidedUpstream)
	require.Equal(t, []string{"5"}, f.head["X-Signalbox-Retry-Count"], "over all models")
	require.Nil(t, f.held[0])
	require.NotNil(t, f.held[1], "only what depends on the model is checked again")
}

func TestWhatIsNotAdmittedIsPassedOver(t *testing.T) {
	for name, c := range map[string]struct {
		declines, answers []error
		want              *fault.Error // what the caller gets
		rows              []fault.Code // of the turns, "" for success
	}{
		"the first": {[]error{declined(broke), nil}, []error{nil, nil}, nil, []fault.Code{fault.InsufficientFunds, ""}},
		"the first, and the second fails": {
			[]error{declined(broke), nil},
			[]error{nil, broken},
			broken,
			[]fault.Code{fault.InsufficientFunds, fault.UpstreamServerError},
		},
		"all": {
			[]error{declined(broke), declined(fault.New(fault.RateLimitExceeded, "y"))},
			nil, broke,
			[]fault.Code{fault.InsufficientFunds, fault.RateLimitExceeded},
		},
		"a fallback": {
			[]error{nil, declined(broke)},
			[]error{broken},
			broken,
			[]fault.Code{fault.UpstreamServerError, fault.InsufficientFunds},
		},
		"a fallback, by a gate that speaks of all": {
			[]error{nil, broke},
			[]error{broken},
			broken,
			[]fault.Code{fault.UpstreamServerError, fault.InsufficientFunds},
		},
		"the first, by a gate that speaks of all": {[]error{broke, nil}, nil, broke, []fault.Code{fault.InsufficientFunds}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakes{chain: chain("acme/small", "acme/large"), declines: c.declines, answers: c.answers}
			s := serve(t, f, mine)
			require.Equal(t, c.want, s.failure)
			var rows []fault.Code
			for _, o := range append(f.passed, f.outcome) {
				code := fault.Code("")
				if o.Turn.Failure != nil {
					code = o.Turn.Failure.Code
				}
				rows = append(rows, code)
			}
			require.Equal(t, c.rows, rows)
			require.Equal(t, c.want, f.outcome.Failure)
		})
	}
}

func TestWhatCannotBeBegunIsNotTried(t *testing.T) {
	f := &fakes{chain: chain("acme/small", "acme/large"), answers: []error{broken}, err: errors.New("disk full")}
	f.onBegin = func(n int) bool { return n == 2 }
	s := serve(t, f, mine)
	require.Equal(t, broken, s.failure, "it does not take the place of the failure")
	require.False(t, f.outcome.Turn.Begun)
	require.Equal(t, fault.QuotaUnavailable, f.outcome.Turn.Failure.Code)
	require.Len(t, f.records, 2)
}

// Whatever happens in a later turn, what was begun is completed once.
func TestAPanicInALaterTurnIsRecorded(t *testing.T) {
	for _, boom := range []string{"admit", "begin", "attempt"} {
		f := &fakes{chain: chain("acme/small", "acme/large"), answers: []error{broken, broken}}
		f.boomAt = 2
		f.boom = boom
		s := serve(t, f, mine)
		require.Equal(t, fault.GatewayError, s.failure.Code, boom)
		require.Len(t, f.passed, 1)
		require.Equal(t, mine.ID, f.passed[0].Turn.ID)
		require.NotEqual(t, mine.ID, f.outcome.Turn.ID)
		require.Equal(t, fault.GatewayError, f.outcome.Turn.Failure.Code)
		require.Equal(t, boom == "attempt", f.outcome.Turn.Begun)
	}
}

// The refusal of a limit carries its own headers, and what the gates saw; a
// request that another model served carries the grant's.
func TestWhatAGateSaysOfItsRefusal(t *testing.T) {
	refused := &call.Declined{
		Fault: fault.New(fault.RateLimitExceeded, "x"), Header: http.Header{"X-Ratelimit-Limit-Requests": {"7"}},
		Checks: []decide.LimitCheck{{Scope: "member"}},
	}
	f := &fakes{chain: chain("acme/small", "acme/large"), declines: []error{refused}}
	s := serve(t, f, mine)
	require.Equal(t, []string{"7"}, s.header["X-Ratelimit-Limit-Requests"])
	require.Equal(t, refused.Checks, f.outcome.Record.Limits)
	require.Empty(t, f.passed, "it speaks of every model")

	refused.Model = true
	f = &fakes{chain: chain("acme/small", "acme/large"), declines: []error{refused, nil}}
	s = serve(t, f, mine)
	require.Nil(t, s.failure)
	require.Equal(t, []string{"60"}, f.head["X-Ratelimit-Limit-Requests"])
	require.Equal(t, refused.Checks, f.passed[0].Record.Limits)
	require.Equal(t, "key", f.outcome.Record.Limits[0].Scope)
}

// The first model that is admitted stands for the request where it is counted:
// once, whichever that is.
func TestTheFirstAdmittedModelCountsAsTheRequest(t *testing.T) {
	no := declined(broke)
	for name, c := range map[string]struct {
		declines, answers []error
		want              []bool
	}{
		"the first":          {nil, []error{nil}, []bool{false}},
		"the first, and on":  {nil, []error{broken, nil}, []bool{false, false}},
		"the second":         {[]error{no}, []error{nil, nil}, []bool{false, true}},
		"the second, and on": {[]error{no}, []error{nil, broken, nil}, []bool{false, true, false}},
		"the third":          {[]error{no, no}, []error{nil, nil, nil}, []bool{false, false, true}},
		"one between is not": {[]error{nil, no}, []error{broken, nil, nil}, []bool{false, false, false}},
	} {
		f := &fakes{chain: chain("acme/small", "acme/large", "acme/huge"), declines: c.declines, answers: c.answers}
		serve(t, f, mine)
		var got []bool
		for _, o := range append(f.passed, f.outcome) {
			got = append(got, o.Turn.Terms.First)
		}
		require.Equal(t, c.want, got, name)
	}
}
