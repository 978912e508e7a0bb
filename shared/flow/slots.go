package flow

// Derive lays out the slots of a graph's percentage nodes from those of the
// version before it, nil for a first version; nil where the graph has no such
// nodes. The graph is valid. Nodes and branches are known by their ids, so that
// neither their order nor where they lead moves a slot. Of a node that is in
// both, half the sum of the changes moves: a branch that shrinks gives up its
// highest slots, and those that grow, in their order in the graph, take what
// became free from the lowest on.
func Derive(g Graph, parent Slots) Slots {
	var out Slots
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Type == Percentage {
			if out == nil {
				out = make(Slots)
			}
			out[n.ID] = layOut(n.Branches, parent[n.ID])
		}
	}
	return out
}

// nobody owns a slot that is free.
const nobody = -1

func layOut(branches []Branch, before Table) Table {
	owners := before.owners(branches)
	have := make([]int, len(branches))
	for _, b := range owners {
		if b != nobody {
			have[b]++
		}
	}
	for slot := len(owners) - 1; slot >= 0; slot-- {
		if b := owners[slot]; b != nobody && have[b] > int(branches[b].Percent) {
			have[b]--
			owners[slot] = nobody
		}
	}
	taker := 0
	for slot := range owners {
		for taker < len(branches) && have[taker] >= int(branches[taker].Percent) {
			taker++
		}
		if owners[slot] == nobody && taker < len(branches) {
			have[taker]++
			owners[slot] = taker
		}
	}
	return tableOf(branches, owners)
}

// owners is which of the branches each slot belongs to: nobody's where it
// belongs to none of them, or where the table is not whole.
func (t Table) owners(branches []Branch) []int {
	owners := make([]int, 0, slotCount)
	if t.whole() {
		for _, run := range t {
			owner := nobody
			for i := range branches {
				if branches[i].ID == run.Branch {
					owner = i
				}
			}
			for range run.Slots {
				owners = append(owners, owner)
			}
		}
	}
	for len(owners) < slotCount {
		owners = append(owners, nobody)
	}
	return owners
}

// whole reports whether a table has each slot once.
func (t Table) whole() bool {
	sum := 0
	for _, run := range t {
		if run.Slots <= 0 || run.Slots > slotCount {
			return false
		}
		if sum += run.Slots; sum > slotCount {
			return false
		}
	}
	return sum == slotCount
}

// tableOf writes owners as the fewest runs.
func tableOf(branches []Branch, owners []int) Table {
	var t Table
	for slot, owner := range owners {
		switch last := len(t) - 1; {
		case owner == nobody: // of a graph whose percents do not sum to 100
		case slot > 0 && owners[slot-1] == owner:
			t[last].Slots++
		default:
			t = append(t, Run{Branch: branches[owner].ID, Slots: 1})
		}
	}
	return t
}

// fits reports whether a table gives each branch its percent.
func (t Table) fits(branches []Branch) bool {
	if !t.whole() {
		return false
	}
	have := make(map[string]int, len(branches))
	for _, run := range t {
		have[run.Branch] += run.Slots
	}
	for i := range branches {
		if have[branches[i].ID] != int(branches[i].Percent) {
			return false
		}
	}
	return true // all 10 000 are accounted for, so that no other branch has any
}
