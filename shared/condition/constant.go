package condition

import (
	"fmt"
	"slices"
)

// Finding is a part of a condition that has the same answer for every request.
type Finding struct {
	Path  string // such as when.all[1]
	Holds bool
}

// Constants finds the outermost parts of a valid condition that are provably
// constant; what it does not find may be so all the same. Paths begin with
// path. endpoints are all that the source endpoint may be, nil where that is
// not known.
func Constants(c Condition, path string, endpoints []string) []Finding {
	p := compile(&c)
	return p.constants(path, endpoints)
}

func (p *Program) constants(path string, endpoints []string) []Finding {
	if answer := p.always(endpoints); answer != Unknown {
		return []Finding{{Path: path, Holds: answer == True}}
	}
	var found []Finding
	for i := range p.all {
		found = append(found, p.all[i].constants(fmt.Sprintf("%s.all[%d]", path, i), endpoints)...)
	}
	for i := range p.any {
		found = append(found, p.any[i].constants(fmt.Sprintf("%s.any[%d]", path, i), endpoints)...)
	}
	if p.not != nil {
		found = append(found, p.not.constants(path+".not", endpoints)...)
	}
	return found
}

// always is the answer that p has at every endpoint, whatever else a request
// has.
func (p *Program) always(endpoints []string) Truth {
	if len(endpoints) == 0 {
		return p.whatever("")
	}
	answer := p.whatever(endpoints[0])
	for _, one := range endpoints[1:] {
		if p.whatever(one) != answer {
			return Unknown
		}
	}
	return answer
}

// whatever is the answer of p at one endpoint, "" for any of them.
func (p *Program) whatever(endpoint string) Truth {
	switch {
	case p.all != nil:
		if clash(p.all, (*Program).excludes) {
			return False
		}
		return conjoin(p.all, func(c *Program) Truth { return c.whatever(endpoint) })
	case p.any != nil:
		if clash(p.any, (*Program).completes) {
			return True
		}
		return disjoin(p.any, func(c *Program) Truth { return c.whatever(endpoint) })
	case p.not != nil:
		return p.not.whatever(endpoint).Not()
	case p.source == Endpoint && endpoint != "":
		return truth(p.meets(Text(endpoint)) != p.negated)
	case p.op == Equals || p.op == In:
		// Only bodies and metadata have a null.
		if p.source != Body && p.source != Metadata && !slices.ContainsFunc(p.values, func(o operand) bool { return o.kind != null }) {
			return truth(p.negated)
		}
	}
	return Unknown
}

// clash reports whether two tests of a list stand in a relation.
func clash(list []Program, relation func(a, b *Program) bool) bool {
	for i := range list {
		for j := range list {
			a, b := &list[i], &list[j]
			if i != j && a.source != "" && a.source == b.source && a.path == b.path && relation(a, b) {
				return true
			}
		}
	}
	return false
}

// opposite reports whether a and b are a test and its negation.
func (p *Program) opposite(b *Program) bool {
	return p.negated != b.negated && p.op == b.op && slices.EqualFunc(p.values, b.values, func(x, y operand) bool {
		return x.kind == y.kind && (x.text == y.text || p.op != Matches && x.folded == y.folded)
	})
}

// maxPairs is how many pairs of values of two tests are looked at: all tests of a
// list are held against each other.
const maxPairs = 256

// excludes reports whether no request passes both a and b, tests of one input.
func (p *Program) excludes(b *Program) bool {
	switch {
	case p.opposite(b), !p.negated && b.op == Exists && b.negated:
		return true
	case p.negated || b.negated || p.source.several():
		return false // of several values each test may be passed by one
	case p.op == GreaterThan && b.op == LessThan:
		above, below := p.values[0], b.values[0]
		return above.kind == number && below.kind == number && above.number >= below.number
	case p.op != Equals && p.op != In, len(p.values)*len(b.values) > maxPairs:
		return false
	}
	for _, o := range p.values {
		if !o.misses(b) {
			return false
		}
	}
	return true
}

// meets reports whether some value may equal both o and another operand: a number
// equals both of two texts that read as it.
func (o *operand) meets(other operand) bool {
	if o.kind == null || other.kind == null {
		return o.kind == other.kind
	}
	return o.isNum && other.isNum && o.number == other.number || o.folded == other.folded
}

// misses reports whether no value that equals o passes b.
func (o *operand) misses(b *Program) bool {
	switch b.op {
	case Equals, In:
		return !slices.ContainsFunc(b.values, o.meets)
	case Contains, StartsWith, EndsWith:
		return o.kind != number && !o.isNum && !b.meets(o.Value)
	default:
		return false
	}
}

// completes reports whether every request passes a or b, tests of one input.
func (p *Program) completes(b *Program) bool {
	return p.opposite(b) || p.op == Exists && !p.negated && b.negated
}
