package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// maxInput bounds a graph as it is submitted, blanks and all.
const maxInput = 16 * MaxBytes

// maxProblems bounds how many problems are listed; graphs of any sense have
// fewer.
const maxProblems = 1000

// Read decodes a graph strictly and checks it: everything that is wrong is in
// one report. names may be nil, as for Check.
func Read(raw []byte, names Names) (Graph, Report) {
	g, found := Decode(raw)
	if len(found) > 0 && found[0].Path == "" && (found[0].Code == Malformed || found[0].Code == WrongType) {
		return g, Report{Problems: found}
	}
	report := Check(g, names)
	report.Problems = slices.DeleteFunc(report.Problems, func(p Problem) bool { return followsFrom(p, found) })
	report.Problems = bounded(append(found, report.Problems...))
	return g, report
}

// followsFrom reports whether a problem of the decoded graph only says again
// that a field could not be read.
func followsFrom(p Problem, found []Problem) bool {
	return slices.ContainsFunc(found, func(f Problem) bool {
		within := f.Path != "" && within(p.Path, f.Path) && f.Code != UnknownName && f.Code != Duplicate
		return within || p.Code == Sum && strings.HasPrefix(f.Path, p.Path) && strings.HasSuffix(f.Path, ".percent")
	})
}

// within reports whether a path is another one or leads on from it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Decode reads a graph from JSON and lists what keeps it from being one: an
// unknown or missing field, a wrong type, a member twice, what follows the
// graph. The graph holds what could be read.
func Decode(raw []byte) (Graph, []Problem) {
	var g Graph
	if len(raw) > maxInput {
		return g, []Problem{problemf("", "", Malformed, "want at most %d bytes", maxInput)}
	}
	t, err := parse(raw)
	if err != nil {
		return g, []Problem{{Code: Malformed, Message: notJSON(err)}}
	}
	r := reader{}
	r.read(&t, reflect.ValueOf(&g).Elem(), "")
	return g, bounded(r.problems)
}

func bounded(list []Problem) []Problem {
	if len(list) <= maxProblems {
		return list
	}
	return append(list[:maxProblems:maxProblems],
		problemf("", "", TooLong, "there are more problems; the first %d are listed", maxProblems))
}

// notJSON says where an input ceases to be JSON, and nothing of what is there.
func notJSON(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("want one JSON object and nothing after it; it is no JSON at byte %d", syntax.Offset)
	case errors.Is(err, errNesting):
		return fmt.Sprintf("want objects and lists nested at most %d deep", maxNesting)
	default:
		return "want JSON in UTF-8"
	}
}

// reader fills a graph from a tree by the names in its JSON tags. Members
// without omitempty and omitzero are required.
type reader struct {
	node     string // id of the node that is being read
	problems []Problem
}

func (r *reader) addf(path, code, format string, args ...any) {
	r.problems = append(r.problems, problemf(r.node, path, code, format, args...))
}

func (r *reader) read(t *tree, into reflect.Value, path string) {
	switch v := into.Addr().Interface().(type) {
	case *Percent:
		r.percent(t, v, path)
		return
	case *condition.Operand:
		r.operand(t, v, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		r.object(t, into, path)
	case reflect.Slice:
		r.list(t, into, path)
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		r.read(t, into.Elem(), path)
	default:
		r.single(t, into, path)
	}
}

// single reads a text, a number or a boolean.
func (r *reader) single(t *tree, into reflect.Value, path string) {
	switch into.Kind() {
	case reflect.String:
		if r.want(t, '"', path, "want a text") {
			into.SetString(t.text)
		}
	case reflect.Bool:
		if r.want(t, 't', path, "want true or false") {
			into.SetBool(t.on)
		}
	case reflect.Float64:
		if r.want(t, '0', path, "want a number") {
			n, err := strconv.ParseFloat(t.text, 64)
			if err != nil {
				r.addf(path, OutOfRange, "want a number of no such size")
			}
			into.SetFloat(n)
		}
	default: // the whole numbers
		if r.want(t, '0', path, "want a whole number") {
			n, err := strconv.ParseInt(t.text, 10, 64)
			if err != nil || into.OverflowInt(n) {
				r.addf(path, WrongType, "want a whole number, without a point or an exponent")
				return
			}
			into.SetInt(n)
		}
	}
}

func (r *reader) want(t *tree, kind byte, path, message string) bool {
	if t.kind != kind {
		r.addf(path, WrongType, "%s", message)
	}
	return t.kind == kind
}

func (r *reader) list(t *tree, into reflect.Value, path string) {
	if !r.want(t, '[', path, "want a list") {
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(t.members), len(t.members)))
	for i := range t.members {
		r.read(&t.members[i], into.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (r *reader) object(t *tree, into reflect.Value, path string) {
	if _, is := into.Addr().Interface().(*Node); is {
		r.node = ""
		if one, ok := t.member("id"); ok && one.kind == '"' && validID(one.text) {
			r.node = one.text
		}
		defer func() { r.node = "" }()
	}
	if !r.want(t, '{', path, "want an object") {
		return
	}
	seen := make(map[string]bool, len(t.names))
	for i, name := range t.names {
		at := below(path, name)
		field, ok := fieldOf(into.Type(), name)
		switch {
		case seen[name]:
			r.addf(at, Duplicate, "is given more than once")
		case !ok:
			r.addf(at, UnknownName, "there is no such field; want one of %s", strings.Join(fieldNames(into.Type()), ", "))
		default:
			r.read(&t.members[i], into.Field(field), at)
		}
		seen[name] = true
	}
	for i := range into.NumField() {
		name, optional := jsonName(into.Type().Field(i))
		if !optional && !seen[name] {
			r.addf(below(path, name), Required, "is required")
		}
	}
}

func (r *reader) percent(t *tree, into *Percent, path string) {
	if !r.want(t, '0', path, "want a number") {
		return
	}
	p, err := ParsePercent(t.text)
	if err != nil {
		r.addf(path, OutOfRange, "%s", ErrPercent.Error())
	}
	*into = p
}

// operand reads what a test compares with: one primitive, or a list of them.
func (r *reader) operand(t *tree, into *condition.Operand, path string) {
	if t.kind != '[' {
		into.Values = []condition.Value{r.primitive(t, path)}
		return
	}
	into.List, into.Values = true, make([]condition.Value, 0, len(t.members))
	for i := range t.members {
		into.Values = append(into.Values, r.primitive(&t.members[i], fmt.Sprintf("%s[%d]", path, i)))
	}
}

func (r *reader) primitive(t *tree, path string) condition.Value {
	switch t.kind {
	case '"':
		return condition.Text(t.text)
	case '0':
		v, _ := condition.Number(t.text)
		return v
	case 't':
		return condition.Bool(t.on)
	case 'n':
		return condition.Null()
	}
	r.addf(path, WrongType, "want a text, a number, true, false or null")
	return condition.Null()
}

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// below is the path of a member. What looks like no field's name is not
// repeated.
func below(path, name string) string {
	switch {
	case !fieldName.MatchString(name):
		return path
	case path == "":
		return name
	}
	return path + "." + name
}

// jsonName is the name of a field in JSON, and whether it may be left out.
func jsonName(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, options != ""
}

func fieldOf(t reflect.Type, name string) (index int, ok bool) {
	for i := range t.NumField() {
		if have, _ := jsonName(t.Field(i)); have == name {
			return i, true
		}
	}
	return 0, false
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _ = jsonName(t.Field(i))
	}
	return names
}
