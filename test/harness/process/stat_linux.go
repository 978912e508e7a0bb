package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// clockTick is the unit of /proc/PID/stat: USER_HZ, which is 100 on every
// architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// CPU is the processor time that a process has used; ok is false where the
// system does not say.
func CPU(pid int) (used time.Duration, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name in parentheses may hold spaces; the fields after it do not.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	const user, system = 11, 12 // proc(5): utime and stime, counted after the name
	if len(fields) <= system {
		return 0, false
	}
	u, err := strconv.ParseInt(string(fields[user]), 10, 64)
	if err != nil {
		return 0, false
	}
	s, err := strconv.ParseInt(string(fields[system]), 10, 64)
	if err != nil {
		return 0, false
	}
	return time.Duration(u+s) * clockTick, true
}

// RSS is the resident memory of a process in bytes.
func RSS(pid int) (bytesUsed int64, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// endWithParent lets no program outlive the tests.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
