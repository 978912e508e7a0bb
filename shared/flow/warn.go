package flow

import "github.com/signalbox-dev/signalbox/shared/condition"

// share warns of a branch that takes nothing, and of one that takes everything
// to a refusal.
func (k *checker) share(field string, b *Branch) {
	to, ok := k.index[b.Next]
	switch {
	case b.Percent == 0:
		k.warnf(field, NoTraffic, "a branch of 0 %% takes no requests")
	case b.Percent == Whole && ok && k.g.Nodes[to].Type == Reject:
		k.warnf(field, AlwaysRejects, "a branch of 100 %% that leads to a reject refuses every request that comes here")
	}
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
