package decide

import (
	"strings"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// walk is the outcome of the key's dynamic route for one entry of the chain. It
// is frozen.
type walk struct {
	action flow.Action
	set    policy.Routing // by it, as a rung
	trace  RouteTrace
	// unknownAt is the node from which on nothing is known of a replayed request.
	unknownAt string
}

// walker walks the key's dynamic route. It is of one request.
type walker struct {
	version *policy.CompiledVersion
	trace   RouteTrace // without nodes
	facts   flow.Facts
	request requestFacts
}

// walkerOf settles which version of the key's route a request is sent through;
// nil: it has none that applies.
func walkerOf(in *Input) *walker {
	route, ok := in.Policy.Route(in.Facts.Key.Route)
	if !ok {
		return nil
	}
	w := &walker{version: &route.CompiledVersion, request: requestFacts{in: in}}
	w.facts.Usage = in.Usage
	if in.Replayed == nil {
		w.facts.Subject = in.Facts.subject()
	} else {
		w.facts.SubjectHash = in.Replayed.Subject
	}
	w.trace.ID = route.Text
	if c := route.Candidate; c != nil {
		w.trace.Rollout, w.trace.Arm = c.Rollout.String(), ArmStable
		if flow.InRollout(c.Rollout, w.facts.Subject, c.Percent) {
			w.version, w.trace.Arm = &c.CompiledVersion, ArmCandidate
		}
	}
	w.trace.Version = w.version.Version
	return w
}

// walk evaluates the route for the first entry of the chain.
func (w *walker) walk(name string) *walk {
	if w.request.in.Replayed != nil {
		return w.replay(name)
	}
	w.request.model, w.facts.Request = name, &w.request
	to := &walk{trace: w.trace}
	to.action, to.trace.Nodes = w.version.Program.Evaluate(&w.facts, make([]string, 0, w.version.Nodes))
	to.set = routingOf(&to.action, &w.request.in.Facts)
	return to
}

// again is the outcome for a further entry: that of the first one where the way
// through the graph depends on nothing that an entry changes.
func (w *walker) again(name string, first *walk, known matches) *walk {
	if !w.version.ReadsModel {
		return first
	}
	own := *w // the opening's does not change
	own.request.known = known
	return own.walk(name)
}

// subject is who percentages and rollouts are drawn for.
func (f *Facts) subject() string {
	switch {
	case f.SessionID != "":
		return f.SessionID
	case f.CacheKey != "":
		return f.CacheKey
	case f.EndUser != "":
		return f.EndUser
	}
	return f.Request.String()
}

// requestFacts is what the conditions of a route may look at.
type requestFacts struct {
	in    *Input
	model string // as the entry of the chain names it
	one   [1]condition.Value
	known matches // nil: none are remembered
}

// matches are what regular expressions found in texts of a request. They are
// remembered, as a chain may be long and matching is dear.
type matches map[matched]bool

type matched struct {
	pattern *condition.Pattern
	text    string
}

// Match implements condition.Matcher.
func (f *requestFacts) Match(pattern *condition.Pattern, text string) bool {
	if f.known == nil {
		return pattern.MatchString(text)
	}
	of := matched{pattern, text}
	found, known := f.known[of]
	if !known {
		found = pattern.MatchString(text)
		f.known[of] = found
	}
	return found
}

// Look implements condition.Facts. What it returns holds until the next call.
func (f *requestFacts) Look(s condition.Source, path string) []condition.Value {
	facts := &f.in.Facts
	switch s {
	case condition.Model:
		return f.text(f.model)
	case condition.Endpoint:
		return f.text(string(facts.Surface))
	case condition.SessionID:
		return f.text(facts.SessionID)
	case condition.UserID:
		return f.text(facts.EndUser)
	case condition.WorkspaceTag:
		return textsOf(f.in.Policy.Tags())
	case condition.KeyScope:
		return textsOf(facts.Key.Scopes)
	case condition.Metadata:
		if found, there := facts.Metadata[path]; there {
			if v, ok := condition.Of(found); ok {
				f.one[0] = v
				return f.one[:]
			}
		}
	case condition.Body, condition.Header:
		if f.in.Content != nil {
			return f.in.Content.Look(s, path)
		}
	}
	return nil
}

// text is a value, none where there is nothing.
func (f *requestFacts) text(text string) []condition.Value {
	if text == "" {
		return nil
	}
	f.one[0] = condition.Text(text)
	return f.one[:]
}

// routingOf is what an action sets as a rung. What it says of affinity fills only
// what the request leaves open.
func routingOf(a *flow.Action, f *Facts) policy.Routing {
	is := func(flag *bool) bool { return flag != nil && *flag }
	set := policy.Routing{
		FallbackModels: a.FallbackModels, Mode: policy.Mode(a.Mode),
		Provider: policy.Preferences{
			Order: a.Order, Only: a.Only, Ignore: a.Ignore, AllowFallbacks: a.AllowFallbacks, Sort: policy.Mode(a.Sort),
			RequireParameters: is(a.RequireParameters), RequireZDR: is(a.RequireZDR), DenyTraining: is(a.DenyTraining),
			Region: a.Region, MaxInputPrice: a.MaxInputPrice, MaxOutputPrice: a.MaxOutputPrice,
			PreferredMaxLatency: a.PreferredMaxLatency, PreferredMinThroughput: a.PreferredMinThroughput,
		},
	}
	if f.Provider.CacheAware == nil {
		set.Provider.CacheAware = a.Cache
	}
	if f.Routing.SessionAffinity == nil {
		set.Affinity = a.Session
	}
	return set
}

// rejected is the refusal that a way ends in. One for what was used up says when
// the shortest window of it ends.
func (w *walker) rejected(to *walk) *fault.Error {
	e := rejected(to.action.Reject)
	if e.Status != statusTooManyRequests {
		return e
	}
	now := w.request.in.Facts.Now
	if ends := w.version.Program.Relief(&w.facts, to.trace.Nodes, now); !ends.IsZero() {
		return e.After(ends.Sub(now))
	}
	return e
}

// rejected is the refusal that a reject node asks for. Its text is the
// workspace's own, which is why it may reach the workspace's callers: it is
// bounded, and holds nothing that would break a line.
func rejected(r *flow.Rejection) *fault.Error {
	message := sayable(r.Message)
	if message == "" {
		message = "The dynamic route of this key does not let this request through."
	}
	e := fault.New(fault.RouteRejected, message).Because(fault.Reason(clipTo(r.Code, flow.MaxReasonBytes)))
	e.Status = r.Status
	e.Retryable = r.Status == statusRequestTimeout
	return e
}

// The statuses that say that the same request may pass later: the second one
// only where a limit is behind it.
const (
	statusRequestTimeout  = 408
	statusTooManyRequests = 429
)

// sayable is a text of at most flow.MaxMessage bytes, on one line.
func sayable(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), flow.MaxMessage)], "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text))
}
