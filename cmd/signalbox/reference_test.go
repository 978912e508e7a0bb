package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the generated reference page")

func TestReferencePageIsCurrent(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, cli.WriteReference(&page, cli.New(deps(), devCommand())))
	path := filepath.Join("..", "..", "docs", "reference", "cli.md")
	if *update {
		require.NoError(t, os.WriteFile(path, page.Bytes(), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page.String(), string(have), "run the test with -update")
}

// TestNoSecretOnACommandLine holds every flag, as arguments are seen by
// everybody on the machine.
func TestNoSecretOnACommandLine(t *testing.T) {
	secret := regexp.MustCompile(`(?i)^(management-key|api-key|token|operator-token|password|secret|credential)$`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { require.NotRegexp(t, secret, f.Name, c.CommandPath()) })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { require.NotRegexp(t, secret, f.Name, c.CommandPath()) })
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(cli.New(deps(), devCommand()))
}
