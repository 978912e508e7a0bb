package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// postmaster is what postmaster.pid says. Its lines are: pid, data directory,
// start time, port, socket directory, listen address, shared memory key and
// status (PostgreSQL source, src/include/utils/pidfile.h).
type postmaster struct {
	pid   int
	ready bool
}

func (h *home) pidFile() string { return filepath.Join(h.data(), "postmaster.pid") }

func (h *home) postmaster() (postmaster, bool) {
	text, err := os.ReadFile(h.pidFile())
	if err != nil {
		return postmaster{}, false
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 {
		return postmaster{}, false
	}
	return postmaster{pid: pid, ready: len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready"}, true
}

// clearLeftOver deals with what an unclean stop left behind. The lock is held,
// so no other launcher runs this cluster: a postmaster that lives here was
// orphaned and is stopped; a pid that now belongs to another program is stale,
// and its file would keep Postgres from starting. A dead pid is left to
// Postgres, which also checks that no orphaned backend is still writing.
func (h *home) clearLeftOver(ctx context.Context, log *slog.Logger) error {
	p, ok := h.postmaster()
	if !ok || !alive(p.pid) {
		return nil
	}
	if !servesFrom(p.pid, h.data()) {
		log.WarnContext(ctx, "removing a stale postmaster.pid", slog.Int("pid", p.pid))
		if err := os.Remove(h.pidFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrPermission, err)
		}
		return nil
	}
	log.WarnContext(ctx, "stopping a left-over postmaster", slog.Int("pid", p.pid))
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := syscall.Kill(p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("%w: a Postgres (pid %d) runs in %s and cannot be stopped: %w", ErrInUse, p.pid, h.dir, err)
		}
		if err := awaitEnd(ctx, p.pid, 10*time.Second); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return fmt.Errorf("%w: a Postgres (pid %d) runs in %s and does not stop: %w", ErrInUse, p.pid, h.dir, err)
		}
	}
	return fmt.Errorf("%w: a Postgres (pid %d) runs in %s and does not stop", ErrInUse, p.pid, h.dir)
}

func awaitEnd(ctx context.Context, pid int, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for alive(pid) && !zombie(pid) {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
