package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one thing wrong with a condition. Its text repeats no value.
type Problem struct {
	Path    string // such as when.all[1].op
	Message string
}

// Check returns everything that is wrong with a condition, in its order.
// Problems' paths begin with path. A test may look at the allowed sources.
func Check(c Condition, path string, allowed ...Source) []Problem {
	k := checker{allowed: allowed}
	k.condition(&c, path, 1)
	if k.tests > MaxTests {
		k.addf(path, "want at most %d tests", MaxTests)
	}
	if k.steps > MaxSteps {
		k.addf(path, "want simpler regular expressions: written out, they have at most %d steps together", MaxSteps)
	}
	return k.problems
}

type checker struct {
	allowed  []Source
	tests    int
	steps    int // of all regular expressions
	problems []Problem
}

func (k *checker) addf(path, format string, args ...any) {
	k.problems = append(k.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// condition checks c, which stands in depth-1 joins.
func (k *checker) condition(c *Condition, path string, depth int) {
	forms := 0
	for _, set := range []bool{c.All != nil, c.Any != nil, c.Not != nil, c.isTest()} {
		if set {
			forms++
		}
	}
	switch {
	case forms == 0:
		k.addf(path, "want a test (source, op and value), or one of all, any and not")
		return
	case forms > 1:
		k.addf(path, "want either a test or one of all, any and not, and nothing beside it")
	}
	if c.isTest() {
		k.test(c, path)
	}
	if c.All == nil && c.Any == nil && c.Not == nil {
		return
	}
	if depth > MaxDepth {
		k.addf(path, "want all, any and not nested at most %d deep", MaxDepth)
		return
	}
	k.joined(c.All, path+".all", depth)
	k.joined(c.Any, path+".any", depth)
	if c.Not != nil {
		k.condition(c.Not, path+".not", depth+1)
	}
}

func (c *Condition) isTest() bool {
	return c.Source != "" || c.Op != "" || c.Path != "" || !c.Value.IsZero()
}

func (k *checker) joined(list []Condition, path string, depth int) {
	if list != nil && (len(list) == 0 || len(list) > MaxTests) {
		k.addf(path, "want 1 to %d conditions", MaxTests)
		return
	}
	for i := range list {
		k.condition(&list[i], fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
}

func (k *checker) test(c *Condition, path string) {
	k.tests++
	switch {
	case c.Source == "":
		k.addf(path+".source", "is required: one of %s", named(k.allowed))
	case !slices.Contains(k.allowed, c.Source):
		k.addf(path+".source", "want one of %s", named(k.allowed))
	default:
		k.path(c, path+".path")
	}
	switch {
	case c.Op == "":
		k.addf(path+".op", "is required: one of %s", named(Ops()))
	case !slices.Contains(Ops(), c.Op):
		k.addf(path+".op", "want one of %s", named(Ops()))
	default:
		k.operand(c, path+".value")
	}
}

func (k *checker) path(c *Condition, path string) {
	switch {
	case !c.Source.takesPath():
		if c.Path != "" {
			k.addf(path, "the source %s has no parts", c.Source)
		}
	case c.Path == "":
		k.addf(path, "is required with the source %s", c.Source)
	case len(c.Path) > MaxPath || !utf8.ValidString(c.Path):
		k.addf(path, "want at most %d bytes of UTF-8", MaxPath)
	case c.Source == Header && !headerName.MatchString(c.Path):
		k.addf(path, "want the name of a header")
	case c.Source == Header && SecretHeader(c.Path):
		k.addf(path, "this header may hold a secret and cannot be read")
	case c.Source != Header && strings.Count(c.Path, ".") >= MaxSegments:
		k.addf(path, "want at most %d segments", MaxSegments)
	case c.Source != Header && slices.Contains(strings.Split(c.Path, "."), ""):
		k.addf(path, "want no empty segments")
	}
}

func (k *checker) operand(c *Condition, path string) {
	op, _ := c.Op.positive()
	list := op == In
	switch {
	case op == Exists:
		if !c.Value.IsZero() {
			k.addf(path, "%s takes no value", c.Op)
		}
		return
	case c.Value.IsZero():
		k.addf(path, "is required with %s", c.Op)
		return
	case list != c.Value.List && list:
		k.addf(path, "%s wants a list of values", c.Op)
		return
	case list != c.Value.List:
		k.addf(path, "%s wants one value; in takes a list", c.Op)
		return
	case list && (len(c.Value.Values) == 0 || len(c.Value.Values) > MaxList):
		k.addf(path, "want 1 to %d values", MaxList)
		return
	}
	for i, v := range c.Value.Values {
		at := path
		if list {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		k.value(op, v, at)
	}
}

func (k *checker) value(op Op, v Value, path string) {
	if v.kind == text && (len(v.text) > MaxText || !utf8.ValidString(v.text)) {
		k.addf(path, "want at most %d bytes of UTF-8", MaxText)
		return
	}
	switch op {
	case Contains, StartsWith, EndsWith:
		if v.kind == null || v.text == "" {
			k.addf(path, "want a text that is not empty")
		}
	case GreaterThan, LessThan:
		if v.kind != number && v.kind != text {
			k.addf(path, "want a number, or a text to order by")
		}
	case Matches:
		if v.kind != text {
			k.addf(path, "want a regular expression as a text")
			return
		}
		steps, err := stepsOf(v.text)
		if err != nil {
			k.addf(path, "want a regular expression in the syntax of RE2")
		}
		k.steps += steps
	default:
	}
}

// headerName is a token of RFC 9110 §5.6.2.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// SecretHeader reports whether a header of a request may hold a secret, which
// no condition may read.
func SecretHeader(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "x-signalbox-") {
		return true
	}
	for _, part := range []string{"authorization", "cookie", "key", "token", "secret", "password"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func named[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}
