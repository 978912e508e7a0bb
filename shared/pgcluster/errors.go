package pgcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// What Start can fail with. The text around them says what to do.
var (
	ErrNoBinaries = errors.New("no Postgres 15 or newer is installed")
	ErrCorrupt    = errors.New("the Postgres data directory is damaged")
	ErrInUse      = errors.New("the Postgres data directory is in use")
	ErrVersion    = errors.New("the Postgres data directory belongs to another version")
	ErrPermission = errors.New("the Postgres data directory cannot be used with the present permissions")
	ErrStart      = errors.New("private Postgres did not start")
)

// errOrphans means that the start may be tried again in a moment.
var errOrphans = errors.New("backends of an earlier postmaster are still ending")

const restoreHint = "restore it from a backup, or move it away to begin with an empty one"

// diagnose reads what the postmaster wrote before it gave up.
func (h *home) diagnose(logFrom int64) error {
	said := h.logSince(logFrom)
	last := lastComplaint(said)
	contains := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(said, s) {
				return true
			}
		}
		return false
	}
	switch {
	case contains("pre-existing shared memory block"):
		return errOrphans
	case contains("lock file \"postmaster.pid\" already exists", "is already in use"):
		return fmt.Errorf("%w: %s: %s", ErrInUse, h.dir, last)
	case contains("Permission denied", "has wrong ownership", "has invalid permissions"):
		return fmt.Errorf("%w: %s: %s", ErrPermission, h.dir, last)
	case contains("No space left on device"):
		return fmt.Errorf("%w: the disk of %s is full: %s", ErrStart, h.dir, last)
	// The major version was compared before, so an incompatible control file is a damaged one.
	case contains("incompatible with server", "control file", "checkpoint record", "pg_control", "PANIC", "No such file or directory", "is not a valid data directory",
		"invalid magic number", "invalid page", "unrecognized configuration parameter", "configuration file"):
		return fmt.Errorf("%w: %s: %s; %s", ErrCorrupt, h.dir, last, restoreHint)
	default:
		return fmt.Errorf("%w: %s (log: %s)", ErrStart, last, h.logPath())
	}
}

// closeQuietly closes what was only read, or is open elsewhere too.
func closeQuietly(c io.Closer) { _ = c.Close() }

func (h *home) logSince(from int64) string {
	f, err := os.Open(h.logPath())
	if err != nil {
		return ""
	}
	defer closeQuietly(f)
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return ""
	}
	const enough = 64 << 10
	text, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return ""
	}
	return string(text)
}

// lastComplaint is the last FATAL or PANIC line, else the last line.
func lastComplaint(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		for _, level := range []string{"FATAL:", "PANIC:"} {
			if _, text, ok := strings.Cut(lines[i], level); ok {
				return strings.TrimSpace(text)
			}
		}
	}
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "it said nothing"
}
