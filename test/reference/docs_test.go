package reference_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	inlineCode   = regexp.MustCompile("`([^`\n]+)`")
	docVariable  = regexp.MustCompile(`\bSIGNALBOX_[A-Z][A-Z_]*[A-Z]\b`)
	docTarget    = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z0-9-]*)\\b")
	repoPath     = regexp.MustCompile(`^(\.?[a-z][A-Za-z0-9_.-]*/)+[A-Za-z0-9_.-]*$`)
	makeTarget   = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	placeholders = regexp.MustCompile(`…|<|\*`)
)

// pages are what people read: README, AGENTS.md and everything under docs.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	add := func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		found[path] = string(text)
	}
	add("README.md")
	add("AGENTS.md")
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err == nil {
			add(relative)
		}
		return err
	}))
	return found
}

// Files and folders that pages name in code, and that begin with a folder of
// the repository, are there.
func TestDocsNameFilesThatExist(t *testing.T) {
	for page, text := range pages(t) {
		for _, m := range inlineCode.FindAllStringSubmatch(text, -1) {
			name := m[1]
			top, _, _ := strings.Cut(name, "/")
			if !repoPath.MatchString(name) || placeholders.MatchString(name) || strings.HasPrefix(name, "bin/") {
				continue
			}
			if info, err := os.Stat(filepath.Join(root, top)); err != nil || !info.IsDir() {
				continue // not of the repository, such as a media type
			}
			_, err := os.Stat(filepath.Join(root, name))
			require.NoError(t, err, "%s names %s", page, name)
		}
	}
}

// Variables that pages name are settings, or what the command line reads.
func TestDocsNameVariablesThatExist(t *testing.T) {
	known := map[string]bool{
		"SIGNALBOX_CONTROL_URL": true, "SIGNALBOX_GATEWAY_URL": true,
		"SIGNALBOX_PG_BIN": true, // of signalbox dev and the tests
		// Those of the NATS server's own configuration in the deployment guide.
		"SIGNALBOX_NATS_CONTROLPLANE": true, "SIGNALBOX_NATS_GATEWAY": true,
	}
	for _, credential := range []string{"SIGNALBOX_MANAGEMENT_KEY", "SIGNALBOX_API_KEY"} {
		known[credential], known[credential+"_FILE"] = true, true
	}
	control, gateway := processes(t)
	for _, s := range append(control.Settings, gateway.Settings...) {
		known[s.Variable] = true
		if s.Secret {
			known[s.Variable+"_FILE"] = true
		}
	}
	for page, text := range pages(t) {
		for _, name := range docVariable.FindAllString(text, -1) {
			assert.True(t, known[name], "%s names %s", page, name)
		}
	}
}

func TestDocsNameTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	known := make(map[string]bool)
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		known[m[1]] = true
	}
	for page, text := range pages(t) {
		for _, m := range docTarget.FindAllStringSubmatch(text, -1) {
			assert.True(t, known[m[1]], "%s names make %s", page, m[1])
		}
	}
}

// Both APIs take JSON by its name alone: a curl line that sends a body says that
// it is JSON, so that it works as it stands.
func TestDocsSendJSONByItsName(t *testing.T) {
	for page, text := range pages(t) {
		joined := strings.ReplaceAll(text, "\\\n", " ")
		for line := range strings.Lines(joined) {
			if !strings.HasPrefix(line, "curl ") || !strings.Contains(line, " -d ") || strings.HasPrefix(line, "curl …") {
				continue
			}
			require.Contains(t, line, "Content-Type: application/json", page)
		}
	}
}
