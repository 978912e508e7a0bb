package reference_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/test/reference"
)

var chartVariable = regexp.MustCompile(`\bSIGNALBOX_[A-Z_]+\b`)

// The templates name variables that their process has. Both branches of every
// condition are text, so none is missed.
func TestChartNamesSettingsThatExist(t *testing.T) {
	control, gateway := processes(t)
	for file, settings := range map[string][]reference.Setting{
		"controlplane.yaml": control.Settings, "migrate.yaml": control.Settings, "gateway.yaml": gateway.Settings,
	} {
		known := make(map[string]bool)
		for _, s := range settings {
			known[s.Variable] = !s.Secret // the chart never holds a secret's value
			known[s.Variable+"_FILE"] = known[s.Variable+"_FILE"] || s.Secret
		}
		text, err := os.ReadFile(filepath.Join(root, "charts", "signalbox", "templates", file))
		require.NoError(t, err)
		named := chartVariable.FindAllString(string(text), -1)
		require.NotEmpty(t, named, file)
		for _, name := range named {
			require.True(t, known[name], "%s: there is no setting %s", file, name)
		}
	}
}

type workload struct {
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int64 `yaml:"terminationGracePeriodSeconds"`
				Containers []container
			}
		}
	}
}

type container struct {
	Args []string
	Env  []struct{ Name, Value string }
}

// What the rendered chart sets is read as the processes read it. Rendering
// needs helm, which `make chart` builds; without it the names were still held
// above.
func TestChartSettingsAreValid(t *testing.T) {
	helm := filepath.Join(root, "bin", "helm")
	if _, err := os.Stat(helm); errors.Is(err, fs.ErrNotExist) {
		t.Log("bin/helm is not built; only the names of the variables are checked")
		return
	}
	chart := filepath.Join(root, "charts", "signalbox")
	for name, values := range map[string][]string{"defaults": nil, "full": {"-f", filepath.Join(chart, "ci", "full.yaml")}} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), helm,
				append([]string{"template", "signalbox", chart, "--kube-version", "1.31.0"}, values...)...).Output()
			require.NoError(t, err)
			seen := make(map[string]bool)
			for docs := yaml.NewDecoder(bytes.NewReader(out)); ; {
				var w workload
				err := docs.Decode(&w)
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				for _, c := range w.Spec.Template.Spec.Containers {
					seen[c.Args[0]] = true
					starts(t, c, time.Duration(w.Spec.Template.Spec.Grace)*time.Second)
				}
			}
			require.True(t, seen["controlplane"] && seen["gateway"], "%v", seen)
		})
	}
}

// starts loads a container's settings, and holds its grace period against the
// time that it takes to stop.
func starts(t *testing.T, c container, grace time.Duration) {
	t.Helper()
	environ := []string{}
	for _, e := range c.Env {
		value := strings.ReplaceAll(e.Value, "$(POD_IP)", "10.0.0.1")
		switch e.Name {
		case "SIGNALBOX_DATABASE_URL_FILE", "SIGNALBOX_OPERATOR_TOKEN_FILE": // secrets, mounted when it runs
			value = filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(value, []byte("postgres://signalbox@db/signalbox\n"), 0o600))
		}
		environ = append(environ, e.Name+"="+value)
	}
	switch c.Args[0] {
	case "controlplane", "migrate":
		cfg, err := config.Load(config.Options[controlplane.Config]{Default: controlplane.Default(), Environ: environ})
		require.NoError(t, err, c.Args[0])
		if c.Args[0] == "controlplane" {
			require.Greater(t, grace, cfg.HTTP.DrainTimeout)
		}
	case "gateway":
		cfg, err := config.Load(config.Options[dataplane.Config]{Default: dataplane.Default(), Environ: environ})
		require.NoError(t, err)
		require.Greater(t, grace, cfg.HTTP.DrainTimeout)
		require.Zero(t, cfg.NATS.Replicas, "a gateway may not keep streams with the permissions of docs/guides/deploy.md")
	default:
		t.Fatalf("a process that nobody knows: %v", c.Args)
	}
}
