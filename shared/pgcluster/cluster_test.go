package pgcluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(envLauncher); ok {
		launchAndWait(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Stop() })
	return c
}

// homeDir is a directory for a cluster that whoever Postgres runs as can reach.
func homeDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("/tmp", "sbpg-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(parent, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	return filepath.Join(parent, "pg")
}

func query(t *testing.T, c *Cluster, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	var text string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

const (
	createMark = "CREATE TABLE mark AS SELECT 'kept'::text AS v"
	readMark   = "SELECT v FROM mark"
)

func mark(t *testing.T, c *Cluster) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	_, err = conn.Exec(t.Context(), createMark)
	require.NoError(t, err)
}

func TestADirectoryIsUsedAgain(t *testing.T) {
	dir := homeDir(t)
	c := start(t, Options{DataDir: dir, Durable: true})
	require.Equal(t, "on", query(t, c, "SHOW fsync"))
	require.Equal(t, "on", query(t, c, "SHOW full_page_writes"))
	require.Empty(t, query(t, c, "SHOW listen_addresses"))
	mark(t, c)
	require.NoError(t, c.Stop())
	require.NoError(t, c.Stop(), "stopping again does nothing")

	c = start(t, Options{DataDir: dir, Durable: true})
	require.Equal(t, "kept", query(t, c, readMark))
}

func TestTemporaryClustersLeaveNothing(t *testing.T) {
	c := start(t, Options{})
	require.Equal(t, "off", query(t, c, "SHOW fsync"))
	dir, pid := c.Dir(), c.cmd.Process.Pid
	require.DirExists(t, dir)
	require.NoError(t, c.Stop())
	require.NoDirExists(t, dir)
	require.False(t, alive(pid))
}

func TestOneProcessAtATime(t *testing.T) {
	dir := homeDir(t)
	c := start(t, Options{DataDir: dir})
	_, err := Start(t.Context(), Options{DataDir: dir})
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, dir)
	require.Equal(t, "15", query(t, c, "SELECT '15'"), "the first one is unharmed")
}

func TestAPostmasterThatWasKilled(t *testing.T) {
	dir := homeDir(t)
	c := start(t, Options{DataDir: dir, Durable: true})
	mark(t, c)
	require.NoError(t, c.cmd.Process.Kill())
	require.Error(t, c.Stop(), "it did not stop cleanly")
	require.FileExists(t, filepath.Join(dir, "data", "postmaster.pid"))

	c = start(t, Options{DataDir: dir, Durable: true})
	require.Equal(t, "kept", query(t, c, readMark))
}

func TestAStalePidOfAnotherProgram(t *testing.T) {
	dir := homeDir(t)
	c := start(t, Options{DataDir: dir})
	mark(t, c)
	require.NoError(t, c.Stop())
	pidFile := filepath.Join(dir, "data", "postmaster.pid")
	require.NoError(t, os.WriteFile(pidFile, []byte(itoa(os.Getpid())+"\n"+dir+"/data\n"), 0o644))

	c = start(t, Options{DataDir: dir})
	require.Equal(t, "kept", query(t, c, readMark))
}

func TestAnInterruptedInitdb(t *testing.T) {
	dir := homeDir(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.new", "PG_VERSION"), []byte("15\n"), 0o644))
	start(t, Options{DataDir: dir})
	require.NoDirExists(t, filepath.Join(dir, "data.new"))
}

func TestLongPathsHaveTheirSocketElsewhere(t *testing.T) {
	dir := filepath.Join(homeDir(t), strings.Repeat("long", 30))
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	c := start(t, Options{DataDir: dir})
	require.Equal(t, "1", query(t, c, "SELECT '1'"))
	socket := c.home.socket
	require.NotContains(t, socket, dir)
	require.NoError(t, c.Stop())
	require.NoDirExists(t, socket)
}

// A directory below one that only its owner may enter, as /root is, works for
// whoever runs this; root's Postgres lives elsewhere and is found again.
func TestAPrivateParent(t *testing.T) {
	dir := homeDir(t)
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o700))
	c := start(t, Options{DataDir: dir})
	mark(t, c)
	if os.Geteuid() == 0 {
		require.True(t, strings.HasPrefix(c.Dir(), sharedHomes), c.Dir())
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(c.Dir())) })
	}
	require.NoError(t, c.Stop())
	c = start(t, Options{DataDir: dir})
	require.Equal(t, "kept", query(t, c, readMark))
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := homeDir(t)
	_, err := Start(ctx, Options{DataDir: dir})
	require.Error(t, err)
	start(t, Options{DataDir: dir})
}

func TestPostmasterEndsWithAFastShutdownWhileClientsAreConnected(t *testing.T) {
	c := start(t, Options{})
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	require.NoError(t, err)
	require.NoError(t, c.Stop())
	_, err = conn.Exec(t.Context(), "SELECT 1")
	require.Error(t, err)
	_ = conn.Close(t.Context())
}

// launcher is another process that starts a cluster and is then killed.
type launcher struct {
	process    *os.Process
	postmaster int
	guard      int
	home       string
}

func (l launcher) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, l.process.Signal(syscall.SIGKILL))
	_, err := l.process.Wait()
	require.NoError(t, err)
}

func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { return !alive(pid) || zombie(pid) }, 20*time.Second, 20*time.Millisecond)
}

func TestNothingOutlivesAKilledProcess(t *testing.T) {
	l := launch(t, "")
	require.True(t, alive(l.postmaster))
	l.kill(t)
	gone(t, l.postmaster)
	gone(t, l.guard)
	require.NoDirExists(t, l.home)
}

func TestAKilledProcessLeavesItsDataInOrder(t *testing.T) {
	dir := homeDir(t)
	l := launch(t, dir)
	l.kill(t)
	// At once: the guard may still be stopping the old postmaster.
	c := start(t, Options{DataDir: dir, Durable: true})
	require.Equal(t, "kept", query(t, c, readMark))
	gone(t, l.postmaster)
	gone(t, l.guard)
	require.Equal(t, "kept", query(t, c, readMark), "the old guard does not touch the new postmaster")
}

func TestALeftOverPostmasterIsStopped(t *testing.T) {
	dir := homeDir(t)
	l := launch(t, dir)
	require.NoError(t, syscall.Kill(l.guard, syscall.SIGKILL))
	l.kill(t)
	require.True(t, alive(l.postmaster), "nobody stopped it")
	c := start(t, Options{DataDir: dir, Durable: true})
	require.Equal(t, "kept", query(t, c, readMark))
	gone(t, l.postmaster)
}
