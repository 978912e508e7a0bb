package claude

import (
	"bytes"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// Closed returns the schema of an answer with "additionalProperties": false in
// each object that does not say whether it may have other members: Claude
// refuses those, and other formats' schemas leave it out
// (https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs).
// All else stays as it was written.
func Closed(schema json.RawMessage) json.RawMessage {
	return closed(make([]byte, 0, len(schema)+64), schema)
}

// closed appends one schema.
func closed(dst, schema []byte) []byte {
	at, isObject, said := 0, false, false
	o := rawjson.NewObject(schema)
	for o.Next() {
		from, to := o.ValueSpan()
		value := schema[from:to]
		switch o.Name() {
		case "type":
			isObject = isObject || bytes.Contains(value, []byte(`"object"`))
		case "additionalProperties":
			said = true
		case "properties":
			isObject = true
			dst = each(append(dst, schema[at:from]...), value)
			at = to
		case "$defs", "definitions":
			dst = each(append(dst, schema[at:from]...), value)
			at = to
		case "items", "anyOf", "oneOf", "allOf", "prefixItems":
			dst = either(append(dst, schema[at:from]...), value)
			at = to
		}
	}
	rest := schema[at:]
	end := bytes.LastIndexByte(rest, '}')
	if !o.OK() || !isObject || said || end < 0 {
		return append(dst, rest...)
	}
	dst = append(dst, rest[:end]...)
	return append(append(dst, `,"additionalProperties":false`...), rest[end:]...)
}

// each appends an object whose members are schemas.
func each(dst, named []byte) []byte {
	at := 0
	o := rawjson.NewObject(named)
	for o.Next() {
		from, to := o.ValueSpan()
		dst = closed(append(dst, named[at:from]...), named[from:to])
		at = to
	}
	return append(dst, named[at:]...)
}

// either appends a schema, or an array of them.
func either(dst, v []byte) []byte {
	if !gjson.ParseBytes(v).IsArray() {
		return closed(dst, v)
	}
	at := 0
	a := rawjson.NewArray(v)
	for a.Next() {
		from, to := a.ValueSpan()
		dst = closed(append(dst, v[at:from]...), v[from:to])
		at = to
	}
	return append(dst, v[at:]...)
}
