package pgcluster

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// envLauncher makes the test binary start a cluster, say so and wait.
const envLauncher = "PGCLUSTER_TEST_LAUNCH"

func launch(t *testing.T, dir string) launcher {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envLauncher+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	l := launcher{process: cmd.Process}
	_, err = fmt.Sscanf(line, "%d %d %s", &l.postmaster, &l.guard, &l.home)
	require.NoError(t, err)
	return l
}

func launchAndWait(dir string) {
	ctx := context.Background()
	c, err := Start(ctx, Options{DataDir: dir, Durable: dir != ""})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err == nil {
		_, err = conn.Exec(ctx, createMark)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, c.cmd.Process.Pid, c.guard.cmd.Process.Pid, c.Dir())
	select {}
}

func itoa(n int) string { return strconv.Itoa(n) }
