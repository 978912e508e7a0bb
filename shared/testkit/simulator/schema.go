package simulator

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/tidwall/gjson"
)

// instancer makes valid instances of a JSON schema: the members in the
// schema's order, strings from the hints.
type instancer struct {
	root  gjson.Result
	hints []string
	next  int
}

// maxDepth ends recursive schemas.
const maxDepth = 12

// instance returns one valid instance of schema as JSON.
func instance(schema gjson.Result, hints []string) json.RawMessage {
	in := &instancer{root: schema, hints: hints}
	var b bytes.Buffer
	in.write(&b, schema, "value", 0)
	return b.Bytes()
}

func (in *instancer) write(b *bytes.Buffer, s gjson.Result, name string, depth int) {
	s = in.resolve(s)
	if depth > maxDepth {
		b.WriteString("null")
		return
	}
	if c := s.Get("const"); c.Exists() {
		b.WriteString(c.Raw)
		return
	}
	if e := s.Get("enum").Array(); len(e) > 0 {
		b.WriteString(e[0].Raw)
		return
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		if any := s.Get(word).Array(); len(any) > 0 && !s.Get("properties").Exists() {
			in.write(b, notNull(any), name, depth+1)
			return
		}
	}
	switch typeOf(s) {
	case "object":
		in.object(b, s, depth)
	case "array":
		in.array(b, s, name, depth)
	case "integer":
		writeJSON(b, int64(math.Ceil(in.num(s))))
	case "number":
		writeJSON(b, in.num(s))
	case "boolean":
		b.WriteString("true")
	case "null":
		b.WriteString("null")
	default:
		writeJSON(b, in.text(s, name))
	}
}

// resolve follows local references.
func (in *instancer) resolve(s gjson.Result) gjson.Result {
	for range maxDepth {
		ref := s.Get("$ref").String()
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			if ref == "#" {
				return in.root
			}
			return s
		}
		at := in.root
		for _, step := range strings.Split(path, "/") {
			at = member(at, step)
		}
		s = at
	}
	return s
}

// member reads a member by its exact name; gjson paths would give dots and
// dollar signs a meaning.
func member(v gjson.Result, name string) gjson.Result {
	var found gjson.Result
	v.ForEach(func(k, m gjson.Result) bool {
		if k.Str == name {
			found = m
			return false
		}
		return true
	})
	return found
}

func (in *instancer) object(b *bytes.Buffer, s gjson.Result, depth int) {
	required := map[string]bool{}
	for _, r := range s.Get("required").Array() {
		required[r.Str] = true
	}
	b.WriteByte('{')
	first := true
	s.Get("properties").ForEach(func(k, sub gjson.Result) bool {
		if depth > maxDepth/2 && !required[k.Str] {
			return true
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		writeJSON(b, k.Str)
		b.WriteByte(':')
		in.write(b, sub, k.Str, depth+1)
		return true
	})
	b.WriteByte('}')
}

func (in *instancer) array(b *bytes.Buffer, s gjson.Result, name string, depth int) {
	n := max(s.Get("minItems").Int(), 1)
	if depth > maxDepth/2 {
		n = s.Get("minItems").Int()
	}
	b.WriteByte('[')
	for i := range min(n, 64) {
		if i > 0 {
			b.WriteByte(',')
		}
		in.write(b, s.Get("items"), strings.TrimSuffix(name, "s"), depth+1)
	}
	b.WriteByte(']')
}

func (in *instancer) num(s gjson.Result) float64 {
	v := 1.0
	if m := s.Get("minimum"); m.Exists() {
		v = max(v, m.Num)
	}
	if m := s.Get("exclusiveMinimum"); m.Exists() {
		v = max(v, m.Num+1)
	}
	if m := s.Get("maximum"); m.Exists() {
		v = min(v, m.Num)
	}
	if m := s.Get("multipleOf"); m.Exists() && m.Num > 0 {
		v = math.Ceil(v/m.Num) * m.Num
	}
	return v
}

func (in *instancer) text(s gjson.Result, name string) string {
	switch s.Get("format").String() {
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "date":
		return "2026-01-02"
	case "time":
		return "03:04:05Z"
	case "email":
		return "someone@example.com"
	case "uri":
		return "https://example.com/"
	case "uuid":
		return "00000000-0000-4000-8000-000000000001"
	}
	text := "example " + name
	if len(in.hints) > 0 {
		text = in.hints[in.next%len(in.hints)]
		in.next++
	}
	if n := int(s.Get("minLength").Int()); len(text) < n {
		text += strings.Repeat("x", min(n-len(text), 1<<10))
	}
	if m := s.Get("maxLength"); m.Exists() && len(text) > int(m.Int()) {
		text = text[:max(m.Int(), 0)]
	}
	return text
}

// typeOf returns the schema's type: of several, the first that is not null.
func typeOf(s gjson.Result) string {
	t := s.Get("type")
	if t.IsArray() {
		for _, one := range t.Array() {
			if one.Str != "null" {
				return strings.ToLower(one.Str)
			}
		}
		return "null"
	}
	if !t.Exists() && s.Get("properties").Exists() {
		return "object"
	}
	if !t.Exists() && s.Get("items").Exists() {
		return "array"
	}
	return strings.ToLower(t.Str) // Gemini writes OBJECT
}

func notNull(options []gjson.Result) gjson.Result {
	for _, o := range options {
		if o.Get("type").Str != "null" {
			return o
		}
	}
	return options[0]
}

func writeJSON(b *bytes.Buffer, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	b.Write(raw)
}
