package app

import (
	"fmt"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/shared/config"
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
	// KeyringFile seals provider keys and the secrets of webhooks before they are
	// stored or published; the gateways have the same file. It is taken again when it
	// changes. Empty: no provider key may be given, and no webhook created.
	KeyringFile string `mapstructure:"keyring_file"`
	// CatalogFiles are laid over the embedded catalog, each over the ones before.
	CatalogFiles []string `mapstructure:"catalog_files"`

	Database   Database       `mapstructure:"database"`
	NATS       NATS           `mapstructure:"nats"`
	HTTP       HTTP           `mapstructure:"http"`
	Publish    Publish        `mapstructure:"publish"`
	Usage      Usage          `mapstructure:"usage"`
	Billing    Billing        `mapstructure:"billing"`
	Allowances Allowances     `mapstructure:"allowances"`
	Webhooks   Webhooks       `mapstructure:"webhooks"`
	Log        logging.Config `mapstructure:"log"`
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
	// PinsBytes is the room for the pins of conversations, in the servers' memory;
	// when it is full the oldest make place. Whoever keeps the buckets has to say
	// the same.
	PinsBytes int64 `mapstructure:"pins_bytes"`
}

// HTTP is how callers are served.
type HTTP struct {
	HeaderTimeout time.Duration `mapstructure:"header_timeout"` // for the request's head
	BodyTimeout   time.Duration `mapstructure:"body_timeout"`   // for the request's body
	IdleTimeout   time.Duration `mapstructure:"idle_timeout"`   // of a kept connection between requests
	DrainTimeout  time.Duration `mapstructure:"drain_timeout"`  // for the calls in flight at the end
	MaxBody       int64         `mapstructure:"max_body"`       // bytes of a request's body
}

// Publish is how policy reaches NATS.
type Publish struct {
	// AllowMassRemoval confirms that the database is the right one although it
	// does not know most of what is published; what it does not know is then
	// removed from NATS at the next start.
	AllowMassRemoval bool `mapstructure:"allow_mass_removal"`
}

// Usage is how usage records are taken in.
type Usage struct {
	// Workers take batches from the stream side by side, 1 to 64.
	Workers int `mapstructure:"workers"`
}

// Default is a control plane beside Postgres and NATS on the same machine.
func Default() Config {
	h := httpserver.Default()
	return Config{
		Listen:   ":8081",
		Database: Database{MaxConns: 16, ConnectTimeout: 5 * time.Second, Migrate: true},
		NATS:     NATS{Config: natsconn.Config{URL: "nats://127.0.0.1:4222", Name: "signalbox-controlplane", InboxPrefix: "_INBOX_CONTROLPLANE"}, Replicas: 1, PinsBytes: natsconn.PinsBytes},
		HTTP: HTTP{
			HeaderTimeout: h.HeaderTimeout, BodyTimeout: h.BodyTimeout, IdleTimeout: h.IdleTimeout,
			// Longer than the longest ?wait, so that no answer is cut.
			DrainTimeout: 35 * time.Second,
			MaxBody:      h.MaxBody,
		},
		Usage:   Usage{Workers: 2},
		Billing: defaultBilling(), Allowances: defaultAllowances(),
		Log: logging.Default(),
	}
}

// shortestToken is the least that an operator token may have.
const shortestToken = 24

// Validate reports everything that is wrong with c, by its keys.
func (c Config) Validate() error {
	var checks config.Checks
	checks.Address("listen", c.Listen)
	if c.OpsListen != "" {
		checks.Address("ops_listen", c.OpsListen)
	}
	checks.Want(c.OperatorToken.IsZero() || len(c.OperatorToken.Reveal()) >= shortestToken, "operator_token",
		fmt.Sprintf("at least %d characters, such as from: openssl rand -hex 32", shortestToken))
	checks.Want(!c.Database.URL.IsZero(), "database.url", "postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	checks.Want(c.Database.MaxConns >= 2, "database.max_conns", "at least 2")
	checks.Want(slices.Contains([]int{1, 3, 5}, c.NATS.Replicas), "nats.replicas", "1, 3 or 5")
	checks.Want(c.NATS.PinsBytes >= 1<<20, "nats.pins_bytes", "at least 1048576 bytes")
	checks.Want(c.Usage.Workers >= 1 && c.Usage.Workers <= 64, "usage.workers", "1 to 64")
	checks.Want(c.HTTP.MaxBody >= 1<<10, "http.max_body", "at least 1024 bytes")
	checks.Positive("database.connect_timeout", c.Database.ConnectTimeout)
	checks.Positive("http.header_timeout", c.HTTP.HeaderTimeout)
	checks.Positive("http.body_timeout", c.HTTP.BodyTimeout)
	checks.Positive("http.idle_timeout", c.HTTP.IdleTimeout)
	checks.Positive("http.drain_timeout", c.HTTP.DrainTimeout)
	checks.Under("nats", c.NATS.Validate())
	checks.Under("billing", c.Billing.Validate())
	checks.Under("allowances", c.Allowances.Validate())
	checks.Under("log", c.Log.Validate())
	return checks.Err()
}

func (d Database) settings() postgres.Config {
	return postgres.Config{
		URL: d.URL, AppURL: d.AppURL, SystemURL: d.SystemURL, DirectURL: d.DirectURL,
		MaxConns: d.MaxConns, ConnectTimeout: d.ConnectTimeout,
	}
}

func (c Config) server() httpserver.Config {
	return httpserver.Config{
		HeaderTimeout: c.HTTP.HeaderTimeout, BodyTimeout: c.HTTP.BodyTimeout,
		IdleTimeout: c.HTTP.IdleTimeout, DrainTimeout: c.HTTP.DrainTimeout, MaxBody: c.HTTP.MaxBody,
	}
}
