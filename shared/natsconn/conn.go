package natsconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options are the parts of a connection that come from code.
type Options struct {
	// InProcess connects to an embedded server without a network; Config.URL
	// is then ignored.
	InProcess nats.InProcessConnProvider
	Log       *slog.Logger
}

// ErrNotConnected is returned at once by Ready when the server is away, where
// a JetStream call would wait for its whole deadline.
var ErrNotConnected = errors.New("nats is not connected")

const (
	reconnectWait   = 200 * time.Millisecond
	reconnectJitter = 100 * time.Millisecond
	pingInterval    = 5 * time.Second
	requestTimeout  = 5 * time.Second
	drainTimeout    = 5 * time.Second
)

// answersMax is how many answers a subscription holds that are not read yet, four
// times what the server gives to one question. The client makes the room with
// each subscription, several times a second: its usual 65 536 are half a megabyte
// that is cleared each time, some 3 % of a busy gateway's CPU.
const answersMax = 4096

// Conn is a connection that outlives its servers: it is usable at once, even
// when no server answers, and reconnects for ever.
type Conn struct {
	nc *nats.Conn
	js jetstream.JetStream

	mu        sync.Mutex
	listeners map[int]*listener
	nextID    int

	closing atomic.Bool // Close was called: a lost connection is no news
	closed  chan struct{}
}

// Connect returns a connection without waiting for a server: starting while
// NATS is away is no failure. Only wrong settings are. The context is not
// kept; Close ends the connection.
func Connect(_ context.Context, cfg Config, opts Options) (*Conn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("nats settings: %w", err)
	}
	c := &Conn{listeners: make(map[int]*listener), closed: make(chan struct{})}
	nc, err := nats.Connect(cfg.URL, c.options(cfg, opts)...)
	if err != nil {
		return nil, fmt.Errorf("connect to nats: %w", err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(requestTimeout))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("open jetstream: %w", err)
	}
	c.nc, c.js = nc, js
	return c, nil
}

func (c *Conn) options(cfg Config, opts Options) []nats.Option {
	log := opts.Log
	list := []nats.Option{
		nats.Name(cfg.Name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectJitter, reconnectJitter),
		// A publish while disconnected fails instead of being sent much later:
		// callers keep what matters in a store of their own.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(2),
		nats.DrainTimeout(drainTimeout),
		nats.SyncQueueLen(answersMax),
		// A server that comes back may refuse for a moment while it loads its
		// accounts; giving up for ever would need a restart by hand.
		nats.IgnoreAuthErrorAbort(),
		nats.ConnectHandler(func(*nats.Conn) { log.Info("nats connected"); c.connected() }),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("nats reconnected"); c.connected() }),
		nats.ReconnectErrHandler(unreached(log)),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.disconnected(log, err) }),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if sub != nil {
				log.Error("nats subscription failed", slog.String("subject", sub.Subject), slog.Any("error", err))
				return
			}
			log.Error("nats failed", slog.Any("error", err))
		}),
	}
	if cfg.InboxPrefix != "" {
		list = append(list, nats.CustomInboxPrefix(cfg.InboxPrefix))
	}
	return append(list, credentials(cfg, opts)...)
}

const (
	// unreachedEvery is after how many failed attempts the reasons are said
	// again: half a minute, when servers refuse at once.
	unreachedEvery = 120
	// unreachedReasons is how many are said until then: each server of a cluster
	// may have its own.
	unreachedReasons = 8
)

// unreached says why no server is reached, a wrong password above all, without
// a line for each attempt. The client calls it from one goroutine.
func unreached(log *slog.Logger) nats.ConnErrHandler {
	said := make(map[string]bool)
	var attempts int
	return func(_ *nats.Conn, err error) {
		if attempts%unreachedEvery == 0 {
			clear(said)
		}
		attempts++
		if text := err.Error(); !said[text] && len(said) < unreachedReasons {
			said[text] = true
			log.Warn("nats is not reached", slog.Any("error", err))
		}
	}
}

func credentials(cfg Config, opts Options) []nats.Option {
	var list []nats.Option
	if opts.InProcess != nil {
		list = append(list, nats.InProcessServer(opts.InProcess))
	}
	if cfg.CredsFile != "" {
		list = append(list, nats.UserCredentials(cfg.CredsFile))
	}
	if cfg.User != "" {
		list = append(list, nats.UserInfo(cfg.User, cfg.Password.Reveal()))
	}
	if !cfg.Token.IsZero() {
		list = append(list, nats.Token(cfg.Token.Reveal()))
	}
	if cfg.CAFile != "" {
		list = append(list, nats.RootCAs(cfg.CAFile))
	}
	if cfg.CertFile != "" {
		list = append(list, nats.ClientCert(cfg.CertFile, cfg.KeyFile))
	}
	return list
}

// NATS is the plain connection, for core subjects.
func (c *Conn) NATS() *nats.Conn { return c.nc }

// JetStream is the connection's JetStream API.
func (c *Conn) JetStream() jetstream.JetStream { return c.js }

// Connected reports whether a server is reachable now.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// Ready is nil when a server is reachable, else ErrNotConnected.
func (c *Conn) Ready() error {
	if c.Connected() {
		return nil
	}
	return ErrNotConnected
}

// listener is told of connects.
type listener struct {
	calls gate
	fn    func()
}

// OnConnect calls fn after the first connect and after every reconnect, until
// cancel is called, which waits for a call that is under way. fn must not
// block, since it holds up other listeners, nor call cancel.
func (c *Conn) OnConnect(fn func()) (cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := c.nextID
	c.nextID++
	l := &listener{fn: fn}
	c.listeners[key] = l
	return func() {
		c.mu.Lock()
		delete(c.listeners, key)
		c.mu.Unlock()
		l.calls.shut()
	}
}

func (c *Conn) disconnected(log *slog.Logger, err error) {
	if c.closing.Load() {
		log.Debug("nats connection is closed")
		return
	}
	log.Warn("nats disconnected", slog.Any("error", err))
}

func (c *Conn) connected() {
	c.mu.Lock()
	told := slices.Collect(maps.Values(c.listeners))
	c.mu.Unlock()
	for _, l := range told {
		l.calls.pass(l.fn)
	}
}

// Close hands over what is in flight, for a bounded time, and disconnects. It
// returns when the connection's goroutines have ended.
func (c *Conn) Close() {
	if !c.closing.Swap(true) {
		if err := c.nc.Drain(); err != nil {
			c.nc.Close()
		}
	}
	<-c.closed
}
