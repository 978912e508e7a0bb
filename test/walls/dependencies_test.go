package walls

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDependenciesAreExplained fails when a direct dependency of a module, or
// of a package.json, has no line in docs/dependencies.md.
func TestDependenciesAreExplained(t *testing.T) {
	raw, err := os.ReadFile("../../docs/dependencies.md")
	require.NoError(t, err)
	text := string(raw)

	for _, dir := range []string{"shared", "shared/testkit", "controlplane", "dataplane", "cmd/signalbox", "migrations", "test"} {
		for _, path := range directRequirements(t, filepath.Join("../..", dir)) {
			if strings.HasPrefix(path, module) || explained(text, path) {
				continue
			}
			t.Errorf("%s requires %s, which has no line in docs/dependencies.md", dir, path)
		}
	}
	for _, file := range []string{"web/package.json", "test/e2e/npm/package.json"} {
		for _, name := range npmDependencies(t, filepath.Join("../..", file)) {
			if !strings.HasPrefix(name, "@types/") && !strings.Contains(text, "`"+name+"`") {
				t.Errorf("%s requires %s, which has no line in docs/dependencies.md", file, name)
			}
		}
	}
}

// explained accepts a module's own line, or the line of the family that its
// path begins with.
func explained(text, path string) bool {
	for p := path; strings.Contains(p, "/"); p = p[:strings.LastIndex(p, "/")] {
		if strings.Contains(text, "`"+p+"`") {
			return true
		}
	}
	return false
}

func directRequirements(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	require.NoError(t, json.Unmarshal(out, &mod))
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	return direct
}

func npmDependencies(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var pkg struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
	}
	require.NoError(t, json.Unmarshal(raw, &pkg))
	var names []string
	for name := range pkg.Dependencies {
		names = append(names, name)
	}
	for name := range pkg.DevDependencies {
		names = append(names, name)
	}
	return names
}
