package pgcluster

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// guardScript waits for the end of its standard input, which comes when the
// launching process ends, also by SIGKILL; then it stops the postmaster and
// removes a temporary home. A guard is used rather than a parent-death signal
// because it works on every Unix, needs no thread kept for it, and can clean up.
//
// It is told the pid, so that it never signals the postmaster of a later
// launch of the same directory.
const guardScript = `
trap '' HUP INT TERM QUIT
pid=
while read word; do
  [ "$word" = dismissed ] && exit 0
  pid=$word
done
stop() {
  kill -"$1" "$pid" 2>/dev/null || return 0
  n=0
  while [ $n -lt 100 ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; n=$((n+1)); done
  ! kill -0 "$pid" 2>/dev/null
}
[ -n "$pid" ] && { stop "$1" || stop KILL; }
[ -n "$2" ] && { rm -rf "$2" 2>/dev/null || { sleep 1; rm -rf "$2"; }; }
exit 0
`

// guard outlives this process by a moment.
type guard struct {
	cmd   *exec.Cmd
	pipe  *os.File
	ended bool
}

func startGuard(h *home) (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	defer closeQuietly(r)
	signal, remove := "INT", ""
	if h.temporary {
		signal, remove = "QUIT", h.dir
	}
	// No context: the guard must outlive whatever ends this process.
	cmd := exec.Command("/bin/sh", "-c", guardScript, "signalbox-pg-guard", signal, remove) //nolint:noctx // see above
	cmd.Stdin = r
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: h.who.credential()}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("%w: run the guard: %w", ErrStart, err)
	}
	return &guard{cmd: cmd, pipe: w}, nil
}

// watch names the postmaster to stop; the last one named counts.
func (g *guard) watch(pid int) error {
	if _, err := fmt.Fprintln(g.pipe, pid); err != nil {
		return fmt.Errorf("%w: the guard has ended: %w", ErrStart, err)
	}
	return nil
}

// dismiss ends the guard without its doing anything.
func (g *guard) dismiss() {
	if g.ended {
		return
	}
	g.ended = true
	_, _ = io.WriteString(g.pipe, "dismissed\n")
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
}
