package condition

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
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

// Holds evaluates the condition.
func (p *Program) Holds(f Facts) bool {
	switch {
	case p.all != nil:
		return !slices.ContainsFunc(p.all, func(c Program) bool { return !c.Holds(f) })
	case p.any != nil:
		return slices.ContainsFunc(p.any, func(c Program) bool { return c.Holds(f) })
	case p.not != nil:
		return !p.not.Holds(f)
	}
	found := slices.ContainsFunc(f.Look(p.source, p.path), p.meets)
	return found != p.negated
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
		return slices.ContainsFunc(p.values, func(o operand) bool { return o.equals(v) })
	case GreaterThan:
		order, ok := p.values[0].compare(v)
		return ok && order > 0
	case LessThan:
		order, ok := p.values[0].compare(v)
		return ok && order < 0
	default: // by its text, below
	}
	if v.kind == null {
		return false
	}
	switch want := p.values[0].folded; p.op {
	case Contains:
		return strings.Contains(fold(v.text), want)
	case StartsWith:
		return strings.HasPrefix(fold(v.text), want)
	case EndsWith:
		return strings.HasSuffix(fold(v.text), want)
	case Matches:
		return p.pattern.MatchString(v.text)
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

// sameFolded reports fold(have) == folded, without making another text of one
// that is ASCII.
func sameFolded(have, folded string) bool {
	for i := range len(have) {
		c := have[i]
		if c >= utf8.RuneSelf {
			return fold(have) == folded
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if i >= len(folded) || c != folded[i] {
			return false
		}
	}
	return len(have) == len(folded)
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
	return strings.Compare(fold(v.text), o.folded), true
}
