//go:build !linux

package process

import (
	"syscall"
	"time"
)

// CPU is the processor time that a process has used; ok is false where the
// system does not say.
func CPU(int) (used time.Duration, ok bool) { return 0, false }

// RSS is the resident memory of a process in bytes.
func RSS(int) (bytesUsed int64, ok bool) { return 0, false }

func endWithParent() *syscall.SysProcAttr { return nil }
