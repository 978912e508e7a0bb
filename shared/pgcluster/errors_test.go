package pgcluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDamagedDirectories(t *testing.T) {
	dir := homeDir(t)
	c := start(t, Options{DataDir: dir})
	require.NoError(t, c.Stop())
	data := filepath.Join(dir, "data")
	version, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	require.NoError(t, err)
	control := filepath.Join(data, "global", "pg_control")
	intact, err := os.ReadFile(control)
	require.NoError(t, err)

	// In this order: the last ones cannot be undone.
	for _, c := range []struct {
		name   string
		damage func() error
		want   error
		says   string
	}{
		{"another version", func() error { return os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("14\n"), 0o600) }, ErrVersion, "made by Postgres 14"},
		{"version is no number", func() error { return os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("x"), 0o600) }, ErrCorrupt, "PG_VERSION"},
		{"no version", func() error { return os.Remove(filepath.Join(data, "PG_VERSION")) }, ErrCorrupt, "no PG_VERSION"},
		{"control file overwritten", func() error {
			if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), version, 0o644); err != nil {
				return err
			}
			return overwrite(control, make([]byte, len(intact)))
		}, ErrCorrupt, "move it away"},
		{"no control file", func() error { return os.Remove(control) }, ErrCorrupt, "pg_control"},
		{"not a directory", func() error {
			if err := os.RemoveAll(data); err != nil {
				return err
			}
			return os.WriteFile(data, []byte("x"), 0o600)
		}, ErrCorrupt, "is not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, c.damage())
			_, err := Start(t.Context(), Options{DataDir: dir})
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, dir)
		})
	}
}

// overwrite keeps the owner, whom Postgres checks.
func overwrite(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	if _, err := f.Write(body); err != nil {
		return err
	}
	return f.Close()
}

func TestMissingWriteAheadLog(t *testing.T) {
	dir := homeDir(t)
	c := start(t, Options{DataDir: dir})
	require.NoError(t, c.Stop())
	segments, err := filepath.Glob(filepath.Join(dir, "data", "pg_wal", "0*"))
	require.NoError(t, err)
	for _, s := range segments {
		require.NoError(t, os.Remove(s))
	}
	_, err = Start(t.Context(), Options{DataDir: dir})
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "checkpoint")
}

func TestUnusablePlaces(t *testing.T) {
	file := filepath.Join(filepath.Dir(homeDir(t)), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := Start(t.Context(), Options{DataDir: dir})
		require.ErrorIs(t, err, ErrPermission)
		require.ErrorContains(t, err, file)
	}
}

func TestMissingBinaries(t *testing.T) {
	t.Setenv(EnvBinaries, t.TempDir())
	_, err := Start(t.Context(), Options{})
	require.ErrorIs(t, err, ErrNoBinaries)
	require.ErrorContains(t, err, EnvBinaries)

	old := t.TempDir()
	for _, name := range []string{"initdb", "postgres"} {
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) 14.9'\n"
		require.NoError(t, os.WriteFile(filepath.Join(old, name), []byte(script), 0o755))
	}
	t.Setenv(EnvBinaries, old)
	_, err = Start(t.Context(), Options{})
	require.ErrorIs(t, err, ErrNoBinaries)
	require.ErrorContains(t, err, "14.9")
}

func TestInstallLines(t *testing.T) {
	for exists, want := range map[string]string{
		"/usr/bin/apt-get": "apt-get install -y postgresql", "/usr/bin/dnf": "dnf install -y postgresql-server",
		"/sbin/apk": "apk add postgresql", "/usr/bin/pacman": "pacman -S postgresql", "": `the package "postgresql"`,
	} {
		require.Contains(t, installLine("linux", func(path string) bool { return path == exists }), want)
	}
	require.Contains(t, installLine("darwin", func(string) bool { return true }), "brew install postgresql@17")
}

func TestDiagnose(t *testing.T) {
	for said, want := range map[string]error{
		"FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use":  errOrphans,
		`FATAL:  lock file "postmaster.pid" already exists`:                       ErrInUse,
		"FATAL:  could not open file: Permission denied":                          ErrPermission,
		"FATAL:  could not write lock file: No space left on device":              ErrStart,
		"FATAL:  database files are incompatible with server":                     ErrCorrupt,
		"PANIC:  could not locate a valid checkpoint record":                      ErrCorrupt,
		"LOG:  x\nFATAL:  configuration file \"postgresql.conf\" contains errors": ErrCorrupt,
		"something new": ErrStart,
		"":              ErrStart,
	} {
		h := &home{dir: t.TempDir()}
		require.NoError(t, os.WriteFile(h.logPath(), []byte("earlier\n"+said), 0o600))
		require.ErrorIs(t, h.diagnose(int64(len("earlier\n"))), want, said)
	}
}

func TestReach(t *testing.T) {
	who := identity{uid: 7, gid: 8, switched: true}
	for _, c := range []struct {
		mode     os.FileMode
		uid, gid int
		want     bool
	}{
		{0o700, 7, 0, true}, {0o700, 0, 0, false}, {0o755, 0, 0, true}, {0o710, 0, 8, true}, {0o701, 0, 8, false}, {0o071, 7, 8, false},
	} {
		require.Equal(t, c.want, who.passes(c.mode, c.uid, c.gid), "%o %d %d", c.mode, c.uid, c.gid)
	}
}
