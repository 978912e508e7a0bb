// Package pgcluster owns private Postgres clusters: it finds the machine's
// binaries, makes a data directory, starts a postmaster as an unprivileged
// user, recovers from an unclean stop, and ends what it started, also when the
// process that started it is killed. It speaks no SQL and knows nothing of
// what is stored.
//
// A cluster listens on a Unix socket in a private directory only: no port can
// be taken, no other user of the machine can connect, and no password is
// needed.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	superuser  = "signalbox"
	socketPort = 5432 // names the socket file; nothing listens on TCP
)

// Options say where a cluster lives and how safe its data must be.
type Options struct {
	// DataDir is the cluster's home, made when missing. Empty means a
	// temporary home that is removed when the cluster stops or this process
	// ends, however it ends.
	DataDir string
	// Durable keeps fsync on. Off is right for tests only.
	Durable bool
	// Log receives lifecycle lines; nil discards them.
	Log *slog.Logger
}

// Cluster is a running private Postgres.
type Cluster struct {
	home  *home
	log   *slog.Logger
	cmd   *exec.Cmd
	guard *guard
	bin   binaries

	once    sync.Once
	stopErr error
}

// Start brings a cluster up and returns once it accepts connections. The
// failures it can tell apart wrap ErrNoBinaries, ErrCorrupt, ErrInUse,
// ErrVersion, ErrPermission or ErrStart.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	began := time.Now()
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	who, err := runAs()
	if err != nil {
		return nil, err
	}
	h, err := openHome(o.DataDir, who)
	if err != nil {
		return nil, err
	}
	c := &Cluster{home: h, log: log}
	if err := c.start(ctx, o.Durable); err != nil {
		if ctx.Err() != nil { // what was under way was ended with it, and has no fault of its own to tell
			err = fmt.Errorf("the start of the private Postgres was interrupted: %w", context.Cause(ctx))
		}
		return nil, errors.Join(err, c.abandon())
	}
	log.InfoContext(ctx, "private postgres started",
		slog.String("home", h.dir), slog.String("version", c.bin.version), slog.String("user", who.name),
		slog.Bool("durable", o.Durable), slog.Duration("took", time.Since(began)))
	return c, nil
}

// URL is the connection string of the superuser for a database. The database
// "postgres" exists from the start.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.User(superuser),
		Path:   "/" + database,
		RawQuery: url.Values{
			"host":    {c.home.socket},
			"port":    {strconv.Itoa(socketPort)},
			"sslmode": {"disable"},
		}.Encode(),
	}
	return u.String()
}

// Dir is where the cluster's files are. It differs from Options.DataDir when
// the user that Postgres runs as cannot reach that directory.
func (c *Cluster) Dir() string { return c.home.dir }

// Stop disconnects every client, stops the postmaster cleanly and waits for
// its end. Further calls return the first result.
func (c *Cluster) Stop() error {
	c.once.Do(func() {
		c.stopErr = c.end()
		c.log.Info("private postgres stopped", slog.String("home", c.home.dir))
	})
	return c.stopErr
}

func (c *Cluster) start(ctx context.Context, durable bool) error {
	major, err := c.home.major()
	if err != nil {
		return err
	}
	if c.bin, err = findBinaries(ctx, major); err != nil {
		return fmt.Errorf("%w (data directory %s)", err, c.home.dir)
	}
	if err := c.home.clearLeftOver(ctx, c.log); err != nil {
		return err
	}
	if c.guard, err = startGuard(c.home); err != nil {
		return err
	}
	if major == 0 {
		if err := c.home.initialize(ctx, c.bin, durable); err != nil {
			return err
		}
	}
	return c.launch(ctx, durable)
}

// launch starts the postmaster. Orphaned backends of a killed one hold its
// shared memory for a moment, which Postgres reports instead of waiting.
func (c *Cluster) launch(ctx context.Context, durable bool) error {
	for {
		logFrom, err := c.spawn(ctx, durable)
		if err != nil {
			return err
		}
		err = c.awaitReady(ctx, logFrom)
		if !errors.Is(err, errOrphans) {
			return err
		}
		c.cmd = nil
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return fmt.Errorf("%w: processes of an earlier Postgres still hold %s: %w", ErrInUse, c.home.dir, err)
		}
	}
}

func (c *Cluster) spawn(ctx context.Context, durable bool) (logFrom int64, err error) {
	logFile, err := c.home.openLog()
	if err != nil {
		return 0, err
	}
	defer closeQuietly(logFile) // the postmaster has a copy
	if info, err := logFile.Stat(); err == nil {
		logFrom = info.Size()
	}
	// The context bounds the start, not the life of the postmaster.
	cmd := c.home.command(context.WithoutCancel(ctx), c.bin, "postgres", settings(c.home, durable)...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%w: run postgres: %w", ErrStart, err)
	}
	c.cmd = cmd
	return logFrom, c.guard.watch(cmd.Process.Pid)
}

func (c *Cluster) awaitReady(ctx context.Context, logFrom int64) error {
	pid := c.cmd.Process.Pid
	for {
		if p, ok := c.home.postmaster(); ok && p.pid == pid && p.ready {
			return nil
		}
		if reaped(pid) {
			c.cmd = nil
			return c.home.diagnose(logFrom)
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%w: not ready in time, see %s: %w", ErrStart, c.home.logPath(), err)
		}
	}
}

// end stops the postmaster, then the guard, then gives up the home.
func (c *Cluster) end() error {
	var err error
	if c.cmd != nil {
		err = stopChild(c.cmd)
	}
	if c.guard != nil {
		c.guard.dismiss()
	}
	return errors.Join(err, c.home.release())
}

func (c *Cluster) abandon() error {
	err := c.end()
	c.once.Do(func() {})
	return err
}

// stopChild asks for a fast shutdown and insists when it takes too long.
func stopChild(cmd *exec.Cmd) error {
	_ = cmd.Process.Signal(syscall.SIGINT)
	insist := time.AfterFunc(15*time.Second, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer insist.Stop()
	kill := time.AfterFunc(25*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("postgres did not stop cleanly: %w", exit)
	}
	return err
}

// reaped reports whether the child has ended, without waiting for it.
func reaped(pid int) bool {
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	return got == pid || errors.Is(err, syscall.ECHILD)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func settings(h *home, durable bool) []string {
	set := []string{
		"listen_addresses=", "unix_socket_directories=" + h.socket, "unix_socket_permissions=0700",
		"port=" + strconv.Itoa(socketPort), "max_connections=300", "shared_buffers=128MB", "jit=off",
		"timezone=UTC", "log_timezone=UTC", "logging_collector=off", "log_destination=stderr",
	}
	if !durable {
		set = append(set, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	args := []string{"-D", h.data()}
	for _, s := range set {
		args = append(args, "-c", s)
	}
	return args
}

// openLog starts a new file when the old one has grown large.
func (h *home) openLog() (*os.File, error) {
	const large = 16 << 20
	flags := os.O_APPEND
	if info, err := os.Stat(h.logPath()); err == nil && info.Size() > large {
		flags = os.O_TRUNC
	}
	f, err := os.OpenFile(h.logPath(), os.O_CREATE|os.O_WRONLY|flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return f, nil
}
