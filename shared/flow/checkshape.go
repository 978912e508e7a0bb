package flow

import (
	"fmt"
	"slices"
	"strings"
)

// output is one way out of a node.
type output struct {
	field  string
	target string
}

// outputsOf are the ways out of a node, set or not. Of a node whose type is no
// type, they are what is set.
func outputsOf(n *Node) []output {
	switch n.Type {
	case Start, Model:
		return []output{{"next", n.Next}}
	case When:
		return []output{{"true", n.True}, {"false", n.False}}
	case RateLimit, BudgetLimit:
		return []output{{"within", n.Within}, {"exceeded", n.Exceeded}}
	case Percentage:
		list := make([]output, len(n.Branches))
		for i := range n.Branches {
			list[i] = output{fmt.Sprintf("branches[%d].next", i), n.Branches[i].Next}
		}
		return list
	case Reject, End:
		return nil
	}
	all := []output{{"next", n.Next}, {"true", n.True}, {"false", n.False}, {"within", n.Within}, {"exceeded", n.Exceeded}}
	for i := range n.Branches {
		all = append(all, output{fmt.Sprintf("branches[%d].next", i), n.Branches[i].Next})
	}
	return slices.DeleteFunc(all, func(o output) bool { return o.target == "" })
}

// outputs checks where the node that was entered leads.
func (k *checker) outputs(n *Node) {
	for _, o := range outputsOf(n) {
		switch _, ok := k.index[o.target]; {
		case o.target == "":
			k.addf(o.field, Required, "is required: the id of the node that follows")
		case !ok:
			k.addf(o.field, Dangling, "%s", noNode(o.target))
		}
	}
}

// next are the indexes of the nodes that a node leads to.
func (k *checker) next(i int) []int {
	var list []int
	for _, o := range outputsOf(&k.g.Nodes[i]) {
		if at, ok := k.index[o.target]; ok && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// shape notes cycles, and the nodes that no request comes to. Of a graph far
// beyond its bounds it says nothing: that takes the cube of its size.
func (k *checker) shape() {
	outputs := 0
	for i := range k.g.Nodes {
		outputs += len(outputsOf(&k.g.Nodes[i]))
	}
	if len(k.g.Nodes) > 4*MaxNodes || outputs > 4*MaxNodes*MaxBranches {
		return
	}
	k.cycles()
	from := slices.IndexFunc(k.g.Nodes, func(n Node) bool { return n.Type == Start })
	if at, ok := k.index[k.g.Entry]; ok {
		from = at
	}
	if from < 0 {
		return // that is a problem already, and every node would be one
	}
	reached := make([]bool, len(k.g.Nodes))
	k.reach(from, reached)
	for i := range k.g.Nodes {
		first := k.index[k.g.Nodes[i].ID] == i // else its id is the problem
		if !reached[i] && first && (k.g.Nodes[i].Type != Start || i == from) {
			k.enter(i)
			k.addf("id", Unreachable, "no path leads here from the entry")
		}
	}
}

func (k *checker) reach(i int, reached []bool) {
	if reached[i] {
		return
	}
	reached[i] = true
	for _, to := range k.next(i) {
		k.reach(to, reached)
	}
}

// cycles notes for each group of nodes that all lead to each other one shortest
// way around, from the first of them.
func (k *checker) cycles() {
	done := make([]bool, len(k.g.Nodes))
	for i := range k.g.Nodes {
		if done[i] {
			continue
		}
		round := k.round(i)
		if round == nil {
			continue
		}
		forth := make([]bool, len(k.g.Nodes))
		k.reach(i, forth)
		for j := range forth {
			back := make([]bool, len(k.g.Nodes))
			if forth[j] {
				k.reach(j, back)
			}
			done[j] = done[j] || back[i]
		}
		k.enter(i)
		k.addf("id", Cycle, "these nodes lead around: %s", strings.Join(round, " -> "))
	}
}

// round is a shortest way from a node to itself, both ends included, or nil.
func (k *checker) round(from int) []string {
	before := map[int]int{}
	queue := []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, to := range k.next(at) {
			if to == from {
				return k.way(from, at, before)
			}
			if _, seen := before[to]; !seen {
				before[to] = at
				queue = append(queue, to)
			}
		}
	}
	return nil
}

func (k *checker) way(from, last int, before map[int]int) []string {
	way := []string{k.label(from)}
	for at := last; at != from; at = before[at] {
		way = append(way, k.label(at))
	}
	way = append(way, k.label(from))
	slices.Reverse(way)
	return way
}

// label is a node in a list of them.
func (k *checker) label(i int) string {
	if id := k.g.Nodes[i].ID; validID(id) {
		return id
	}
	return fmt.Sprintf("nodes[%d]", i)
}
