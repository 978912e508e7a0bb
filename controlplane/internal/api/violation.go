package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// violationsOf turns the validator's errors into violations. The validator's
// own text repeats the submitted values, so every message here is made from
// the schema and the place alone.
func violationsOf(err error) []fault.Violation {
	switch e := err.(type) {
	case nil:
		return nil
	case openapi3.MultiError:
		var all []fault.Violation
		for _, inner := range e {
			all = append(all, violationsOf(inner)...)
		}
		return all
	case *openapi3filter.RequestError:
		return ofRequest(e)
	case *openapi3.SchemaError:
		return ofSchema(e)
	}
	if inner := errors.Unwrap(err); inner != nil {
		return violationsOf(inner)
	}
	return []fault.Violation{{Code: "invalid", Message: "does not match the contract"}}
}

func ofRequest(e *openapi3filter.RequestError) []fault.Violation {
	if e.Parameter == nil {
		if errors.Is(e.Err, openapi3filter.ErrInvalidRequired) {
			return []fault.Violation{{Code: "required", Message: "a JSON body is required"}}
		}
		return violationsOf(e.Err)
	}
	name := e.Parameter.Name
	var schema *openapi3.SchemaError
	switch {
	case errors.Is(e.Err, openapi3filter.ErrInvalidRequired):
		return []fault.Violation{{Path: name, Code: "required", Message: "is required"}}
	case errors.Is(e.Err, openapi3filter.ErrInvalidEmptyValue):
		return []fault.Violation{{Path: name, Code: "empty", Message: "must not be empty"}}
	case errors.As(e.Err, &schema):
		list := violationsOf(e.Err)
		for i := range list {
			list[i].Path = name
		}
		return list
	}
	message := "cannot be read"
	if s := e.Parameter.Schema; s != nil && s.Value != nil && s.Value.Type != nil {
		message = "must be " + article(strings.Join(s.Value.Type.Slice(), " or "))
	}
	return []fault.Violation{{Path: name, Code: "type", Message: message}}
}

// ofSchema descends to the innermost causes: those say what is wrong, the
// others only group them.
func ofSchema(e *openapi3.SchemaError) []fault.Violation {
	if e.Origin != nil {
		if inner := errors.Unwrap(e.Origin); inner != nil {
			return violationsOf(inner)
		}
	}
	var cause *jsonschema.ValidationError
	if !errors.As(error(e), &cause) {
		return []fault.Violation{{Path: place(e.JSONPointer()), Code: e.SchemaField, Message: "does not match the contract"}}
	}
	path := place(cause.InstanceLocation)
	switch k := cause.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		list := make([]fault.Violation, len(k.Properties))
		for i, name := range k.Properties {
			list[i] = fault.Violation{Path: join(path, shownName(name)), Code: string(fault.UnknownField), Message: "unknown field"}
		}
		return list
	case *kind.Required:
		list := make([]fault.Violation, len(k.Missing))
		for i, name := range k.Missing {
			list[i] = fault.Violation{Path: join(path, name), Code: "required", Message: "is required"}
		}
		return list
	}
	code, message := explain(cause.ErrorKind, hint(e.Schema))
	return []fault.Violation{{Path: path, Code: code, Message: message}}
}

// explain words a failure from the schema's side of it.
func explain(k jsonschema.ErrorKind, hint string) (code, message string) {
	switch k := k.(type) {
	case *kind.Type:
		return "type", "must be " + article(strings.Join(k.Want, " or "))
	case *kind.Enum:
		words := make([]string, 0, len(k.Want))
		for _, w := range k.Want {
			words = append(words, fmt.Sprint(w))
		}
		return "enum", "must be one of " + strings.Join(words, ", ")
	case *kind.MinLength:
		if k.Want == 1 {
			return "min_length", "must not be empty"
		}
		return "min_length", fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return "max_length", fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return "min_items", fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return "max_items", fmt.Sprintf("must have at most %d items", k.Want)
	case *kind.MinProperties:
		return "min_properties", "must name at least one field"
	case *kind.Minimum:
		return "minimum", "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "maximum", "must be at most " + k.Want.RatString()
	case *kind.Format:
		if k.Want == "date-time" {
			return "format", "must be a time such as 2030-01-31T12:00:00Z"
		}
		return "format", "must be " + article(k.Want)
	case *kind.Pattern:
		if hint != "" {
			return "pattern", hint
		}
		return "pattern", "has the wrong form"
	}
	return "invalid", "does not match the contract"
}

// hint is the wording that the contract gives for a pattern.
func hint(schema *openapi3.Schema) string {
	if schema == nil {
		return ""
	}
	switch text := schema.Extensions["x-hint"].(type) {
	case string:
		return text
	case json.RawMessage:
		var s string
		if json.Unmarshal(text, &s) == nil {
			return s
		}
	}
	return ""
}

// place writes a location as "models[0].name".
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
