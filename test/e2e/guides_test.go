//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/reference"
)

const repository = "../.."

// TestGuides does word for word what guides tell their readers to, against a
// platform like that of `make dev`, and sees what they show.
func TestGuides(t *testing.T) {
	program := filepath.Join(t.TempDir(), "signalbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "./cmd/signalbox")
	build.Dir = repository
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, guide := range []string{"roll-out-a-model.md", "set-a-budget.md"} {
		t.Run(guide, func(t *testing.T) {
			p := harness.Start(t, harness.Options{Simulator: true})
			steps := stepsOf(t, filepath.Join(repository, "docs", "guides", guide))
			require.Greater(t, len(steps), 5, "commands that were found")
			shown := follow(t, reader(t, p, program), steps)
			for i, s := range steps {
				require.Regexp(t, s.shows, shown[i], "%s:%d", guide, s.line)
			}
		})
	}
}

// step is a block of commands, with the files that are written before it and
// what it shows.
type step struct {
	line     int
	commands string
	files    map[string]string
	shows    *regexp.Regexp
}

// stepsOf reads a guide: blocks of sh are commands, those of yaml are files by
// the names in their first lines, and those of text are what the commands before
// them show.
func stepsOf(t *testing.T, page string) []step {
	t.Helper()
	type block struct {
		reference.Block
		language string
	}
	var blocks []block
	for _, language := range []string{"sh", "yaml", "text"} {
		found, err := reference.Blocks(page, language)
		require.NoError(t, err)
		for _, b := range found {
			blocks = append(blocks, block{b, language})
		}
	}
	slices.SortFunc(blocks, func(a, b block) int { return a.Line - b.Line })
	var steps []step
	files := make(map[string]string)
	for _, b := range blocks {
		switch b.language {
		case "yaml":
			first, _, _ := strings.Cut(b.Text, "\n")
			name, named := strings.CutPrefix(first, "# ")
			require.True(t, named, "line %d names the file", b.Line)
			files[name] = b.Text
		case "sh":
			steps = append(steps, step{line: b.Line, commands: b.Text, files: files, shows: regexp.MustCompile("")})
			files = make(map[string]string)
		default:
			steps[len(steps)-1].shows = shows(b.Text)
		}
	}
	return steps
}

// shows is what a block of text shows. Blanks are as many as columns need. An
// ellipsis stands for anything on its line, and alone on one for any lines.
func shows(text string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`^`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "…" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		fields := strings.Fields(line)
		for i, field := range fields {
			fields[i] = strings.ReplaceAll(regexp.QuoteMeta(field), "…", `.+`)
		}
		b.WriteString(` *` + strings.Join(fields, ` +`) + ` *\n`)
	}
	return regexp.MustCompile(b.String() + `$`)
}

// reader makes a folder in which `make dev` could have been started.
func reader(t *testing.T, p *harness.Platform, program string) *exec.Cmd {
	t.Helper()
	key := p.NewKey(client.NewKey{Name: "development"})
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".signalbox"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(program, filepath.Join(dir, "bin", "signalbox")))
	access, err := json.Marshal(map[string]string{
		"gateway_url": p.Gateways[0], "control_url": p.Control, "api_key": key.Secret, "management_key": p.ManagementKey,
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".signalbox", "dev.json"), access, 0o600))
	shell := exec.CommandContext(t.Context(), "sh", "-e")
	shell.Dir = dir
	shell.Env = append(os.Environ(), "SIGNALBOX_GATEWAY_URL="+p.Gateways[0], "SIGNALBOX_API_KEY="+key.Secret)
	return shell
}

// follow runs all steps in one shell, and returns what each of them showed.
func follow(t *testing.T, shell *exec.Cmd, steps []step) []string {
	t.Helper()
	const parted = "-- the next step --\n"
	var script strings.Builder
	for i, s := range steps {
		if i > 0 {
			script.WriteString("echo '" + strings.TrimSpace(parted) + "'\n")
		}
		for name, text := range s.files {
			script.WriteString("cat >" + name + " <<'END OF FILE'\n" + text + "END OF FILE\n")
		}
		script.WriteString(s.commands)
	}
	var said, complained bytes.Buffer
	shell.Stdin, shell.Stdout, shell.Stderr = strings.NewReader(script.String()), &said, &complained
	err := shell.Run()
	// Headers end in a carriage return, which nobody sees.
	shown := strings.Split(strings.ReplaceAll(said.String(), "\r\n", "\n"), parted)
	require.NoError(t, err, "step %d: %s\n%s", len(shown), steps[len(shown)-1].commands, complained.String())
	require.Empty(t, complained.String())
	return shown
}
