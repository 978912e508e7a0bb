package flow

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// Input is one part of a request that conditions look at.
type Input struct {
	Source condition.Source `json:"source"`
	Path   string           `json:"path,omitempty"` // "" for sources that have no parts
}

// Reads lists what the conditions look at, each once, in the graph's order.
func (g Graph) Reads() []Input {
	var list []Input
	for i := range g.Nodes {
		if when := g.Nodes[i].When; when != nil {
			list = inputs(list, when)
		}
	}
	return list
}

func inputs(list []Input, c *condition.Condition) []Input {
	if one := (Input{Source: c.Source, Path: c.Path}); c.Source != "" && !slices.Contains(list, one) {
		list = append(list, one)
	}
	for i := range c.All {
		list = inputs(list, &c.All[i])
	}
	for i := range c.Any {
		list = inputs(list, &c.Any[i])
	}
	if c.Not != nil {
		list = inputs(list, c.Not)
	}
	return list
}

// ReadsUsage reports whether a limit node looks at what the key has used.
func (g Graph) ReadsUsage() bool {
	return slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Type == RateLimit || n.Type == BudgetLimit })
}

// Models lists the models that nodes name as they are written, fallbacks and
// presets too, each once, in the graph's order.
func (g Graph) Models() []string {
	var list []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for _, name := range append([]string{n.Model}, n.FallbackModels...) {
			if name != "" && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// Reads is what Graph.Reads says of the graph. The list is not to be changed.
func (p *Program) Reads() []Input { return p.reads }

// NeedsUsage reports for each window whether a limit node looks at it.
func (p *Program) NeedsUsage() (daily, weekly, monthly bool) {
	return p.usage[0], p.usage[1], p.usage[2]
}
