//go:build !linux

package pgcluster

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// endWithParent does nothing: only Linux has a parent-death signal.
func endWithParent(*syscall.SysProcAttr) {}

// servesFrom reports whether the process is a Postgres of the data directory:
// a postmaster shows its arguments.
func servesFrom(pid int, data string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx,gosec // a local look-up
	return err == nil && strings.Contains(string(out), "postgres") && strings.Contains(string(out), data)
}

func zombie(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx,gosec // a local look-up
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
