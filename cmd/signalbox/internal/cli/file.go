package cli

import (
	"bytes"
	"errors"
	"io"

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
		return misuse("the file is neither YAML nor JSON")
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return misuse("the file has more after its first document: give each document a file and a command of its own")
	}
	return nil
}
