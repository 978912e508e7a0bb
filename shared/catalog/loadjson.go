package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// OverlaidJSON lays a document in the form of a catalog file, written in JSON
// and without API keys, over base. The error is Problems with all that is
// wrong in the document and in the merged catalog; paths are the document's.
func OverlaidJSON(base Catalog, document []byte) (Catalog, error) {
	if len(document) > MaxFileBytes {
		return Catalog{}, Problems{{Message: "want at most 4 MiB"}}
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	root, err := jsonNode(decoder, 0)
	if err == nil {
		err = ended(decoder)
	}
	if err != nil {
		return Catalog{}, Problems{{Message: "want a JSON document, at most 64 deep"}}
	}
	l := &loader{env: func(string) (string, bool) { return "", false }}
	l.over.at = positions{}
	l.over.Keys = map[string]secret.String{}
	l.document(place{node: root})
	merged := Merge(base, l.over)
	problems := append(l.problems, l.over.locate("", merged, Check(merged))...)
	if len(problems) > 0 {
		return Catalog{}, problems
	}
	return merged, nil
}

var errJSON = errors.New("not a JSON document")

// ended refuses what follows the document: a second one would be lost without a
// word.
func ended(decoder *json.Decoder) error {
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errJSON
	}
	return nil
}

const maxJSONDepth = 64

// jsonNode reads one value as the YAML node that says the same.
func jsonNode(decoder *json.Decoder, depth int) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil || depth > maxJSONDepth {
		return nil, errors.Join(errJSON, err)
	}
	scalar := func(tag, text string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	}
	switch v := token.(type) {
	case nil:
		return scalar("!!null", "null"), nil
	case string:
		return scalar("!!str", v), nil
	case bool:
		if v {
			return scalar("!!bool", "true"), nil
		}
		return scalar("!!bool", "false"), nil
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return scalar("!!float", v.String()), nil
		}
		return scalar("!!int", v.String()), nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if token == json.Delim('{') {
		n.Kind = yaml.MappingNode
	}
	for decoder.More() {
		child, err := jsonNode(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child) // of an object: name, value, name …
	}
	if _, err := decoder.Token(); err != nil { // an end of the text here is one too early
		return nil, errors.Join(errJSON, err)
	}
	return n, nil
}
