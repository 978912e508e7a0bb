package flow

import (
	"errors"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ErrInvalid is the failure of compiling a graph that has problems, or slots
// that do not belong to it.
var ErrInvalid = errors.New("the graph is not valid")

// Read decodes a graph strictly and checks it: everything that is wrong is in
// one report. names may be nil, as for Check.
func Read(raw []byte, names Names) (Graph, Report) { panic("not yet") }

// Decode reads a graph from JSON or lists what keeps it from being one: an
// unknown or missing field, a wrong type, a member twice, what follows the
// graph. The graph holds what could be read.
func Decode(raw []byte) (Graph, []Problem) { panic("not yet") }

// Check lists what is wrong with a graph, in the order of its nodes, and what
// is worth a second look. Without names, models, providers and regions are not
// looked up.
func Check(g Graph, names Names) Report { panic("not yet") }

// Derive lays out the slots of a graph's percentage nodes from those of the
// version before it, nil for a first version. Nodes and branches are known by
// their ids. Of a node that is in both, half the sum of the changes moves.
func Derive(g Graph, parent Slots) Slots { panic("not yet") }

// Program is a graph ready to be evaluated. It is frozen and safe for
// concurrent use.
type Program struct{}

// Compile makes a version of a route ready. It fails with ErrInvalid where
// Check finds a problem that needs no names, and where the slots are not those
// of the graph's percentages.
func Compile(route id.Route, g Graph, slots Slots) (*Program, error) { panic("not yet") }

// Evaluate follows the graph and appends the ids of the nodes that it visits.
func (p *Program) Evaluate(f *Facts, visited []string) (Action, []string) { panic("not yet") }

// Input is one part of a request that conditions look at.
type Input struct {
	Source condition.Source
	Path   string
}

// Reads lists what the conditions look at, each once, in the graph's order.
func (p *Program) Reads() []Input { panic("not yet") }

// NeedsUsage lists the windows that limit nodes look at.
func (p *Program) NeedsUsage() (daily, weekly, monthly bool) { panic("not yet") }

// Models lists the models that nodes name, fallbacks too, each once.
func (p *Program) Models() []string { panic("not yet") }

// Replay is Evaluate on recorded facts, in which texts may be hidden. It stops
// at the first node whose condition cannot be known and names it; unknownAt is
// "" otherwise.
func (p *Program) Replay(f *Facts, h condition.Hider, visited []string) (a Action, path []string, unknownAt string) {
	panic("not yet")
}

// Digest is the SHA-256 of a graph's canonical JSON in hex. The order of
// members, blanks and the spelling of percents do not count.
func Digest(g Graph) string { panic("not yet") }

// Difference is what one version changes of another.
type Difference struct {
	Added, Removed []string // ids of nodes, in their order
	Changed        []NodeChange
	Graph          []FieldChange // outside the nodes: entry, affinity
}

// NodeChange is what changes of one node.
type NodeChange struct {
	Node   string
	Fields []FieldChange
}

// FieldChange is one field before and after, as JSON; nil where it is not set.
type FieldChange struct {
	Path          string // from the node on, such as branches[1].percent
	Before, After []byte
}

// Diff compares two versions; nodes are known by their ids.
func Diff(a, b Graph) Difference { panic("not yet") }
