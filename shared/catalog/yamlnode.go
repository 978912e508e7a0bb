package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/shared/money"
)

// maxNodes bounds what aliases may unfold to, and maxDepth how deep.
const (
	maxNodes = 400_000
	maxDepth = 32
)

// yamlReader walks a document and collects every problem with its place. No
// message repeats a value: values may be keys.
type yamlReader struct {
	file     string
	problems Problems
	warnings Warnings
	visited  int
	depth    int
}

// place is a node with its path.
type place struct {
	node *yaml.Node
	path string
}

func (r *yamlReader) refuse(at place, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: at.node.Line, Path: at.path, Message: fmt.Sprintf(format, args...)})
}

// resolve follows an alias and counts what was visited.
func (r *yamlReader) resolve(at place) (place, bool) {
	for at.node.Kind == yaml.AliasNode {
		at.node = at.node.Alias
	}
	r.visited++
	if r.visited > maxNodes || r.depth > maxDepth {
		if r.visited <= maxNodes+1 && r.depth <= maxDepth+1 {
			r.refuse(at, "the document is too deep, or its aliases unfold to too much")
			r.visited = maxNodes + 1
		}
		return at, false
	}
	return at, true
}

// field is one member of a mapping.
type field struct {
	name string
	read func(place)
}

// mapping reads the known members of a mapping and refuses others. It is
// false for what is no mapping.
func (r *yamlReader) mapping(at place, fields ...field) bool {
	at, ok := r.resolve(at)
	if !ok {
		return false
	}
	if at.node.Kind != yaml.MappingNode {
		r.refuse(at, "want a mapping")
		return false
	}
	r.depth++
	defer func() { r.depth-- }()
	seen := make(map[string]bool)
	for i := 0; i+1 < len(at.node.Content); i += 2 {
		key := place{node: at.node.Content[i], path: at.path}
		name := key.node.Value
		f := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case f < 0 && !printableName(name):
			r.refuse(key, "unknown field; want one of %s", names(fields))
		case f < 0:
			r.refuse(place{key.node, joined(at.path, name)}, "unknown field; want one of %s", names(fields))
		case seen[name]:
			r.refuse(place{key.node, joined(at.path, name)}, "is there twice")
		case isNull(at.node.Content[i+1]):
			// Nothing is set, so nothing is overridden.
		default:
			fields[f].read(place{node: at.node.Content[i+1], path: joined(at.path, name)})
		}
		seen[name] = true
	}
	return true
}

// printableName keeps text that is no field name, such as a key that slipped
// to the wrong side of a colon, out of messages.
func printableName(name string) bool {
	return len(name) > 0 && len(name) <= 32 && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z')
	})
}

func names(fields []field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return strings.Join(all, ", ")
}

func joined(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// list reads each item of a sequence.
func (r *yamlReader) list(at place, item func(place)) {
	at, ok := r.resolve(at)
	if !ok {
		return
	}
	if at.node.Kind != yaml.SequenceNode {
		r.refuse(at, "want a list")
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	for i, n := range at.node.Content {
		item(place{node: n, path: fmt.Sprintf("%s[%d]", at.path, i)})
	}
}

// scalar returns the text of a scalar with one of the tags.
func (r *yamlReader) scalar(at place, want string, tags ...string) (string, bool) {
	at, ok := r.resolve(at)
	if !ok {
		return "", false
	}
	if at.node.Kind != yaml.ScalarNode || !slices.Contains(tags, at.node.Tag) {
		r.refuse(at, "want %s", want)
		return "", false
	}
	return at.node.Value, true
}

func (r *yamlReader) text(at place) *string {
	v, ok := r.scalar(at, "text", "!!str")
	if !ok {
		return nil
	}
	return &v
}

func (r *yamlReader) flag(at place) *bool {
	v, ok := r.scalar(at, "true or false", "!!bool")
	if !ok {
		return nil
	}
	b := strings.EqualFold(v, "true")
	return &b
}

func (r *yamlReader) integer(at place) *int64 {
	v, ok := r.scalar(at, "a whole number", "!!int")
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(v, "_", ""), 10, 64)
	if err != nil {
		r.refuse(at, "want a whole number")
		return nil
	}
	return &n
}

func (r *yamlReader) small(at place) *int {
	n := r.integer(at)
	if n == nil {
		return nil
	}
	if *n < -1<<31 || *n > 1<<31-1 {
		r.refuse(at, "want a smaller number")
		return nil
	}
	v := int(*n)
	return &v
}

// decimal is the text of a number, quoted or not, so that no float comes
// between the file and the amount.
func (r *yamlReader) decimal(at place, want string) (string, bool) {
	return r.scalar(at, want, "!!str", "!!int", "!!float")
}

// price reads a decimal amount of USD; unit says for what.
func (r *yamlReader) price(at place, unit string) *money.PerMillion {
	want := "USD per " + unit + " as a decimal of zero or more with at most 9 decimals, such as \"0.10\""
	v, ok := r.decimal(at, want)
	if !ok {
		return nil
	}
	p, err := money.ParsePerMillion(v)
	if err != nil {
		r.refuse(at, "want %s", want)
		return nil
	}
	return &p
}

func (r *yamlReader) number(at place) float64 {
	v, ok := r.decimal(at, "a number")
	if !ok {
		return 0
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		r.refuse(at, "want a number")
	}
	return n
}

// duration reads a time as Go writes it, such as 90s, 15m or 24h.
func (r *yamlReader) duration(at place) *time.Duration {
	const want = "a time such as 15m or 24h"
	v, ok := r.scalar(at, want, "!!str")
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		r.refuse(at, "want %s", want)
		return nil
	}
	return &d
}

func (r *yamlReader) date(at place) *time.Time {
	const want = "a date such as 2026-01-31, or a time by RFC 3339"
	v, ok := r.scalar(at, want, "!!str", "!!timestamp")
	if !ok {
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, v); err == nil {
			t = t.UTC()
			return &t
		}
	}
	r.refuse(at, "want %s", want)
	return nil
}

// texts reads a list of texts of any string type.
func texts[T ~string](r *yamlReader, at place) *[]T {
	out := []T{}
	r.list(at, func(item place) {
		if v := r.text(item); v != nil {
			out = append(out, T(*v))
		}
	})
	return &out
}
