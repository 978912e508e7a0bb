package turns

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// Object is a call's arguments as the object that the format wants: as they
// are, {} for none, and {"arguments":"…"} for what is no object.
func Object(arguments string) []byte {
	if isBlank(arguments) {
		return []byte("{}")
	}
	if gjson.Valid(arguments) && gjson.Parse(arguments).IsObject() {
		return []byte(arguments)
	}
	return append(jsonappend.AppendString([]byte(`{"arguments":`), arguments), '}')
}

// Schema is the schema of a tool's input as it is written, with the type that
// is demanded of it and that callers leave out when a function takes nothing.
func Schema(schema json.RawMessage) []byte {
	root := gjson.ParseBytes(schema)
	switch {
	case !root.IsObject():
		return []byte(`{"type":"object","properties":{}}`)
	case root.Get("type").Exists():
		return schema
	}
	out := []byte(`{"type":"object"`)
	if !IsEmpty(root) {
		out = append(out, ',')
	}
	return append(out, strings.TrimSpace(root.Raw)[1:]...)
}

// IsEmpty reports an object without members.
func IsEmpty(v gjson.Result) bool {
	empty := true
	v.ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
