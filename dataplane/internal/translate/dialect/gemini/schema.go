package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// jsonSchema turns a schema of the OpenAPI 3.0 subset that Google has
// (https://ai.google.dev/api/caching#Schema) into a JSON schema. Members keep
// their order and values their spelling; what differs:
//
//	"type": "STRING"               "type": "string"
//	"nullable": true               "type": ["string", "null"], null in "enum" and "anyOf"
//	"format": "enum"               left out: "enum" says it
//	"minItems": "1"                "minItems": 1, since JSON has int64 in quotes there
//	"example": x                   "examples": [x]
//	"propertyOrdering"             left out: properties keep the order they have
//	"defs", "ref"                  "$defs", "$ref", as Vertex spells them
//	"any_of"                       "anyOf", and all other names with underscores
func jsonSchema(v []byte) json.RawMessage {
	b := make(jsonappend.Buffer, 0, len(v)+16)
	appendSchema(&b, v)
	return json.RawMessage(b)
}

// The members of a schema by what they hold.
var (
	schemaOne   = []string{"items", "additionalProperties", "not"}
	schemaMany  = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	schemaNamed = []string{"properties", "patternProperties", "$defs", "defs"}
	schemaCount = []string{"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
	schemaPlain = []string{"type", "format", "enum", "nullable", "example", "propertyOrdering", "ref"}
)

// schemaName is a member's name as JSON schema has it.
func schemaName(o *rawjson.Object) string {
	for _, names := range [][]string{schemaOne, schemaMany, schemaNamed, schemaCount, schemaPlain} {
		for _, name := range names {
			if is(o, name) {
				return name
			}
		}
	}
	return ""
}

func appendSchema(b *jsonappend.Buffer, v []byte) {
	if len(v) == 0 || v[0] != '{' {
		*b = append(*b, v...)
		return
	}
	nullable, typed := false, false
	for o := rawjson.NewObject(v); o.Next(); {
		nullable = nullable || is(&o, "nullable") && string(o.Value()) == "true"
		typed = typed || o.Is("type")
	}
	b.Open('{')
	for o := rawjson.NewObject(v); o.Next(); {
		appendKeyword(b, &o, nullable, typed)
	}
	b.Close('}')
}

func appendKeyword(b *jsonappend.Buffer, o *rawjson.Object, nullable, typed bool) {
	name, value := schemaName(o), o.Value()
	switch name {
	case "nullable", "propertyOrdering":
	case "type":
		appendType(b, value, nullable)
	case "format":
		if string(value) != `"enum"` {
			b.Raw(name, value)
		}
	case "enum":
		b.Name(name)
		appendList(b, value, appendRaw, nullable, "null")
	case "example":
		b.Name("examples")
		*b = append(append(append(*b, '['), value...), ']')
	case "ref":
		b.Name("$ref")
		*b = append(*b, bytes.Replace(value, []byte(`"#/defs/`), []byte(`"#/$defs/`), 1)...)
	case "items", "additionalProperties", "not":
		b.Name(name)
		appendSchema(b, value)
	case "anyOf":
		b.Name(name)
		appendList(b, value, appendSchema, nullable && !typed, `{"type":"null"}`)
	case "oneOf", "allOf", "prefixItems":
		b.Name(name)
		appendList(b, value, appendSchema, false, "")
	case "properties", "patternProperties", "$defs":
		b.Name(name)
		appendNamed(b, value)
	case "defs":
		b.Name("$defs")
		appendNamed(b, value)
	case "":
		b.Next()
		*b = append(append(append(*b, '"'), o.Key()...), `":`...)
		*b = append(*b, value...)
	default: // a count
		if text, ok := rawjson.Text(value); ok && isValue([]byte(text)) {
			value = []byte(text)
		}
		b.Raw(name, value)
	}
}

// appendType writes the type, and null beside it.
func appendType(b *jsonappend.Buffer, value []byte, nullable bool) {
	text, ok := rawjson.Text(value)
	switch {
	case !ok:
		b.Raw("type", value)
	case text == "TYPE_UNSPECIFIED":
	case nullable && !strings.EqualFold(text, "null"):
		b.Strings("type", []string{strings.ToLower(text), "null"})
	default:
		b.String("type", strings.ToLower(text))
	}
}

func appendRaw(b *jsonappend.Buffer, v []byte) { *b = append(*b, v...) }

// appendList writes an array with each element written by one, and more at its
// end when that is not in it yet.
func appendList(b *jsonappend.Buffer, v []byte, one func(*jsonappend.Buffer, []byte), add bool, more string) {
	if len(v) == 0 || v[0] != '[' {
		*b = append(*b, v...)
		return
	}
	list := rawjson.NewArray(v)
	b.Open('[')
	for list.Next() {
		add = add && string(list.Value()) != more
		b.Next()
		one(b, list.Value())
	}
	if add {
		b.Next()
		*b = append(*b, more...)
	}
	b.Close(']')
}

// appendNamed writes schemas by name; the names are the caller's.
func appendNamed(b *jsonappend.Buffer, v []byte) {
	if len(v) == 0 || v[0] != '{' {
		*b = append(*b, v...)
		return
	}
	b.Open('{')
	for o := rawjson.NewObject(v); o.Next(); {
		b.Next()
		*b = append(append(append(*b, '"'), o.Key()...), `":`...)
		appendSchema(b, o.Value())
	}
	b.Close('}')
}
