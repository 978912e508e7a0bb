package merge

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// fits reports whether a value is of a field's kind.
func (f field) fits(s catalog.Surface, concept string, value []byte) bool {
	first := value[0]
	switch f.kind {
	case anything:
		return true
	case number:
		return first == '-' || first >= '0' && first <= '9'
	case flag:
		return first == 't' || first == 'f'
	case listed:
		return first == '[' || first == '"'
	case shaped:
		if concept == "tools" {
			return toolsOf(s, value)
		}
		return choiceOf(s, value)
	case text, object, list:
		return first == byte(f.kind)
	}
	return false
}

// toolsOf reports whether tools are written as a surface has them. The four
// formats call them by the same name.
func toolsOf(s catalog.Surface, value []byte) bool {
	if value[0] != '[' {
		return false
	}
	for a := rawjson.NewArray(value); a.Next(); {
		if toolOf(a.Value()) != s {
			return false
		}
	}
	return true
}

// toolOf is the surface whose format a tool is of: Chat nests it under its type,
// Responses has it flat, Anthropic calls its schema so or has a date in its type,
// and Gemini has no type.
func toolOf(tool []byte) catalog.Surface {
	var nested, schema, dated, typed bool
	for o := rawjson.NewObject(tool); o.Next(); {
		switch {
		case o.Is("function"), o.Is("custom"):
			nested = true
		case o.Is("input_schema"):
			schema = true
		case o.Is("type"):
			typed = true
			dated = endsInDate(rawjson.String(o.Value()))
		}
	}
	switch {
	case nested:
		return catalog.Chat
	case schema, dated:
		return catalog.Messages
	case typed:
		return catalog.Responses
	}
	return catalog.Gemini
}

// endsInDate recognizes the types of Anthropic's own tools, as in
// "web_search_20250305". OpenAI's dates have hyphens.
func endsInDate(name string) bool {
	const digits = 8
	if len(name) <= digits || name[len(name)-digits-1] != '_' {
		return false
	}
	for _, c := range name[len(name)-digits:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// choiceOf reports whether a choice of tools is written as a surface has it.
func choiceOf(s catalog.Surface, value []byte) bool {
	if value[0] == '"' {
		return s == catalog.Chat || s == catalog.Responses
	}
	var nested bool
	var kind string
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case o.Is("function"), o.Is("custom"), o.Is("allowed_tools"):
			nested = true
		case o.Is("type"):
			kind = rawjson.String(o.Value())
		}
	}
	switch kind {
	case "":
		return false
	case "auto", "any", "tool", "none":
		return s == catalog.Messages
	}
	if nested {
		return s == catalog.Chat
	}
	return s == catalog.Responses
}
