package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// placed is a preset's parameter as a surface has it.
type placed struct {
	field
	concept string
	value   []byte
}

// param is a parameter as a preset has it.
type param struct {
	name  string
	value []byte
}

// given are a preset's parameters in the order of their names. Those of a
// generation config in Gemini's words come last, as parameters like others: the
// preset may meet other formats.
func given(c *policy.PresetConfig) []param {
	all := make([]param, 0, len(c.Params))
	var inner []param
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		value := c.Params[name]
		if conceptOf(name) != policy.GenerationConfig {
			all = append(all, param{name, value})
			continue
		}
		for o := rawjson.NewObject(value); o.Next(); {
			inner = append(inner, param{o.Name(), o.Value()})
		}
	}
	return append(all, inner...)
}

// sorted returns a preset's parameters as a surface has them, those first whose
// name is the surface's own: where two mean the same, the first one counts. lost
// are the names of those that it has not.
func sorted(s catalog.Surface, c *policy.PresetConfig) (all []placed, lost []string) {
	var others []placed
	for _, p := range given(c) {
		name, value, concept := p.name, p.value, conceptOf(p.name)
		if rawjson.IsNull(value) {
			continue
		}
		f, ok := place(s, name, concept, value)
		switch {
		case !ok && !plain(name): // of a generation config, whose names nobody checks
			lost = append(lost, "generationConfig")
		case !ok:
			lost = append(lost, name)
		case f.name == name:
			all = append(all, placed{f, concept, value})
		default:
			if f.kind == listed && value[0] == '"' {
				value = slices.Concat([]byte("["), value, []byte("]"))
			}
			others = append(others, placed{f, concept, value})
		}
	}
	all = append(all, others...)
	if has(c, "tools") && !slices.ContainsFunc(all, ofTools) {
		all = slices.DeleteFunc(all, func(p placed) bool {
			if !choices[p.concept] {
				return false
			}
			lost = append(lost, p.name)
			return true
		})
	}
	return all, lost
}

// choices are the concepts that choose among tools. A preset's choice is one
// among its own tools, if it has any: it is added only with them.
var choices = concept(`tool_choice tool_config function_call`)

func ofTools(p placed) bool { return rivalOf(p.concept) == "tools" }

// has reports whether a preset has a parameter of a concept.
func has(c *policy.PresetConfig, concept string) bool {
	for name, value := range c.Params {
		if rivalOf(conceptOf(name)) == concept && !rawjson.IsNull(value) {
			return true
		}
	}
	return false
}

// place is where a surface has a parameter.
func place(s catalog.Surface, name, concept string, value []byte) (field, bool) {
	if !plain(name) || policy.OwnParam(name) {
		return field{}, false
	}
	f, ok := surfaces[s][concept]
	switch {
	case ok && f.fits(s, concept, value):
		if s == catalog.Chat && name == "max_completion_tokens" {
			f.name = name // the format has both
		}
		return f, true
	case ok, s != catalog.Chat, elsewhere[concept]:
		return field{}, false
	}
	return field{name: name}, true
}

// plain reports whether a name has letters, digits and underscores of ASCII alone:
// parsers that pay no regard to case may take others for another name.
func plain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// present are the concepts of the parameters that a body has.
type present map[string]bool

func (p present) note(o *rawjson.Object) { p[rivalOf(conceptOf(o.Name()))] = true }

// take reports whether a parameter is missing, and has it there.
func (p present) take(concept string) bool {
	concept = rivalOf(concept)
	if p[concept] {
		return false
	}
	p[concept] = true
	return true
}

// appendMember writes a member behind those that dst has.
func appendMember(dst []byte, name string, value []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	dst = append(append(dst, rawjson.Quote(name)...), ':')
	return append(dst, value...)
}
