package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Digest is the SHA-256 of a graph's canonical JSON in hex. The order of
// members, blanks and how a percent is spelled do not count; all else does,
// where nodes are drawn too.
func Digest(g Graph) string {
	raw, err := Encode(g)
	if err != nil {
		return "" // a graph that no JSON becomes
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Difference is what one version changes of another.
type Difference struct {
	Added, Removed []string      // ids of nodes, in their order
	Changed        []NodeChange  // in the order of the later version
	Graph          []FieldChange // outside the nodes: entry and affinity
}

// NodeChange is what changes of one node.
type NodeChange struct {
	Node   string
	Fields []FieldChange
}

// FieldChange is one field before and after, as JSON; nil where it is not set.
// A list whose length changes is one field.
type FieldChange struct {
	Path          string // from the node on, such as branches[1].percent
	Before, After json.RawMessage
}

// Diff compares two versions. Nodes are known by their ids, so that their order
// is no change.
func Diff(a, b Graph) Difference {
	var d Difference
	before, after := nodesOf(a), nodesOf(b)
	for i := range a.Nodes {
		if id := a.Nodes[i].ID; after[id] == nil {
			d.Removed = append(d.Removed, id)
		}
	}
	for i := range b.Nodes {
		id := b.Nodes[i].ID
		old := before[id]
		if old == nil {
			d.Added = append(d.Added, id)
			continue
		}
		if fields := fieldsBetween(nil, "", rawOf(old), rawOf(&b.Nodes[i])); len(fields) > 0 {
			d.Changed = append(d.Changed, NodeChange{Node: id, Fields: fields})
		}
	}
	a.Nodes, b.Nodes = nil, nil
	d.Graph = fieldsBetween(nil, "", rawOf(a), rawOf(b))
	return d
}

func nodesOf(g Graph) map[string]*Node {
	nodes := make(map[string]*Node, len(g.Nodes))
	for i := range g.Nodes {
		nodes[g.Nodes[i].ID] = &g.Nodes[i]
	}
	return nodes
}

// rawOf writes a part of a graph as JSON; nil for what is none.
func rawOf(v any) json.RawMessage {
	raw, err := encode(v)
	if err != nil {
		return nil
	}
	return raw
}

// fieldsBetween appends the fields in which two values differ: members of
// objects by their names, entries of lists of the same length by their places,
// all else as a whole.
func fieldsBetween(list []FieldChange, path string, a, b json.RawMessage) []FieldChange {
	if bytes.Equal(a, b) {
		return list
	}
	var am, bm map[string]json.RawMessage
	if opens(a, '{') && opens(b, '{') && json.Unmarshal(a, &am) == nil && json.Unmarshal(b, &bm) == nil {
		names := slices.Concat(slices.Collect(maps.Keys(am)), slices.Collect(maps.Keys(bm)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			list = fieldsBetween(list, below(path, name), am[name], bm[name])
		}
		return list
	}
	var al, bl []json.RawMessage
	if opens(a, '[') && opens(b, '[') && json.Unmarshal(a, &al) == nil && json.Unmarshal(b, &bl) == nil && len(al) == len(bl) {
		for i := range al {
			list = fieldsBetween(list, fmt.Sprintf("%s[%d]", path, i), al[i], bl[i])
		}
		return list
	}
	return append(list, FieldChange{Path: path, Before: a, After: b})
}

func opens(raw json.RawMessage, bracket byte) bool { return len(raw) > 0 && raw[0] == bracket }
