package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/pgcluster"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

type shape struct {
	Listen   string            `mapstructure:"listen"`
	Verbose  bool              `mapstructure:"verbose"`
	Workers  int               `mapstructure:"workers"`
	Timeout  time.Duration     `mapstructure:"timeout"`
	Origins  []string          `mapstructure:"origins"`
	Labels   map[string]string `mapstructure:"labels"`
	Peers    []peer            `mapstructure:"peers"`
	Database database          `mapstructure:"database"`
	Squashed `mapstructure:",squash"`
	internal string
}

type database struct {
	URL     secret.String `mapstructure:"url"`
	Pool    int           `mapstructure:"pool"`
	Timeout time.Duration `mapstructure:"timeout"`
}

type peer struct {
	Name string `mapstructure:"name"`
}

type Squashed struct {
	Region string `mapstructure:"region"`
}

func (s shape) Validate() error {
	var errs []error
	if s.Workers < 0 {
		errs = append(errs, errors.New("workers: want zero or more"))
	}
	if s.Database.Pool < 1 {
		errs = append(errs, errors.New("database.pool: want at least 1"))
	}
	return errors.Join(errs...)
}

func defaults() shape {
	return shape{
		Listen: ":8080", Verbose: true, Workers: 4, Timeout: 5 * time.Second, Origins: []string{"a", "b", "c"},
		Labels:   map[string]string{"default": "1"},
		Database: database{URL: secret.NewString("default"), Pool: 10, Timeout: time.Second}, Squashed: Squashed{Region: "eu"}, internal: "x",
	}
}

func load(t *testing.T, yaml string, env ...string) (shape, error) {
	t.Helper()
	o := config.Options[shape]{Default: defaults(), Environ: append([]string{"PATH=/bin", "OTHER_X=1"}, env...)}
	if yaml != "" {
		o.File = filepath.Join(t.TempDir(), "c.yaml")
		require.NoError(t, os.WriteFile(o.File, []byte(yaml), 0o600))
	}
	return config.Load(o)
}

func TestDefaultsStand(t *testing.T) {
	got, err := load(t, "")
	require.NoError(t, err)
	require.Equal(t, defaults(), got)
}

func TestFileOverDefaultsAndEnvironmentOverFile(t *testing.T) {
	got, err := load(t, `
listen: ":1"
verbose: false
workers: 7
timeout: 1m
origins: [x]
labels: {team: core}
peers: [{name: p}]
region: us
database: {pool: 3}
`, "SIGNALBOX_WORKERS=9", "SIGNALBOX_DATABASE_TIMEOUT=250ms", "SIGNALBOX_DATABASE_URL=postgres://x", pgcluster.EnvBinaries+"=/x", config.EnvAPIKey+"_FILE=/no/such")
	require.NoError(t, err)
	want := shape{
		Listen: ":1", Workers: 9, Timeout: time.Minute, Origins: []string{"x"}, Labels: map[string]string{"team": "core"},
		Peers:    []peer{{Name: "p"}},
		Database: database{URL: secret.NewString("postgres://x"), Pool: 3, Timeout: 250 * time.Millisecond},
		Squashed: Squashed{Region: "us"}, internal: "x",
	}
	require.Equal(t, want, got)
}

func TestEnvironmentForms(t *testing.T) {
	got, err := load(t, "", "SIGNALBOX_ORIGINS=p, q", "SIGNALBOX_VERBOSE=false", "SIGNALBOX_REGION=", "SIGNALBOX_LISTEN=:2=3")
	require.NoError(t, err)
	require.Equal(t, []string{"p", "q"}, got.Origins)
	require.False(t, got.Verbose)
	require.Empty(t, got.Region, "an empty variable is a value")
	require.Equal(t, ":2=3", got.Listen)

	got, err = load(t, "", "SIGNALBOX_ORIGINS=")
	require.NoError(t, err)
	require.Empty(t, got.Origins)
}

func TestSecretsComeFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(path, []byte("postgres://s\n"), 0o600))
	got, err := load(t, "", "SIGNALBOX_DATABASE_URL_FILE="+path)
	require.NoError(t, err)
	require.Equal(t, "postgres://s", got.Database.URL.Reveal())

	_, err = load(t, "", "SIGNALBOX_DATABASE_URL_FILE="+path, "SIGNALBOX_DATABASE_URL=x")
	require.ErrorContains(t, err, "give either SIGNALBOX_DATABASE_URL or SIGNALBOX_DATABASE_URL_FILE")
	_, err = load(t, "", "SIGNALBOX_DATABASE_URL_FILE=/no/such/canary")
	require.ErrorContains(t, err, "SIGNALBOX_DATABASE_URL_FILE: the file that it names cannot be read")
	_, err = load(t, "", "SIGNALBOX_LISTEN_FILE="+path)
	require.ErrorContains(t, err, "SIGNALBOX_LISTEN_FILE: there is no such setting", "only secrets come from files")
}

// One error tells everything that is wrong, by name, and repeats no value.
func TestErrorsListEveryProblemAndNoValue(t *testing.T) {
	_, err := load(t, `
listen: ":1"
workers: canary-a
tiemout: canary-b
database: {url: canary-c, poool: canary-d}
peers: [{name: a, naam: canary-i}]
labels: {fine: "1"}
`, "SIGNALBOX_TIMEOUT=canary-e", "SIGNALBOX_VERBOSE=canary-f", "SIGNALBOX_DATABSE_URL=canary-g", "SIGNALBOX_DATABASE_POOL=canary-h")
	require.Error(t, err)
	for _, want := range []string{
		"workers (SIGNALBOX_WORKERS): want a whole number", "tiemout: there is no such setting",
		"database.poool: there is no such setting", "peers (SIGNALBOX_PEERS): want a list", "database.url: a secret comes from SIGNALBOX_DATABASE_URL",
		"timeout (SIGNALBOX_TIMEOUT): want a duration", "verbose (SIGNALBOX_VERBOSE): want true or false",
		"SIGNALBOX_DATABSE_URL: there is no such setting", "database.pool (SIGNALBOX_DATABASE_POOL): want a whole number",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "canary")
}

func TestValidateRunsLast(t *testing.T) {
	_, err := load(t, "workers: -1", "SIGNALBOX_DATABASE_POOL=0")
	require.ErrorContains(t, err, "workers: want zero or more")
	require.ErrorContains(t, err, "database.pool: want at least 1 (SIGNALBOX_DATABASE_POOL)", "who sets variables knows no keys")
}

func TestBrokenFiles(t *testing.T) {
	_, err := load(t, "listen: [canary\nx: :")
	require.ErrorContains(t, err, "is not valid YAML: line")
	require.NotContains(t, err.Error(), "canary")
	_, err = load(t, "listen: a\nlisten: b")
	require.ErrorContains(t, err, "is not valid YAML", "a key given twice")
	_, err = config.Load(config.Options[shape]{Default: defaults(), File: "/no/such/file.yaml", Environ: []string{}})
	require.ErrorContains(t, err, "does not exist")
}

// Kubernetes adds variables for every service, which must not stop a pod whose
// service begins with our prefix.
func TestServiceLinksAreIgnoredInKubernetes(t *testing.T) {
	links := []string{
		"SIGNALBOX_GATEWAY_SERVICE_HOST=10.0.0.1", "SIGNALBOX_GATEWAY_SERVICE_PORT=80", "SIGNALBOX_GATEWAY_SERVICE_PORT_HTTP=80",
		"SIGNALBOX_GATEWAY_PORT=tcp://10.0.0.1:80", "SIGNALBOX_GATEWAY_PORT_80_TCP_ADDR=10.0.0.1",
	}
	_, err := load(t, "", links...)
	require.Error(t, err)
	_, err = load(t, "", append(links, "KUBERNETES_SERVICE_HOST=10.0.0.9")...)
	require.NoError(t, err)
}

func TestAmbiguousShapesAreRefused(t *testing.T) {
	type ambiguous struct {
		A   string `mapstructure:"nats_url"`
		Sub struct {
			URL string `mapstructure:"url"`
		} `mapstructure:"nats"`
	}
	_, err := config.Load(config.Options[ambiguous]{Environ: []string{}})
	require.ErrorContains(t, err, "share the variable SIGNALBOX_NATS_URL")
	_, err = config.Load(config.Options[string]{Environ: []string{}})
	require.ErrorContains(t, err, "must be a struct")
}
