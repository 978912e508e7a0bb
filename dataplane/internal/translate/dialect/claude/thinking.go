package claude

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

const (
	// leastBudget is the smallest thinking budget that the API takes.
	leastBudget = 1024
	// DefaultLimit is the limit of the output where one is demanded and neither
	// the caller nor the catalog names one: what every model of the last years
	// can put out.
	DefaultLimit = 8192
)

// Limits bound the output of a reply, in tokens; thinking counts as output.
type Limits struct {
	Asked int64 // by the caller, 0 when it set none
	Most  int64 // that the endpoint puts out, 0 unknown
}

// Thinking is what a request says of thinking, in the words of the Messages
// API.
type Thinking struct {
	Config   []byte // the value of "thinking"; nil when there is none
	Effort   string // output_config.effort; "" when there is none
	On       bool
	Budget   bool // manual: a turn that goes on after tool results must begin with its thoughts
	Limit    int64
	Degraded bool // what was asked cannot be said to this model
}

// Think says what r means to a model, and the limit of the output that goes
// with it, which is 0 only when nobody named one and no budget needs one. A
// budget has to stay under the limit: a limit that the caller did not set is
// raised for it, and one that it set cuts the budget to half of it, so that
// something is left for the answer.
func Think(v Version, r conversation.Reasoning, l Limits) Thinking {
	t := Thinking{Limit: l.Asked}
	adaptive := v.atLeast(v47) || v.atLeast(v46) && r.Budget <= 0 || r.Budget == conversation.Dynamic && !v.known()
	switch {
	case r.Off || r.Effort == "none":
		t.Config = []byte(`{"type":"disabled"}`)
	case r.Effort == "" && r.Budget == 0 && r.Summary == "":
	case r.Effort == "" && r.Budget == 0:
		// Only to be shown: nothing says that the model is to think.
		t.Degraded = true
	case adaptive:
		t.On = true
		t.Config = config(`{"type":"adaptive"`, v, r)
		if v.known() {
			t.Effort = effort(v, r)
		}
	default:
		t.manual(v, r, l)
	}
	return t
}

// manual sets a budget.
func (t *Thinking) manual(v Version, r conversation.Reasoning, l Limits) {
	budget := r.BudgetOf()
	if budget == conversation.Dynamic {
		budget = conversation.Reasoning{Effort: "medium"}.BudgetOf()
	}
	if budget <= 0 {
		t.Degraded = true
		return
	}
	budget = max(budget, leastBudget)
	if l.Asked == 0 {
		t.Limit = budget + DefaultLimit
		if l.Most > 0 {
			t.Limit = l.Most
		}
	}
	if budget >= t.Limit {
		budget = t.Limit / 2
	}
	if budget < leastBudget {
		t.Limit, t.Degraded = l.Asked, true
		return
	}
	t.On, t.Budget = true, true
	t.Config = config(`{"type":"enabled","budget_tokens":`+strconv.FormatInt(budget, 10), v, r)
}

// config closes the object. Generations before 4.6 show their thoughts anyway,
// and have no word for it.
func config(begun string, v Version, r conversation.Reasoning) []byte {
	if r.Summary != "" && (!v.known() || v.atLeast(v46)) {
		begun += `,"display":"summarized"`
	}
	return []byte(begun + "}")
}

// effort is the word of the generation, "" when the model is to decide.
func effort(v Version, r conversation.Reasoning) string {
	if r.Effort == "" && r.Budget == conversation.Dynamic {
		return ""
	}
	switch name := r.EffortOf(); name {
	case "minimal":
		return "low"
	case "xhigh":
		if !v.atLeast(v47) {
			return "max"
		}
		return name
	default:
		return name
	}
}
