package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

// Commands stand at the start of a line of a block, or in code in a sentence.
var (
	blockCommand  = regexp.MustCompile(`(?m)^(?:[A-Z_]+=\S+ )*(?:bin/)?signalbox ([^\n#` + "`" + `]+)`)
	inlineCommand = regexp.MustCompile("`(?:bin/)?signalbox ([^`\n]+)`")
)

// TestDocumentedCommandsExist holds the commands and flags that the pages
// write against the command line.
func TestDocumentedCommandsExist(t *testing.T) {
	root := filepath.Join("..", "..")
	paths := []string{filepath.Join(root, "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/guides/*.md", "docs/reference/*.md", "charts/signalbox/values.yaml", "charts/signalbox/templates/NOTES.txt"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	checked := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		page := strings.ReplaceAll(string(text), "\n  signalbox", "\nsignalbox")
		for _, pattern := range []*regexp.Regexp{blockCommand, inlineCommand} {
			for _, m := range pattern.FindAllStringSubmatch(page, -1) {
				checked++
				exists(t, path, strings.TrimSpace(m[1]))
			}
		}
	}
	require.Greater(t, checked, 20)
}

func exists(t *testing.T, path, line string) {
	t.Helper()
	d := deps()
	d.Stdout, d.Stderr = io.Discard, io.Discard
	root := cli.New(d, devCommand())
	command, rest, err := root.Find(strings.Fields(line))
	require.NoError(t, err, "%s: signalbox %s", path, line)
	assert.True(t, command == root || command.Runnable() || len(rest) == 0, "%s: signalbox %s", path, line)
	assert.NotSame(t, root, command, "%s: signalbox %s", path, line)
	for _, word := range rest {
		if name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") {
			assert.True(t, command.Flags().Lookup(name) != nil || command.InheritedFlags().Lookup(name) != nil || name == "help", "%s: signalbox %s", path, line)
		}
	}
}
