package app

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Config is a control plane's process settings. Whatever a tenant can change
// is policy and lives in the database.
type Config struct {
	// Listen is where the management API and the dashboard are served, host:port.
	Listen string `mapstructure:"listen"`
	// OpsListen moves /healthz, /readyz and /metrics to a listener of their
	// own. Empty: they are served beside the API.
	OpsListen string `mapstructure:"ops_listen"`
	// OperatorToken opens /v1/platform. Empty: nobody is operator.
	OperatorToken secret.String `mapstructure:"operator_token"`
	// KeyringFile seals the platform's provider keys before they are published;
	// the gateways have the same file. Empty: no provider key may be given.
	KeyringFile string `mapstructure:"keyring_file"`
	// CatalogFiles are laid over the embedded catalog, each over the ones before.
	CatalogFiles []string `mapstructure:"catalog_files"`

	Database Database       `mapstructure:"database"`
	NATS     NATS           `mapstructure:"nats"`
	HTTP     HTTP           `mapstructure:"http"`
	Usage    Usage          `mapstructure:"usage"`
	Log      logging.Config `mapstructure:"log"`
}

// Database says where Postgres is. URL alone is enough.
type Database struct {
	URL       secret.String `mapstructure:"url"`        // required: postgres://USER:PASSWORD@HOST:PORT/DATABASE
	AppURL    secret.String `mapstructure:"app_url"`    // for poolers: logs in as a member of signalbox_app; url when absent
	SystemURL secret.String `mapstructure:"system_url"` // for poolers: logs in as a member of signalbox_system; url when absent
	DirectURL secret.String `mapstructure:"direct_url"` // goes past the pooler: locks, LISTEN, migrations; url when absent
	// MaxConns is for each of the two pools.
	MaxConns       int           `mapstructure:"max_conns"`
	ConnectTimeout time.Duration `mapstructure:"connect_timeout"` // for one connection to be made
	// Migrate applies missing migrations at the start. Several control planes
	// may do so at once.
	Migrate bool `mapstructure:"migrate"`
}

// NATS says where NATS is.
type NATS struct {
	natsconn.Config `mapstructure:",squash"`
	// Replicas of streams and buckets: 1, 3 or 5.
	Replicas int `mapstructure:"replicas"`
}

// HTTP is how callers are served.
type HTTP struct {
	HeaderTimeout time.Duration `mapstructure:"header_timeout"` // for the request's head
	BodyTimeout   time.Duration `mapstructure:"body_timeout"`   // for the request's body
	IdleTimeout   time.Duration `mapstructure:"idle_timeout"`   // of a kept connection between requests
	DrainTimeout  time.Duration `mapstructure:"drain_timeout"`  // for the calls in flight at the end
	MaxBody       int64         `mapstructure:"max_body"`       // bytes of a request's body
}

// Usage is how usage records are taken in.
type Usage struct {
	// Workers take batches from the stream side by side, 1 to 64.
	Workers int `mapstructure:"workers"`
}

// Default is a control plane beside Postgres and NATS on the same machine.
func Default() Config {
	h := httpserver.Default("")
	return Config{
		Listen:   ":8081",
		Database: Database{MaxConns: 16, ConnectTimeout: 5 * time.Second, Migrate: true},
		NATS:     NATS{Config: natsconn.Config{URL: "nats://127.0.0.1:4222", Name: "signalbox-controlplane", InboxPrefix: "_INBOX_CONTROLPLANE"}, Replicas: 1},
		HTTP: HTTP{
			HeaderTimeout: h.HeaderTimeout, BodyTimeout: h.BodyTimeout, IdleTimeout: h.IdleTimeout,
			// Longer than the longest ?wait, so that no answer is cut.
			DrainTimeout: 35 * time.Second,
			MaxBody:      h.MaxBody,
		},
		Usage: Usage{Workers: 2},
		Log:   logging.Default(),
	}
}

// shortestToken is the least that an operator token may have.
const shortestToken = 24

// Validate reports everything that is wrong with c, by its keys.
func (c Config) Validate() error {
	var errs []error
	address := func(key, value string, optional bool) {
		if value == "" && optional {
			return
		}
		if _, _, err := net.SplitHostPort(value); err != nil {
			errs = append(errs, fmt.Errorf("%s: want host:port, such as 127.0.0.1:8081 or :8081", key))
		}
	}
	address("listen", c.Listen, false)
	address("ops_listen", c.OpsListen, true)
	if !c.OperatorToken.IsZero() && len(c.OperatorToken.Reveal()) < shortestToken {
		errs = append(errs, fmt.Errorf("operator_token: want at least %d characters, such as from: openssl rand -hex 32", shortestToken))
	}
	if c.Database.URL.IsZero() {
		errs = append(errs, errors.New("database.url: want postgres://USER:PASSWORD@HOST:PORT/DATABASE"))
	}
	if c.Database.MaxConns < 2 {
		errs = append(errs, errors.New("database.max_conns: want at least 2"))
	}
	if c.NATS.Replicas != 1 && c.NATS.Replicas != 3 && c.NATS.Replicas != 5 {
		errs = append(errs, errors.New("nats.replicas: want 1, 3 or 5"))
	}
	if c.Usage.Workers < 1 || c.Usage.Workers > 64 {
		errs = append(errs, errors.New("usage.workers: want 1 to 64"))
	}
	if c.HTTP.MaxBody < 1<<10 {
		errs = append(errs, errors.New("http.max_body: want at least 1024 bytes"))
	}
	for _, d := range []struct {
		key   string
		value time.Duration
	}{
		{"database.connect_timeout", c.Database.ConnectTimeout},
		{"http.header_timeout", c.HTTP.HeaderTimeout},
		{"http.body_timeout", c.HTTP.BodyTimeout},
		{"http.idle_timeout", c.HTTP.IdleTimeout},
		{"http.drain_timeout", c.HTTP.DrainTimeout},
	} {
		if d.value <= 0 {
			errs = append(errs, fmt.Errorf("%s: want a positive duration", d.key))
		}
	}
	errs = append(errs, prefixed("nats", c.NATS.Validate()), prefixed("log", c.Log.Validate()))
	return errors.Join(errs...)
}

func prefixed(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

func (d Database) settings() postgres.Config {
	return postgres.Config{
		URL: d.URL, AppURL: d.AppURL, SystemURL: d.SystemURL, DirectURL: d.DirectURL,
		MaxConns: d.MaxConns, ConnectTimeout: d.ConnectTimeout,
	}
}

func (c Config) server(listen string) httpserver.Config {
	return httpserver.Config{
		Listen: listen, HeaderTimeout: c.HTTP.HeaderTimeout, BodyTimeout: c.HTTP.BodyTimeout,
		IdleTimeout: c.HTTP.IdleTimeout, DrainTimeout: c.HTTP.DrainTimeout, MaxBody: c.HTTP.MaxBody,
	}
}
