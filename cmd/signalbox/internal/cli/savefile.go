package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// saveFlag is the flag with which a command writes what update -f takes.
func saveFlag(c *cobra.Command, what string) *string {
	return c.Flags().StringP("file", "f", "", "write "+what+", as YAML that update -f takes, to this file; - writes it to standard output")
}

// save writes a configuration as YAML to a file, which it makes anew, or to
// standard output.
func (a *app) save(file string, config any) error {
	body, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if file == "-" {
		return writeYAML(a.Stdout, body)
	}
	var text bytes.Buffer
	if err := writeYAML(&text, body); err != nil {
		return err
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return misuse("the file %s cannot be written: %s", clean(file), reasonOf(err))
	}
	return nil
}
