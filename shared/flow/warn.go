package flow

import "github.com/signalbox-dev/signalbox/shared/condition"

// share warns of a branch that takes nothing, and of one that takes everything
// to a refusal.
func (k *checker) share(field string, b *Branch) {
	switch {
	case b.Percent == 0:
		k.warnf(field, NoTraffic, "a branch of 0 %% takes no requests")
	case b.Percent == Whole && k.rejects(b.Next):
		k.warnf(field, AlwaysRejects, "a branch of 100 %% that leads to a reject refuses every request that comes here")
	}
}

// rejects reports whether a node is a reject, or leads to one by way of model
// nodes alone.
func (k *checker) rejects(id string) bool {
	for range k.g.Nodes { // a cycle is a problem of its own
		at, ok := k.index[id]
		if !ok || k.g.Nodes[at].Type != Model {
			return ok && k.g.Nodes[at].Type == Reject
		}
		id = k.g.Nodes[at].Next
	}
	return false
}

// constant warns of a condition that always has the same answer, as far as that
// can be told without a request.
func (k *checker) constant(c *condition.Condition) {
	var surfaces []string
	if k.names != nil {
		surfaces = k.names.Surfaces()
	}
	for _, found := range condition.Constants(*c, "when", surfaces) {
		k.warnf(found.Path, Constant, "this is always %t", found.Holds)
	}
}
