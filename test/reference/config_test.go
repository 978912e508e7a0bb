package reference_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/test/reference"
)

func processes(t *testing.T) (control, gateway reference.Process) {
	t.Helper()
	control = reference.Process{Name: "Control plane", Command: "controlplane", Example: "controlplane.example.yaml"}
	gateway = reference.Process{Name: "Gateway", Command: "gateway", Example: "gateway.example.yaml"}
	var err error
	control.Settings, err = reference.Settings(root, controlplane.Default())
	require.NoError(t, err)
	gateway.Settings, err = reference.Settings(root, dataplane.Default())
	require.NoError(t, err)
	return control, gateway
}

func TestReferenceConfig(t *testing.T) {
	control, gateway := processes(t)
	for _, p := range []reference.Process{control, gateway} {
		require.NotEmpty(t, p.Settings)
		for _, s := range p.Settings {
			require.NotEmpty(t, s.Doc, "%s of the %s has no comment", s.Key, p.Command)
		}
		current(t, p.Example, reference.Example(p))
	}
	current(t, "config.md", reference.ConfigPage(control, gateway))
}

// The examples are read as the processes read them, and change nothing.
func TestReferenceExamplesAreTheDefaults(t *testing.T) {
	file := func(name string) string { return filepath.Join(root, "docs", "reference", name) }

	want := controlplane.Default()
	want.Database.URL = secret.NewString("postgres://localhost/x") // has no default
	control, err := config.Load(config.Options[controlplane.Config]{
		Default: controlplane.Config{}, File: file("controlplane.example.yaml"), Environ: []string{"SIGNALBOX_DATABASE_URL=postgres://localhost/x"},
	})
	require.NoError(t, err)
	sameSettings(t, want, control)

	gateway, err := config.Load(config.Options[dataplane.Config]{
		Default: dataplane.Config{}, File: file("gateway.example.yaml"), Environ: []string{},
	})
	require.NoError(t, err)
	sameSettings(t, dataplane.Default(), gateway)
}

// sameSettings takes an empty list for one that is not there.
func sameSettings(t *testing.T, want, have any) {
	t.Helper()
	settings := func(v any) map[string]any {
		list, err := reference.Settings(root, v)
		require.NoError(t, err)
		values := make(map[string]any)
		for _, s := range list {
			if v := reflect.ValueOf(s.Default); v.Kind() != reflect.Slice || v.Len() > 0 {
				values[s.Key] = s.Default
			}
		}
		return values
	}
	require.Equal(t, settings(want), settings(have))
}
