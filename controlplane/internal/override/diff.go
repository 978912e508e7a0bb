package override

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
)

// Bounds of what is kept of a change.
const (
	maxChanges = 256
	maxShown   = 256 // bytes of a value
)

// diff are the members that changed, by dotted paths in which lists of named
// things go by their names: models.acme/small.endpoints.north.price.input.
func diff(before, after *State) []audit.Change {
	was, is := before.flat(), after.flat()
	var d audit.Diff
	paths := make(map[string]bool, len(is))
	for path := range was {
		paths[path] = true
	}
	for path := range is {
		paths[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if was[path] != is[path] {
			d.Text(path, cut(was[path]), cut(is[path])+mark(was[path], is[path]))
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(merged(before.Keys, after.Keys))) {
		if !bytes.Equal(before.Keys[slug], after.Keys[slug]) {
			d.Secret("providers." + slug + ".api_key")
		}
	}
	if over := len(d) - maxChanges; over > 0 {
		d = append(d[:maxChanges], audit.Change{Path: "…", After: "and " + strconv.Itoa(over) + " more"})
	}
	return d
}

func merged[K comparable, V any](a, b map[K]V) map[K]V {
	out := maps.Clone(a)
	if out == nil {
		out = make(map[K]V, len(b))
	}
	maps.Copy(out, b)
	return out
}

// flat is the document with every leaf under its path.
func (s *State) flat() map[string]string {
	out := make(map[string]string)
	for _, e := range s.Document.Providers {
		flatten(out, "providers."+slugName(e), e)
	}
	for _, e := range s.Document.Models {
		flatten(out, "models."+modelName(e), e)
	}
	return out
}

// lists are the members that hold named things, with how they are named.
var lists = map[string]func(Entry) string{"endpoints": endpointName, "rules": ruleName}

func flatten(out map[string]string, prefix string, e Entry) {
	for name, raw := range e {
		path := prefix + "." + name
		if naming, ok := lists[name]; ok {
			order := make([]string, 0)
			for _, item := range e.entries(name) {
				flatten(out, path+"."+naming(item), item)
				order = append(order, naming(item))
			}
			if name == "rules" { // their order decides
				raw, _ = json.Marshal(order)
				out[path] = shown(raw)
			}
			continue
		}
		var object Entry
		if json.Unmarshal(raw, &object) == nil && object != nil && name != "when" && name != "then" {
			flatten(out, path, object)
			continue
		}
		out[path] = shown(raw)
	}
}

// shown is a value in one form, whatever the order of its members was.
func shown(raw json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return ""
	}
	body, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(body)
}

func cut(text string) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// mark tells two values apart that look alike once they are cut.
func mark(was, is string) string {
	if cut(was) == cut(is) {
		return " (changed further on)"
	}
	return ""
}
