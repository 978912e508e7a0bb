package pgcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// sharedHomes is where clusters live whose wanted place the Postgres user
// cannot reach, such as a checkout under /root.
const sharedHomes = "/var/lib/signalbox"

// longestSocketDir leaves room for the socket's file name in the 104 bytes
// that macOS allows.
const longestSocketDir = 80

// home is the directory of one cluster: data/, postgres.log, lock, and the
// socket directory when the path is short and plain enough.
type home struct {
	dir       string
	socket    string
	who       identity
	lock      *os.File
	temporary bool
}

// openHome makes the directory when missing and locks it.
func openHome(dir string, who identity) (*home, error) {
	h := &home{who: who, temporary: dir == ""}
	var err error
	if h.temporary {
		h.dir, err = temporaryHome(who)
	} else {
		h.dir, err = settleHome(dir, who)
	}
	if err != nil {
		return nil, err
	}
	if err := h.takeLock(); err != nil {
		return nil, err
	}
	if err := h.makeSocketDir(); err != nil {
		return nil, errors.Join(err, h.release())
	}
	return h, nil
}

func temporaryHome(who identity) (string, error) {
	base := os.TempDir()
	if who.switched && !who.reaches(base) {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "signalbox-pg-")
	if err == nil {
		err = who.own(dir)
	}
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return dir, nil
}

// settleHome returns the real path of the cluster's home. When the Postgres
// user cannot reach the wanted place, dir becomes a symbolic link to a
// directory under sharedHomes, so that the next start finds the same data.
func settleHome(dir string, who identity) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // the Postgres user must pass through
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrCorrupt, dir, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory", ErrPermission, dir)
	}
	if who.switched && !who.reaches(filepath.Dir(real)) {
		if real, err = moveHome(dir); err != nil {
			return "", err
		}
	}
	if err := who.own(real); err != nil {
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return real, nil
}

// moveHome replaces an empty directory by a link. One that holds something is
// left alone.
func moveHome(dir string) (string, error) {
	if err := os.Remove(dir); err != nil {
		return "", fmt.Errorf("%w: the user that Postgres runs as cannot reach %s: choose a data directory outside of private directories such as /root",
			ErrPermission, dir)
	}
	if err := os.MkdirAll(sharedHomes, 0o755); err != nil { //nolint:gosec // the Postgres user must pass through
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	real, err := os.MkdirTemp(sharedHomes, "postgres-")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPermission, err)
	}
	if err := os.Symlink(real, dir); err != nil {
		return "", fmt.Errorf("%w: %w", ErrPermission, errors.Join(err, os.Remove(real)))
	}
	return real, nil
}

// takeLock makes sure that one process at a time runs this cluster. The
// kernel gives the lock up when the process ends, however it ends.
func (h *home) takeLock() error {
	path := filepath.Join(h.dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return fmt.Errorf("%w: another process runs the cluster in %s: stop it, or choose another data directory", ErrInUse, h.dir)
	}
	h.lock = f
	return nil
}

func (h *home) makeSocketDir() error {
	h.socket = filepath.Join(h.dir, "s")
	if len(h.socket) > longestSocketDir || !plain(h.socket) {
		// The name is derived, so that a restart uses the same directory again.
		sum := sha256.Sum256([]byte(h.dir))
		h.socket = filepath.Join("/tmp", "signalbox-pg-"+strconv.Itoa(os.Geteuid())+"-"+hex.EncodeToString(sum[:6]))
	}
	if err := os.Mkdir(h.socket, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	// In /tmp anyone could have put something here first.
	info, err := os.Lstat(h.socket)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || (int(stat.Uid) != os.Geteuid() && int(stat.Uid) != h.who.uid) {
		return fmt.Errorf("%w: %s belongs to someone else: remove it", ErrPermission, h.socket)
	}
	if err := errors.Join(os.Chmod(h.socket, 0o700), h.who.own(h.socket)); err != nil { //nolint:gosec // a directory
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return nil
}

// plain reports whether a path means the same to Postgres, whose setting is a
// list with commas and quotes, and to every driver that reads it from a URL.
func plain(path string) bool {
	return !strings.ContainsFunc(path, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("/._-", r)
	})
}

func (h *home) data() string    { return filepath.Join(h.dir, "data") }
func (h *home) logPath() string { return filepath.Join(h.dir, "postgres.log") }

// major is the version that made the data directory, or 0 when there is none.
func (h *home) major() (int, error) {
	switch info, err := os.Stat(h.data()); {
	case errors.Is(err, os.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrPermission, err)
	case !info.IsDir():
		return 0, fmt.Errorf("%w: %s is not a directory; %s", ErrCorrupt, h.data(), restoreHint)
	}
	text, err := os.ReadFile(filepath.Join(h.data(), "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("%w: %s has no PG_VERSION; %s", ErrCorrupt, h.data(), restoreHint)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPermission, err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%w: PG_VERSION in %s is not a number; %s", ErrCorrupt, h.data(), restoreHint)
	}
	if !fileExists(filepath.Join(h.data(), "global", "pg_control")) {
		return 0, fmt.Errorf("%w: %s has no global/pg_control; %s", ErrCorrupt, h.data(), restoreHint)
	}
	return major, nil
}

// initialize runs initdb aside and moves the result into place, so that an
// interrupted run leaves nothing that looks like a cluster.
func (h *home) initialize(ctx context.Context, bin binaries, durable bool) error {
	fresh := h.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	args := []string{"-D", fresh, "-U", superuser, "-E", "UTF8", "--locale=C", "--auth-local=trust", "--auth-host=reject"}
	if !durable {
		args = append(args, "--no-sync")
	}
	cmd := h.command(ctx, bin, "initdb", args...)
	endWithParent(cmd.SysProcAttr)
	// The end-of-parent signal follows the thread, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		said := lastComplaint(string(out))
		if strings.Contains(string(out), "Permission denied") {
			return fmt.Errorf("%w: initdb in %s: %s", ErrPermission, h.dir, said)
		}
		return fmt.Errorf("%w: initdb in %s: %s: %w", ErrStart, h.dir, said, err)
	}
	if err := os.Rename(fresh, h.data()); err != nil {
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return nil
}

// command runs a Postgres program as the right user, in a process group of
// its own, so that Ctrl-C reaches this process first and it can stop things
// in order.
func (h *home) command(ctx context.Context, bin binaries, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(bin.dir, name), args...) //nolint:gosec // see inspect
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: h.who.credential()}
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=" + bin.dir + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=" + h.dir}
	return cmd
}

// release gives the home up, and removes a temporary one.
func (h *home) release() error {
	var errs []error
	if h.temporary {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	if !strings.HasPrefix(h.socket, h.dir) && h.socket != "" {
		errs = append(errs, os.RemoveAll(h.socket))
	}
	errs = append(errs, h.lock.Close())
	return errors.Join(errs...)
}
