package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// everyNode are the fields of nodes of all types.
var everyNode = []string{"id", "type", "label", "position"}

// fieldsOf are the fields of each type of node beyond those of every node.
func fieldsOf(t NodeType) (fields []string, known bool) {
	switch t {
	case Start:
		return []string{"next"}, true
	case When:
		return []string{"when", "true", "false"}, true
	case Percentage:
		return []string{"branches"}, true
	case RateLimit:
		return []string{"window", "max_requests", "within", "exceeded"}, true
	case BudgetLimit:
		return []string{"window", "max_cost_usd", "within", "exceeded"}, true
	case Model:
		return []string{"model", "routing_mode", "provider", "allow_fallbacks", "fallback_models", "affinity", "next"}, true
	case Reject:
		return []string{"status", "code", "message"}, true
	case End:
		return nil, true
	}
	return nil, false
}

// NodeTypes lists every type of node.
func NodeTypes() []NodeType {
	return []NodeType{Start, When, Percentage, RateLimit, BudgetLimit, Model, Reject, End}
}

// node checks the node that was entered, without where it leads.
func (k *checker) node(n *Node) {
	k.id("id", n.ID, "node")
	if n.ID != "" && &k.g.Nodes[k.index[n.ID]] != n {
		k.addf("id", Duplicate, "an earlier node has this id")
	}
	k.text("label", n.Label, MaxLabel)
	fields, known := fieldsOf(n.Type)
	switch {
	case n.Type == "":
		k.addf("type", Required, "is required: one of %s", join(NodeTypes()))
	case !known:
		k.addf("type", NotAllowed, "want one of %s", join(NodeTypes()))
	default:
		k.misplaced(n, fields)
	}
	switch n.Type {
	case Start:
		k.onlyStart(n)
	case When:
		k.when(n)
	case Percentage:
		k.branches(n)
	case RateLimit:
		k.rateLimit(n)
	case BudgetLimit:
		k.budgetLimit(n)
	case Model:
		k.model(n)
	case Reject:
		k.reject(n)
	default: // an end says nothing
	}
	k.outputs(n)
}

// misplaced notes the fields of other types of nodes.
func (k *checker) misplaced(n *Node, fields []string) {
	v := reflect.ValueOf(n).Elem()
	for i := range v.NumField() {
		name, _ := jsonName(v.Type().Field(i))
		if !v.Field(i).IsZero() && !slices.Contains(fields, name) && !slices.Contains(everyNode, name) {
			k.addf(name, Misplaced, "a node of the type %s has no such field", n.Type)
		}
	}
}

func (k *checker) onlyStart(n *Node) {
	for i := range k.g.Nodes {
		if first := &k.g.Nodes[i]; first.Type == Start {
			if first != n {
				k.addf("type", Duplicate, "there is an earlier start node")
			}
			return
		}
	}
}

func (k *checker) when(n *Node) {
	if n.When == nil {
		k.addf("when", Required, "is required: a test, or one of all, any and not")
		return
	}
	found := condition.Check(*n.When, "when", condition.Sources()...)
	for _, p := range found {
		k.addf(p.Path, Malformed, "%s", p.Message)
	}
	if len(found) == 0 {
		k.steps += condition.Steps(*n.When)
		if k.warns {
			k.constant(n.When)
		}
	}
}

func (k *checker) branches(n *Node) {
	if len(n.Branches) < MinBranches || len(n.Branches) > MaxBranches {
		k.addf("branches", OutOfRange, "want %d to %d branches", MinBranches, MaxBranches)
	}
	sum, seen := Percent(0), make(map[string]bool, len(n.Branches))
	for i := range n.Branches {
		b, at := &n.Branches[i], fmt.Sprintf("branches[%d].", i)
		k.id(at+"id", b.ID, "branch")
		if seen[b.ID] && b.ID != "" {
			k.addf(at+"id", Duplicate, "an earlier branch of the node has this id")
		}
		seen[b.ID] = true
		k.text(at+"label", b.Label, MaxLabel)
		if b.Percent < 0 || b.Percent > Whole {
			k.addf(at+"percent", OutOfRange, "%s", ErrPercent.Error())
			continue
		}
		sum += b.Percent
		k.share(at+"percent", b)
	}
	if sum != Whole && len(n.Branches) > 0 {
		k.addf("branches", Sum, "the percents sum to %s, not to 100", sum)
	}
}

func (k *checker) window(n *Node) {
	windows := []Window{Daily, Weekly, Monthly}
	switch {
	case n.Window == "":
		k.addf("window", Required, "is required: one of %s", join(windows))
	case !slices.Contains(windows, n.Window):
		k.addf("window", NotAllowed, "want one of %s", join(windows))
	}
}

func (k *checker) rateLimit(n *Node) {
	k.window(n)
	switch {
	case n.MaxRequests == nil:
		k.addf("max_requests", Required, "is required")
	case *n.MaxRequests < 0:
		k.addf("max_requests", OutOfRange, "want 0 or more")
	case *n.MaxRequests == 0:
		k.warnf("max_requests", AlwaysExceeded, "a limit of 0 is always exceeded")
	}
}

func (k *checker) budgetLimit(n *Node) {
	k.window(n)
	if n.MaxCostUSD == "" {
		k.addf("max_cost_usd", Required, "is required")
		return
	}
	switch most, err := money.Parse(n.MaxCostUSD); {
	case err != nil:
		k.addf("max_cost_usd", Malformed, "%s", money.ErrAmount.Error())
	case most < 0:
		k.addf("max_cost_usd", OutOfRange, "want 0 or more")
	case most == 0:
		k.warnf("max_cost_usd", AlwaysExceeded, "a limit of 0 is always exceeded")
	}
}

func (k *checker) reject(n *Node) {
	if n.Status < 400 || n.Status > 499 {
		k.addf("status", OutOfRange, "want 400 to 499")
	}
	switch {
	case n.Code == "":
		k.addf("code", Required, "is required: what programs tell the refusal by")
	case !codeForm.MatchString(n.Code):
		k.addf("code", Malformed, "want at most %d lower-case letters, digits and underscores, the first a letter", MaxReasonBytes)
	}
	if strings.TrimSpace(n.Message) == "" {
		k.addf("message", Required, "is required: what people read of the refusal")
		return
	}
	k.text("message", n.Message, MaxMessage)
	if len(n.Message) > MaxMessage && utf8.RuneCountInString(n.Message) <= MaxMessage {
		k.addf("message", TooLong, "want at most %d bytes of UTF-8", MaxMessage)
	}
}

func join[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}
