package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeOne reads a file of one YAML document, or of JSON, which is YAML; an
// empty one leaves v as it is. A second document is refused: what it says would
// be lost without a word.
func decodeOne(text []byte, v any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	switch err := decoder.Decode(v); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return misuse("the file is neither YAML nor JSON: %s", clean(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return misuse("the file has more after its first document: give each document a file and a command of its own")
	}
	return nil
}

// ofFile names the file in what is wrong with it.
func ofFile(file string, err error) error {
	if wrong, ok := errors.AsType[usageError](err); ok && file != "-" {
		return usageError{fmt.Errorf("%s: %w", clean(file), wrong.cause)}
	}
	return err
}

// misspelled is the first name in a document that no field of t has, letter for
// letter; "" for none. encoding/json ignores the case of letters, so that of
// allow and Allow one would be lost without a word.
func misspelled(document any, t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Map { // a nullable field is a map
		t = t.Elem()
	}
	switch node := document.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return ""
		}
		for _, item := range node {
			if name := misspelled(item, t.Elem()); name != "" {
				return name
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return ""
		}
		for _, name := range slices.Sorted(maps.Keys(node)) {
			field, ok := t.FieldByNameFunc(func(f string) bool { return jsonName(t, f) == name })
			if !ok {
				return name
			}
			if inner := misspelled(node[name], field.Type); inner != "" {
				return name + "." + inner
			}
		}
	}
	return ""
}

func jsonName(t reflect.Type, field string) string {
	f, _ := t.FieldByName(field)
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// datesAsWritten makes texts of what YAML takes for points in time, which would
// be written in another form than they have.
func datesAsWritten(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, inner := range n.Content {
		datesAsWritten(inner)
	}
}
