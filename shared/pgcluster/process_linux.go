package pgcluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endWithParent has the kernel kill the child when the thread that started it
// ends. The caller keeps that thread.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// servesFrom reports whether the process is a Postgres of the data directory:
// a postmaster's working directory is its data directory.
func servesFrom(pid int, data string) bool {
	cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	return err == nil && cwd == data
}

// zombie reports whether the process has ended and waits to be reaped.
func zombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, ok := bytes.Cut(stat, []byte(") "))
	return ok && len(rest) > 0 && rest[0] == 'Z'
}
