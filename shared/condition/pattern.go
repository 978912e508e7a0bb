package condition

import (
	"regexp"
	"regexp/syntax"
)

// maxMatched is the longest text that a regular expression looks at, in bytes; a
// longer one does not match. What matching costs is this times the expression's
// steps, all of which may be under way at each byte.
const maxMatched = 16 << 10

// anyCase has texts compare without regard to case unless the expression says
// (?-i).
const anyCase = "(?i)"

// pattern compiles an expression.
func pattern(expression string) (*regexp.Regexp, error) {
	return regexp.Compile(anyCase + expression)
}

// Steps is how many steps the regular expressions of a valid condition have
// together.
func Steps(c Condition) int {
	k := checker{allowed: Sources()}
	k.condition(&c, "", 1)
	return k.steps
}

// stepsOf is how many steps an expression has once its repetitions are written
// out, which a short one may do a thousandfold. It does not write them out.
func stepsOf(expression string) (int, error) {
	parsed, err := syntax.Parse(anyCase+expression, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return stepsIn(parsed), nil
}

func stepsIn(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat: // the parser bounds how often, of nested ones together
		return stepsIn(re.Sub[0]) * max(1, re.Min, re.Max)
	default:
	}
	steps := 1
	for _, sub := range re.Sub {
		steps += stepsIn(sub)
	}
	return steps
}
