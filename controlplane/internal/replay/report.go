package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Report is what a version would change.
type Report struct {
	Version  int // that was replayed
	Baseline int // the deployed one that it is compared with; 0: none is, and the keys have no route
	Since    time.Time
	Oldest   time.Time // of the requests; zero without any
	Limited  bool      // there may be more: as many were read as were asked for

	Requests   int // that were read
	Comparable int // of them: both ways are known
	Moved      int // of them: to another model or endpoint first
	Remodeled  int // of the moved: to another model
	Refused    int // of the comparable: refused, where the baseline serves
	Served     int // of the comparable: served, where the baseline refuses

	Nodes   []Node // of the version, in the graph's order
	Models  []Move // the most frequent first, at most maxMoves
	Cost    Cost
	Latency Latency
	Unknown []Unknown // sorted by version, node and reason
}

// Node is what a node of the version has to do with the changes.
type Node struct {
	ID       string
	Type     flow.NodeType
	Requests int // that came by
	Moved    int // because of it
	Refused  int
	Served   int
	Unknown  int // whose way on from it cannot be known
}

// Move is how many requests went from one model to another.
type Move struct {
	From, To string
	Requests int
}

// maxMoves is how many moves between models a report lists.
const maxMoves = 20

// Cost is what the recorded usage costs at the first endpoint of either side,
// over the requests where both prices are known.
type Cost struct {
	Requests      int
	Before, After money.Nanos
}

// Latency is the mean of the endpoints' median durations on either side, over
// the moved requests whose two endpoints have been measured.
type Latency struct {
	Requests      int
	Before, After time.Duration
}

// Unknown is how many requests cannot be compared for one reason.
type Unknown struct {
	Version  int    // whose way is not known; 0: it is not for a version
	Node     string // "": it is not for a node
	Reason   Reason
	Requests int
}

// Reason says why the way of a request is not known.
type Reason string

// The reasons.
const (
	NotRecorded  Reason = "not_recorded"   // the record has not what is needed: it is from before the version, or was too long
	Hidden       Reason = "hidden"         // the test cannot be held against a hidden text
	NoSubject    Reason = "subject"        // who percentages are drawn for is not recorded
	UnknownUsage Reason = "usage"          // what the key had used was not known
	NeedsPreset  Reason = "preset"         // a preset is part of the decision
	Unclassified Reason = "classification" // signalbox/auto would decide by content, and did not before
)

// sorted gives what was counted an order of its own.
func sorted[K comparable, T any](counted map[K]int, of func(K, int) T, compare func(a, b T) int) []T {
	var list []T
	for key, n := range counted {
		list = append(list, of(key, n))
	}
	slices.SortFunc(list, compare)
	return list
}

func compareMoves(a, b Move) int {
	return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}

func compareUnknown(a, b Unknown) int {
	return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Reason, b.Reason))
}
