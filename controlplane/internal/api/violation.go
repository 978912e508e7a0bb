package api

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// violationsOf turns the validator's errors into violations, ordered by place.
// The validator's own text repeats the submitted values, so every message here
// is made from the schema and the place alone.
func violationsOf(err error) []fault.Violation {
	found := collect(err)
	slices.SortFunc(found, func(a, b fault.Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code))
	})
	return slices.Compact(found)
}

func collect(err error) []fault.Violation {
	switch e := err.(type) { //nolint:errorlint // each level is unwrapped on purpose: they hold different parts of the place
	case nil:
		return nil
	case openapi3.MultiError:
		var all []fault.Violation
		for _, inner := range e {
			all = append(all, collect(inner)...)
		}
		return all
	case *openapi3filter.RequestError:
		return ofRequest(e)
	case *openapi3.SchemaError:
		return ofSchema(e)
	}
	if inner := errors.Unwrap(err); inner != nil {
		return collect(inner)
	}
	return []fault.Violation{{Code: "invalid", Message: "does not match the contract"}}
}

func ofRequest(e *openapi3filter.RequestError) []fault.Violation {
	if e.Parameter == nil {
		if errors.Is(e.Err, openapi3filter.ErrInvalidRequired) {
			return []fault.Violation{{Code: "required", Message: "a JSON body is required"}}
		}
		return collect(e.Err)
	}
	name := e.Parameter.Name
	switch {
	case errors.Is(e.Err, openapi3filter.ErrInvalidRequired):
		return []fault.Violation{{Path: name, Code: "required", Message: "is required"}}
	case errors.Is(e.Err, openapi3filter.ErrInvalidEmptyValue):
		return []fault.Violation{{Path: name, Code: "empty", Message: "must not be empty"}}
	case isSchemaError(e.Err):
		list := collect(e.Err)
		for i := range list {
			list[i].Path = name
		}
		return list
	}
	return []fault.Violation{{Path: name, Code: "type", Message: typeMessage(e.Parameter.Schema.Value)}}
}

func isSchemaError(err error) bool {
	var schema *openapi3.SchemaError
	return errors.As(err, &schema)
}

// ofSchema descends to the innermost causes: those say what is wrong, the
// others only group them.
func ofSchema(e *openapi3.SchemaError) []fault.Violation {
	if e.Origin != nil && isSchemaError(e.Origin) {
		return collect(e.Origin)
	}
	tokens := e.JSONPointer()
	switch e.SchemaField {
	case "properties", "additionalProperties":
		return unknownFields(e, tokens)
	case "required":
		return missingFields(e, tokens)
	}
	code, message := explain(e)
	return []fault.Violation{{Path: place(tokens), Code: code, Message: message}}
}

func unknownFields(e *openapi3.SchemaError, tokens []string) []fault.Violation {
	object, _ := e.Value.(map[string]any)
	if e.Schema == nil {
		return nil
	}
	known := slices.Collect(maps.Keys(e.Schema.Properties))
	var list []fault.Violation
	for name := range object {
		if e.Schema.Properties[name] == nil {
			list = append(list, misnamed(place(tokens), name, known, string(fault.UnknownField), "unknown field"))
		}
	}
	return list
}

// missingFields reads both shapes of the error: at the object, for all that it
// lacks, and at the one field.
func missingFields(e *openapi3.SchemaError, tokens []string) []fault.Violation {
	object, isObject := e.Value.(map[string]any)
	if e.Schema == nil || !isObject {
		return []fault.Violation{{Path: place(tokens), Code: "required", Message: "is required"}}
	}
	if last := len(tokens) - 1; last >= 0 && slices.Contains(e.Schema.Required, tokens[last]) {
		tokens = tokens[:last]
	}
	var list []fault.Violation
	for _, name := range e.Schema.Required {
		if _, given := object[name]; !given {
			list = append(list, fault.Violation{Path: join(place(tokens), name), Code: "required", Message: "is required"})
		}
	}
	return list
}

// explain words a failure from the schema's side of it.
func explain(e *openapi3.SchemaError) (code, message string) {
	s := e.Schema
	if s == nil {
		s = openapi3.NewSchema()
	}
	switch e.SchemaField {
	case "type", "nullable":
		return "type", typeMessage(s)
	case "enum":
		return "enum", "must be one of " + words(s.Enum)
	case "minLength":
		if s.MinLength == 1 {
			return "min_length", "must not be empty"
		}
		return "min_length", fmt.Sprintf("must have at least %d characters", s.MinLength)
	case "maxLength":
		return "max_length", atMost(s.MaxLength, "characters")
	case "minItems":
		return "min_items", fmt.Sprintf("must have at least %d items", s.MinItems)
	case "maxItems":
		return "max_items", atMost(s.MaxItems, "items")
	case "minProperties":
		return "min_properties", "must name at least one field"
	case "minimum":
		return "minimum", "must be at least " + number(s.Min)
	case "maximum":
		return "maximum", "must be at most " + number(s.Max)
	case "format":
		if s.Format == "date-time" {
			return "format", "must be a time such as 2030-01-31T12:00:00Z"
		}
		return "format", "must fit in the format " + s.Format
	case "pattern":
		if hint, ok := s.Extensions["x-hint"].(string); ok {
			return "pattern", hint
		}
		return "pattern", "has the wrong form"
	}
	return "invalid", "does not match the contract"
}

func typeMessage(s *openapi3.Schema) string {
	if s == nil || s.Type == nil {
		return "has the wrong type"
	}
	message := "must be " + article(strings.Join(s.Type.Slice(), " or "))
	if s.Type.Is(openapi3.TypeArray) {
		message += ", [] for none"
	}
	return message
}

func number(limit *float64) string { return strconv.FormatFloat(value(limit), 'f', -1, 64) }

func atMost(limit *uint64, what string) string {
	return fmt.Sprintf("must have at most %d %s", value(limit), what)
}

func words(list []any) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = fmt.Sprint(w)
	}
	return strings.Join(texts, ", ")
}

// place writes a location, of names of the contract, as "models[0].name".
func place(tokens []string) string {
	var path string
	for _, token := range tokens {
		if strings.Trim(token, "0123456789") == "" {
			path += "[" + token + "]"
			continue
		}
		path = join(path, token)
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
