package condition

import (
	"errors"
	"regexp"
	"strings"
)

// ErrInvalid is the failure of compiling what Check finds something wrong
// with.
var ErrInvalid = errors.New("the condition is not valid")

// Program is a condition ready to be evaluated. It is frozen and safe for
// concurrent use.
type Program struct {
	all, any []Program
	not      *Program

	source  Source
	path    string
	op      Op // never a negative one
	negated bool
	values  []operand
	pattern *regexp.Regexp
}

// operand is a value with what is known of it once and for all.
type operand struct {
	Value
	folded string
	number float64
	isNum  bool
}

// Compile makes a condition ready. It fails with ErrInvalid where Check finds
// a problem.
func Compile(c Condition, allowed ...Source) (*Program, error) {
	if len(Check(c, "", allowed...)) > 0 {
		return nil, ErrInvalid
	}
	p := compile(&c)
	return &p, nil
}

func compile(c *Condition) Program {
	p := Program{all: compileAll(c.All), any: compileAll(c.Any)}
	if c.Not != nil {
		not := compile(c.Not)
		p.not = &not
	}
	if c.Source == "" {
		return p
	}
	p.source, p.path = c.Source, c.Path
	p.op, p.negated = c.Op.positive()
	for _, v := range c.Value.Values {
		o := operand{Value: v}
		o.folded = fold(v.text)
		o.number, o.isNum = v.numeric()
		p.values = append(p.values, o)
	}
	if p.op == Matches {
		p.pattern, _ = pattern(p.values[0].text) // Check has compiled it once
	}
	return p
}

func compileAll(list []Condition) []Program {
	if list == nil {
		return nil
	}
	out := make([]Program, len(list))
	for i := range list {
		out[i] = compile(&list[i])
	}
	return out
}

// Holds evaluates the condition. It allocates nothing but what Look does, and
// lower-case copies of texts beyond ASCII and of those that contains and the
// orders look at.
func (p *Program) Holds(f Facts) bool {
	switch {
	case p.all != nil:
		for i := range p.all {
			if !p.all[i].Holds(f) {
				return false
			}
		}
		return true
	case p.any != nil:
		for i := range p.any {
			if p.any[i].Holds(f) {
				return true
			}
		}
		return false
	case p.not != nil:
		return !p.not.Holds(f)
	}
	for _, v := range f.Look(p.source, p.path) {
		holds := false
		if m, remembers := f.(Matcher); remembers && p.op == Matches && v.matchable() {
			holds = m.Match(p.pattern, v.text)
		} else {
			holds = p.meets(v)
		}
		if holds {
			return !p.negated
		}
	}
	return p.negated
}

// matchable reports whether regular expressions look at a value.
func (v Value) matchable() bool {
	return v.kind != null && v.kind < hidden && len(v.text) <= maxMatched
}

// meets reports whether one value of the request passes the positive test.
func (p *Program) meets(v Value) bool {
	switch {
	case p.op == Exists:
		return true
	case v.kind >= hidden: // equal to nothing; Judge knows more of it
		return false
	}
	switch p.op {
	case Equals, In:
		for i := range p.values {
			if p.values[i].equals(v) {
				return true
			}
		}
		return false
	case GreaterThan:
		order, ok := p.values[0].compare(v)
		return ok && order > 0
	case LessThan:
		order, ok := p.values[0].compare(v)
		return ok && order < 0
	default:
		return v.kind != null && p.meetsText(v)
	}
}

// meetsText is meets for the operators that look at a value's text alone.
func (p *Program) meetsText(v Value) bool {
	have := v.text
	switch want := p.values[0].folded; p.op {
	case Contains:
		return strings.Contains(v.folded(), want)
	case StartsWith:
		return startsFolded(have, want)
	case EndsWith:
		return endsFolded(have, want)
	case Matches:
		return v.matchable() && p.pattern.MatchString(have)
	default:
		return false
	}
}

// equals: null equals null alone. Numbers compare as numbers where one side is
// a number and the other is one or reads as one; all else by its text, without
// regard to case.
func (o *operand) equals(v Value) bool {
	if o.kind == null || v.kind == null {
		return o.kind == v.kind
	}
	if o.kind == number || v.kind == number {
		if n, ok := v.numeric(); ok && o.isNum {
			// Whole numbers beyond what a float holds are told apart by their text.
			return n == o.number && (exact(n) || o.text == v.text)
		}
	}
	return sameFolded(v.text, o.folded)
}

// exact reports whether no two whole numbers look like f.
func exact(f float64) bool { return f < 1<<53 && f > -1<<53 }

// compare orders a request's value against o: as numbers where both read as
// numbers, else as texts where both are texts; ok is false otherwise.
func (o *operand) compare(v Value) (order int, ok bool) {
	if n, is := v.numeric(); is && o.isNum {
		switch {
		case n > o.number:
			return 1, true
		case n < o.number:
			return -1, true
		}
		return 0, true
	}
	if o.kind != text || v.kind != text {
		return 0, false
	}
	return strings.Compare(v.folded(), o.folded), true
}
