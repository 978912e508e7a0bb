package decide_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// on is a world whose key has a route of these nodes.
func on(nodes ...flow.Node) *world {
	w := newWorld()
	route := routeOf(nodes...)
	w.route = &route
	return w
}

// Where a route fixes the model, what is in the chain and what is left out.
func TestAFixedModel(t *testing.T) {
	for name, c := range map[string]struct {
		nodes   []flow.Node
		facts   decide.Facts
		set     func(*policy.Settings)
		chain   []string
		reason  decide.SwitchReason
		without map[string]string // excluded: reason
	}{
		"takes the caller's place": {
			nodes: []flow.Node{fixes("big", "acme/big")}, facts: decide.Facts{Model: "acme/small"},
			chain: []string{"acme/big"}, reason: decide.SwitchDynamicRoute,
		},
		"is the caller's": {
			nodes: []flow.Node{fixes("big", "acme/big")}, facts: decide.Facts{Model: "acme/big"}, chain: []string{"acme/big"},
		},
		"for a caller who names none": {
			nodes: []flow.Node{fixes("big", "acme/big")}, chain: []string{"acme/big"}, reason: decide.SwitchDynamicRoute,
		},
		"does not override a provider": {
			nodes: []flow.Node{fixes("big", "acme/big")}, facts: decide.Facts{Model: "south:acme/small"}, chain: []string{"acme/small"},
		},
		"overrides auto": {
			nodes: []flow.Node{fixes("big", "acme/big")}, facts: decide.Facts{Model: "signalbox/auto"}, chain: []string{"acme/big"},
			reason: decide.SwitchDynamicRoute, without: map[string]string{"signalbox/auto": "overridden_by_dynamic_route"},
		},
		"overrides auto as the default": {
			nodes: []flow.Node{fixes("big", "acme/big")}, set: func(s *policy.Settings) { s.DefaultModel = "signalbox/auto" },
			chain: []string{"acme/big"}, reason: decide.SwitchDynamicRoute, without: map[string]string{"signalbox/auto": "overridden_by_dynamic_route"},
		},
		"has fallbacks": {
			nodes: []flow.Node{fixes("big", "acme/big", "acme/small", "acme/tiny")},
			facts: decide.Facts{Model: "zeta/small", Models: []string{"zeta/small"}}, set: fallbacks("acme/tiny:free"),
			chain: []string{"acme/big", "acme/small", "acme/tiny"}, reason: decide.SwitchDynamicRoute,
			without: map[string]string{"zeta/small": "replaced_by_route_fallbacks"},
		},
		"replaces every entry": {
			nodes: []flow.Node{fixes("big", "acme/big")}, facts: decide.Facts{Model: "acme/small", Models: []string{"zeta/small", "acme/tiny"}},
			set: fallbacks("acme/tiny:free"), chain: []string{"acme/big"}, reason: decide.SwitchDynamicRoute,
			without: map[string]string{"zeta/small": "replaced_by_route", "acme/tiny": "replaced_by_route", "acme/tiny:free": "replaced_by_route"},
		},
		"leaves a further provider's": {
			nodes: []flow.Node{fixes("big", "acme/big")}, facts: decide.Facts{Model: "acme/small", Models: []string{"south:zeta/small"}},
			chain: []string{"acme/big", "zeta/small"}, reason: decide.SwitchDynamicRoute,
		},
		"by the name of each entry": {
			nodes: []flow.Node{whenIs("which", condition.Model, "", "zeta/small", "tiny", "big"), fixes("big", "acme/big"), fixes("tiny", "acme/tiny")},
			facts: decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}},
			chain: []string{"acme/big", "acme/tiny"}, reason: decide.SwitchDynamicRoute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := on(c.nodes...)
			if c.set != nil {
				c.set(&w.settings)
			}
			plan := w.decide(t, c.facts)
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.chain, plan.Record.Chain)
			require.Equal(t, c.reason, plan.Record.SwitchReason)
			require.Equal(t, routeID.String(), plan.Record.Route.ID)
			require.Equal(t, 5, plan.Record.Route.Version)
			for model, reason := range c.without {
				require.Equal(t, reason, excluded(plan, model), model)
			}
		})
	}
}

// Of a model that nobody has it is told whether the route or the caller named it:
// a rollout is judged by its own mistakes.
func TestARefusalTellsWhoNamedTheModel(t *testing.T) {
	w := on(fixes("big", "acme/gone"))
	refusal := w.decide(t, decide.Facts{Model: "acme/small"}).Refusal
	require.Equal(t, fault.ModelNotFound, refusal.Code)
	require.Equal(t, "route", refusal.Fields["rung"])

	w = on(fixes("big", "@gone"))
	in := w.input(t, decide.Facts{Model: "acme/small"})
	in.Presets = map[string]*policy.PresetVersion{"gone": nil}
	refusal = decide.Decide(in).Refusal
	require.Equal(t, fault.PresetNotFound, refusal.Reason)
	require.Equal(t, "route", refusal.Fields["rung"])

	refusal = on(fixes("keep", "")).decide(t, decide.Facts{Model: "acme/gone"}).Refusal
	require.Equal(t, fault.ModelNotFound, refusal.Code)
	require.NotContains(t, refusal.Fields, "rung")
}

// What a node restricts binds whatever the caller names, and each entry has its
// own way through the graph.
func TestEachEntryHasItsOwnWay(t *testing.T) {
	only := flow.Node{ID: "only", Type: flow.Model, Next: "end", Provider: &flow.Provider{Only: []string{"north"}}}
	w := on(only)
	require.Equal(t, []string{north}, order(w.decide(t, decide.Facts{Model: "acme/small"})))
	plan := w.decide(t, decide.Facts{Model: "south:acme/small"})
	require.Equal(t, fault.ProviderQualifiedModelConflict, plan.Refusal.Reason)
	require.Equal(t, "route", plan.Refusal.Fields["rung"])
	require.Equal(t, []string{"start", "only", "end"}, plan.Record.Route.Nodes)

	w = on(whenIs("which", condition.Model, "", "acme/small", "only", "else"), only,
		flow.Node{ID: "else", Type: flow.Model, Next: "end", Provider: &flow.Provider{Ignore: []string{"north"}}})
	plan = w.decide(t, decide.Facts{Model: "acme/small", Models: []string{"zeta/small", "acme/big"}})
	require.Equal(t, []string{north, "south:zeta/small"}, order(plan))
	require.Equal(t, []string{"start", "which", "only", "end"}, plan.RecordOf(0).Route.Nodes)
	require.Equal(t, []string{"start", "which", "else", "end"}, plan.RecordOf(1).Route.Nodes)
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{
		Model: "acme/big", Endpoint: "north:acme/big", Stage: "ignore", Reason: "ignored", Rung: "route",
	})

	// What an expression found in one entry's name is not what it finds in another's.
	which := whenIs("which", condition.Model, "", "^acme/s", "only", "else")
	which.When.Op = condition.Matches
	w = on(which, only, flow.Node{ID: "else", Type: flow.Model, Next: "end"})
	plan = w.decide(t, decide.Facts{Model: "acme/big", Models: []string{"zeta/small", "acme/small"}})
	for i, node := range []string{"else", "else", "only"} {
		require.Equal(t, []string{"start", "which", node, "end"}, plan.RecordOf(i).Route.Nodes)
	}
	w = on(whenIs("which", condition.Model, "", "acme/small", "only", "else"), only,
		flow.Node{ID: "else", Type: flow.Model, Next: "end", Provider: &flow.Provider{Ignore: []string{"north"}}})

	// A refusal has the way that led to it.
	plan = w.decide(t, decide.Facts{Model: "acme/big"})
	require.NotNil(t, plan.Refusal)
	require.Equal(t, []string{"start", "which", "else", "end"}, plan.Record.Route.Nodes)
}

// A reject node answers for the first entry, and only leaves a further one out.
func TestARejectNode(t *testing.T) {
	which := func(model string) *world {
		return on(whenIs("which", condition.Model, "", model, "no", "end"), rejects("no", 451))
	}
	for _, model := range []string{"acme/small", "north:acme/small"} {
		plan := which(model).decide(t, decide.Facts{Model: model, Models: []string{"acme/big"}})
		require.Equal(t, fault.RouteRejected, plan.Refusal.Code)
		require.Equal(t, fault.Reason("not_today"), plan.Refusal.Reason)
		require.Equal(t, "Ask again tomorrow.", plan.Refusal.Message)
		require.Equal(t, 451, plan.Refusal.Status)
		require.False(t, plan.Refusal.Retryable)
		require.Equal(t, []string{"start", "which", "no"}, plan.Record.Route.Nodes)
		require.Equal(t, &decide.RefusalRecord{Code: "route_rejected", Reason: "not_today"}, plan.Record.Refusal)
	}
	// It comes before presets: whether there is one that is named is not asked.
	in := which("@gone").input(t, decide.Facts{Model: "@gone"})
	require.Empty(t, decide.Open(&in).Needs())
	in.Presets = map[string]*policy.PresetVersion{"gone": nil}
	require.Equal(t, fault.RouteRejected, decide.Decide(in).Refusal.Code)

	plan := which("acme/big").decide(t, decide.Facts{Model: "acme/small", Models: []string{"acme/big", "acme/tiny"}})
	require.Equal(t, []string{"acme/small", "acme/tiny"}, plan.Record.Chain)
	require.Equal(t, "rejected_by_route", excluded(plan, "acme/big"))

	for status, retryable := range map[int]bool{400: false, 403: false, 408: true, 409: false, 429: false, 499: false} {
		plan := on(whenIs("which", condition.Model, "", "acme/small", "no", "end"), rejects("no", status)).decide(t, decide.Facts{Model: "acme/small"})
		require.Equal(t, retryable, plan.Refusal.Retryable, status)
	}
}

// What an administrator wrote reaches callers on one line and bounded.
func TestARejectionsTextIsBounded(t *testing.T) {
	e := decide.Rejected(&flow.Rejection{Status: 400, Code: "a\"b" + strings.Repeat("c", 100), Message: " line\none\u2028two\x00\xff" + strings.Repeat("é", flow.MaxMessage)})
	require.True(t, strings.HasPrefix(e.Message, "line one two "), e.Message)
	require.True(t, utf8.ValidString(e.Message))
	require.LessOrEqual(t, len(e.Message), flow.MaxMessage)
	require.Len(t, string(e.Reason), flow.MaxReasonBytes)
	require.NotContains(t, string(e.Reason), `"`)
	require.NotEmpty(t, decide.Rejected(&flow.Rejection{Status: 400}).Message)
}

// content is a request's body and headers.
type content map[string]string

func (c content) Look(s condition.Source, path string) []condition.Value {
	if text, there := c[string(s)+" "+path]; there {
		return []condition.Value{condition.Text(text)}
	}
	return nil
}

// Every source of a condition is what the request, its key or its workspace has.
func TestWhatConditionsLookAt(t *testing.T) {
	for _, c := range []struct {
		source      condition.Source
		path, value string
		change      func(*world, *decide.Input)
	}{
		{condition.Model, "", "acme/small", nil},
		{condition.Endpoint, "", "chat", nil},
		{condition.SessionID, "", "s1", func(_ *world, in *decide.Input) { in.Facts.SessionID = "s1" }},
		{condition.UserID, "", "u1", func(_ *world, in *decide.Input) { in.Facts.EndUser = "u1" }},
		{condition.KeyScope, "", "write", func(_ *world, in *decide.Input) { in.Facts.Key.Scopes = []string{"read", "write"} }},
		{condition.Metadata, "plan", "pro", func(_ *world, in *decide.Input) { in.Facts.Metadata = map[string]any{"plan": "pro"} }},
		{condition.Body, "a.0.b", "x", func(_ *world, in *decide.Input) { in.Content = content{"body a.0.b": "x"} }},
		{condition.Header, "x-team", "blue", func(_ *world, in *decide.Input) { in.Content = content{"header x-team": "blue"} }},
		{condition.WorkspaceTag, "", "gold", nil},
	} {
		w := on(whenIs("is", c.source, c.path, c.value, "yes", "end"), fixes("yes", "acme/big"))
		if c.source == condition.WorkspaceTag {
			w.tags = []string{"gold", "eu"}
		}
		in := w.input(t, decide.Facts{Model: "acme/small"})
		if c.change != nil {
			require.Equal(t, "acme/small", decide.Decide(in).Record.DecidedModel, "%s is missing", c.source)
			c.change(w, &in)
		}
		require.Equal(t, "acme/big", decide.Decide(in).Record.DecidedModel, c.source)
	}
}

// Percentages are drawn for the session, else the cache key, else the end user,
// else the request.
func TestTheSubject(t *testing.T) {
	split := flow.Node{ID: "split", Type: flow.Percentage, Branches: []flow.Branch{
		{ID: "a", Percent: 5_000, Next: "big"}, {ID: "b", Percent: 5_000, Next: "end"},
	}}
	w := on(split, fixes("big", "acme/big"))
	to := func(f decide.Facts) string {
		f.Model = "acme/small"
		return w.decide(t, f).Record.DecidedModel
	}
	var one, other string // subjects of the two branches
	for _, subject := range []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"} {
		if to(decide.Facts{SessionID: subject}) == "acme/big" {
			one = subject
		} else {
			other = subject
		}
	}
	require.NotEmpty(t, one)
	require.NotEmpty(t, other)
	require.Equal(t, "acme/big", to(decide.Facts{SessionID: one, CacheKey: other, EndUser: other}))
	require.Equal(t, "acme/big", to(decide.Facts{CacheKey: one, EndUser: other}))
	require.Equal(t, "acme/big", to(decide.Facts{EndUser: one}))
	require.Equal(t, "acme/small", to(decide.Facts{EndUser: other}))
	ids, seen := id.SystemSource(), map[string]bool{}
	for range 64 {
		seen[to(decide.Facts{Request: id.New[id.RequestKind](ids)})] = true
	}
	require.Len(t, seen, 2, "each request for itself")
}

// A rollout sends its share of the subjects through the candidate, and the
// record says which version was walked.
func TestARolloutHasTwoArms(t *testing.T) {
	w := on(fixes("big", "acme/big"))
	candidate := routeOf(fixes("tiny", "acme/tiny"))
	candidate.Version = 6
	w.route.Candidate = &policy.RouteCandidate{RouteVersion: candidate.RouteVersion, Rollout: rolloutID, Percent: 5_000}
	arms := map[decide.Arm]int{}
	for i := range 200 {
		subject := "subject " + strings.Repeat("x", i)
		plan := w.decide(t, decide.Facts{Model: "acme/small", SessionID: subject})
		trace := plan.Record.Route
		arms[trace.Arm]++
		require.Equal(t, rolloutID.String(), trace.Rollout)
		want := map[decide.Arm][2]any{decide.ArmStable: {5, "acme/big"}, decide.ArmCandidate: {6, "acme/tiny"}}[trace.Arm]
		require.Equal(t, want, [2]any{trace.Version, plan.Record.DecidedModel})
		require.Equal(t, flow.InRollout(rolloutID, subject, 5_000), trace.Arm == decide.ArmCandidate)
	}
	require.Greater(t, arms[decide.ArmStable], 60)
	require.Greater(t, arms[decide.ArmCandidate], 60)

	w.route.Candidate = nil
	require.Empty(t, w.decide(t, decide.Facts{Model: "acme/small"}).Record.Route.Arm)
}

// Limit nodes read the usage that was looked up; what is not known is within.
func TestLimitNodesReadTheUsage(t *testing.T) {
	w := on(flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Weekly, MaxRequests: ptr(int64(10)), Within: "end", Exceeded: "no"}, rejects("no", 429))
	in := w.input(t, decide.Facts{Model: "acme/small"})
	require.Nil(t, decide.Decide(in).Refusal)
	in.Usage.Weekly = flow.Bucket{Known: true, Requests: 9}
	require.Nil(t, decide.Decide(in).Refusal)
	in.Usage.Weekly.Requests = 10
	refusal := decide.Decide(in).Refusal
	require.Equal(t, 429, refusal.Status)
	require.True(t, refusal.Retryable)
	monday := now.Add(refusal.RetryAfter).UTC()
	require.Equal(t, time.Monday, monday.Weekday())
	require.Equal(t, monday.Truncate(24*time.Hour), monday)
	require.LessOrEqual(t, refusal.RetryAfter, 7*24*time.Hour)

	// Another status is not for a later time, whatever is used up.
	w = on(flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Weekly, MaxRequests: ptr(int64(10)), Within: "end", Exceeded: "no"}, rejects("no", 403))
	in = w.input(t, decide.Facts{Model: "acme/small"})
	in.Usage.Weekly = flow.Bucket{Known: true, Requests: 10}
	require.Zero(t, decide.Decide(in).Refusal.RetryAfter)
}

// A key whose route is not in the snapshot, as a paused one, is without.
func TestARouteThatDoesNotApply(t *testing.T) {
	w := on(whenIs("which", condition.Model, "", "acme/small", "no", "end"), rejects("no", 403))
	in := w.input(t, decide.Facts{Model: "acme/small"})
	in.Facts.Key.Route = id.MustParse[id.RouteKind]("route_01kb7n0z1v8q5r2m3t4w5x6y7f")
	plan := decide.Decide(in)
	require.Nil(t, plan.Refusal)
	require.Nil(t, plan.Record.Route)
}
