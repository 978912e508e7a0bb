// Package condition owns the tests that operators and tenants write about a
// request: what they look at, how they compare, how they join, and what is
// wrong with one. It is pure: what a request has is asked of Facts. It knows
// nothing of rules, routes or the catalog.
package condition

import "regexp"

// Condition is one test, or a join of others. Exactly one of All, Any, Not and
// the test (Source with Op) is set.
type Condition struct {
	All []Condition `json:"all,omitempty"` // every one holds
	Any []Condition `json:"any,omitempty"` // at least one holds
	Not *Condition  `json:"not,omitempty"`

	Source Source  `json:"source,omitempty"`
	Path   string  `json:"path,omitempty"` // of body, header and metadata
	Op     Op      `json:"op,omitempty"`
	Value  Operand `json:"value,omitzero"` // none for exists and not_exists
}

// Bounds of a condition.
const (
	MaxDepth    = 4    // joins within each other
	MaxTests    = 64   // in all
	MaxSegments = 12   // of a path
	MaxPath     = 256  // bytes
	MaxText     = 512  // bytes of a text or pattern to compare with
	MaxList     = 256  // values of in and not_in
	MaxSteps    = 1000 // of its regular expressions, with repetitions written out
)

// Source is a part of a request that a test looks at.
type Source string

// The sources. A request has any number of workspace tags and key scopes, one
// or no value of each of the others.
const (
	Body         Source = "body"
	Header       Source = "header"
	Metadata     Source = "metadata"
	WorkspaceTag Source = "workspace_tag"
	KeyScope     Source = "key_scope"
	Endpoint     Source = "endpoint" // the surface
	Model        Source = "model"
	SessionID    Source = "session_id"
	UserID       Source = "user_id"
)

// Sources lists every source.
func Sources() []Source {
	return []Source{Body, Header, Metadata, WorkspaceTag, KeyScope, Endpoint, Model, SessionID, UserID}
}

// several reports whether a request may have more than one value of an input: a
// header's lines, tags, scopes.
func (s Source) several() bool { return s == Header || s == WorkspaceTag || s == KeyScope }

// takesPath reports whether a source has parts that a path names.
func (s Source) takesPath() bool { return s == Body || s == Header || s == Metadata }

// Op is how a test compares.
type Op string

// The operators. Each negative one is the opposite of the other of its pair, so
// that it holds where nothing is there.
const (
	Equals      Op = "equals"
	NotEquals   Op = "not_equals"
	Contains    Op = "contains"
	StartsWith  Op = "starts_with"
	EndsWith    Op = "ends_with"
	Exists      Op = "exists"
	NotExists   Op = "not_exists"
	GreaterThan Op = "greater_than"
	LessThan    Op = "less_than"
	In          Op = "in"
	NotIn       Op = "not_in"
	Matches     Op = "matches"
)

// Ops lists every operator.
func Ops() []Op {
	return []Op{
		Equals, NotEquals, Contains, StartsWith, EndsWith, Exists, NotExists, GreaterThan, LessThan, In, NotIn, Matches,
	}
}

// positive is the operator whose opposite o is, or o itself.
func (o Op) positive() (positive Op, negated bool) {
	switch o {
	case NotEquals:
		return Equals, true
	case NotIn:
		return In, true
	case NotExists:
		return Exists, true
	default:
		return o, false
	}
}

// Facts answers what a request has. Implementations are frozen values: an
// evaluation may ask twice.
type Facts interface {
	// Look returns the values at a path of a source, none when nothing is
	// there. Path is empty for sources that have no parts, the name for a
	// header, and else the path as it was written.
	Look(s Source, path string) []Value
}

// Matcher is implemented by facts that remember what expressions matched, for
// requests that are evaluated many times.
type Matcher interface {
	// Match is pattern.MatchString(text).
	Match(pattern *Pattern, text string) bool
}

// Pattern is a regular expression, which stays the same one for as long as its
// condition does.
type Pattern = regexp.Regexp
