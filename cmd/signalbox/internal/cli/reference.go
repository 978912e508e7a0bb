package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const preface = `# The command line

Generated from the commands themselves; do not edit.

Credentials come from the environment, from a file that a variable names, or from the ` + "`dev.json`" + ` of ` + "`signalbox dev`" + `;
never from an argument, which other users of the machine could read.

## Exit codes

| code | meaning |
|---|---|
`

// WriteReference writes the reference page of root and everything below it.
func WriteReference(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	b.WriteString(preface)
	for _, c := range ExitCodes() {
		fmt.Fprintf(&b, "| %d | %s |\n", c.Code, c.Meaning)
	}
	describe(&b, root)
	_, err := io.WriteString(w, b.String())
	return err
}

func describe(b *strings.Builder, c *cobra.Command) {
	if c.Hidden || c.Name() == "help" {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n%s.\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."))
	if c.Long != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", c.Long)
	}
	if c.Runnable() {
		fmt.Fprintf(b, "\n    %s\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\nFor example:\n\n```\n%s\n```\n", c.Example)
	}
	if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\n```\n%s```\n", flags.FlagUsages())
	}
	for _, child := range c.Commands() {
		describe(b, child)
	}
}
