package app

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/classifier"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/telemetry"
)

// Config is a gateway's process settings. Whatever a tenant can change is
// policy and comes over NATS.
type Config struct {
	// Listen is where inference is served, host:port.
	Listen string `mapstructure:"listen"`
	// OpsListen moves /healthz, /readyz and /metrics to a listener of their
	// own. Empty: they are served beside inference.
	OpsListen string `mapstructure:"ops_listen"`
	// Advertise is the address that the control plane shows for this gateway,
	// host:port. Empty: the address that Listen was bound to, with the
	// machine's name where that is every address.
	Advertise string `mapstructure:"advertise"`
	// DataDir holds the usage spool, the gateway's identity, the
	// last-known-good policy, and request bodies over 1 MiB while they are
	// served. Two gateways cannot share one.
	DataDir string `mapstructure:"data_dir"`
	// KeyringFile opens provider credentials, and seals the ids of jobs and
	// files; every gateway has the same. It is taken again when it changes.
	// Empty: only providers that take no key can be used, and no job or file can
	// be made.
	KeyringFile string `mapstructure:"keyring_file"`
	// RecentGenerations is how many requests /v1/generations knows.
	RecentGenerations int `mapstructure:"recent_generations"`
	// AccessLog turns the one line for each request on.
	AccessLog bool `mapstructure:"access_log"`

	NATS      NATS             `mapstructure:"nats"`
	HTTP      HTTP             `mapstructure:"http"`
	Upstream  Upstream         `mapstructure:"upstream"`
	Auto      Auto             `mapstructure:"auto"`
	Limits    Limits           `mapstructure:"limits"`
	Log       logging.Config   `mapstructure:"log"`
	Telemetry telemetry.Config `mapstructure:"telemetry"`
}

// NATS says where NATS is.
type NATS struct {
	natsconn.Config `mapstructure:",squash"`
	// Replicas makes the gateway keep the streams and buckets as the control
	// plane does, with so many replicas: 1, 3 or 5. 0 leaves them to the control
	// plane.
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
	WriteTimeout  time.Duration `mapstructure:"write_timeout"`  // a caller that takes nothing for so long has gone
	DrainTimeout  time.Duration `mapstructure:"drain_timeout"`  // for the streams in flight at the end
	MaxJSON       int64         `mapstructure:"max_json"`       // bytes of a JSON body, after inflation
	MaxMultipart  int64         `mapstructure:"max_multipart"`  // bytes of a form, after inflation
	BodyRoom      int64         `mapstructure:"body_room"`      // bytes on disk that large bodies may take together
}

// Upstream bounds the calls to providers.
type Upstream struct {
	FirstByte    time.Duration `mapstructure:"first_byte"`     // of an attempt; of a stream, to the first content
	FirstByteMax time.Duration `mapstructure:"first_byte_max"` // the most that x-signalbox-timeout-ms may ask for
	Reply        time.Duration `mapstructure:"reply"`          // a whole reply that is not streamed
	Idle         time.Duration `mapstructure:"idle"`           // silence between the events of a stream
	Request      time.Duration `mapstructure:"request"`        // a request with all its attempts
	Session      time.Duration `mapstructure:"session"`        // a two-way conversation
}

// Auto is how the requests of signalbox/auto are classified.
type Auto struct {
	// ClassifierModel is the model that is asked what kind of work a request is,
	// as a request would name it. Empty: the cheapest suitable one of the
	// catalog. "off": none is asked, and the gateway's own rules decide.
	ClassifierModel string `mapstructure:"classifier_model"`
	// ClassifierTimeout is how long a request waits for it; then the gateway's
	// own rules decide.
	ClassifierTimeout time.Duration `mapstructure:"classifier_timeout"`
}

// Limits is how limits are held that all gateways share.
type Limits struct {
	// StrictDeadline is how long a request waits for the answer over all gateways,
	// at most 2 s; then the limit says what becomes of it.
	StrictDeadline time.Duration `mapstructure:"strict_deadline"`
}

// Default is a gateway beside a NATS server on the same machine.
func Default() Config {
	edge, limits := surface.DefaultOptions(), attempt.DefaultLimits()
	return Config{
		Listen:            ":8080",
		DataDir:           "gateway-data",
		RecentGenerations: 2048,
		AccessLog:         true,
		NATS:              NATS{Config: natsconn.Config{URL: "nats://127.0.0.1:4222", Name: "signalbox-gateway", InboxPrefix: "_INBOX_GATEWAY"}, PinsBytes: natsconn.PinsBytes},
		HTTP: HTTP{
			HeaderTimeout: 10 * time.Second, BodyTimeout: edge.BodyTime, IdleTimeout: 2 * time.Minute,
			WriteTimeout: edge.WriteStall, DrainTimeout: 30 * time.Second,
			MaxJSON: edge.MaxJSON, MaxMultipart: edge.MaxMultipart, BodyRoom: edge.BodyRoom,
		},
		Upstream: Upstream{
			FirstByte: limits.FirstByte, FirstByteMax: limits.FirstByteMax, Reply: limits.Reply, Idle: limits.Idle, Request: limits.Request,
			Session: limits.Session,
		},
		Auto:      Auto{ClassifierTimeout: 800 * time.Millisecond},
		Limits:    Limits{StrictDeadline: 250 * time.Millisecond},
		Log:       logging.Default(),
		Telemetry: telemetry.Default(),
	}
}

// Validate reports everything that is wrong with c, by its keys.
func (c Config) Validate() error {
	var checks config.Checks
	checks.Address("listen", c.Listen)
	if c.OpsListen != "" {
		checks.Address("ops_listen", c.OpsListen)
	}
	if c.Advertise != "" {
		checks.Address("advertise", c.Advertise)
	}
	checks.Want(c.DataDir != "", "data_dir", "a directory")
	checks.Want(c.RecentGenerations >= 1 && c.RecentGenerations <= 1<<20, "recent_generations", "1 to 1048576")
	checks.Want(slices.Contains([]int{0, 1, 3, 5}, c.NATS.Replicas), "nats.replicas", "0, 1, 3 or 5")
	checks.Want(c.NATS.PinsBytes >= 1<<20, "nats.pins_bytes", "at least 1048576 bytes")
	checks.Want(c.HTTP.MaxJSON >= 1<<10, "http.max_json", "at least 1024 bytes")
	checks.Want(c.HTTP.MaxMultipart >= 1<<10, "http.max_multipart", "at least 1024 bytes")
	checks.Want(c.HTTP.BodyRoom >= c.HTTP.MaxMultipart, "http.body_room", "at least http.max_multipart")
	checks.Positive("http.header_timeout", c.HTTP.HeaderTimeout)
	checks.Positive("http.body_timeout", c.HTTP.BodyTimeout)
	checks.Positive("http.idle_timeout", c.HTTP.IdleTimeout)
	checks.Positive("http.write_timeout", c.HTTP.WriteTimeout)
	checks.Positive("http.drain_timeout", c.HTTP.DrainTimeout)
	checks.Positive("upstream.first_byte", c.Upstream.FirstByte)
	checks.Positive("upstream.first_byte_max", c.Upstream.FirstByteMax)
	checks.Positive("upstream.reply", c.Upstream.Reply)
	checks.Positive("upstream.idle", c.Upstream.Idle)
	checks.Positive("upstream.request", c.Upstream.Request)
	checks.Positive("upstream.session", c.Upstream.Session)
	checks.Positive("auto.classifier_timeout", c.Auto.ClassifierTimeout)
	checks.Want(c.Limits.StrictDeadline > 0 && c.Limits.StrictDeadline <= 2*time.Second, "limits.strict_deadline", "up to 2s")
	checks.Want(c.Auto.named(), "auto.classifier_model", `a model's name, "off", or nothing`)
	checks.Under("nats", c.NATS.Validate())
	checks.Under("log", c.Log.Validate())
	checks.Under("telemetry", c.Telemetry.Validate())
	return checks.Err()
}

// named reports whether the classifier can be a model: signalbox's own choosers
// would have to classify in turn, or choose anew each time.
func (a Auto) named() bool {
	if a.ClassifierModel == "" || a.ClassifierModel == classifier.Off {
		return true
	}
	name, refusal := decide.ParseName(a.ClassifierModel)
	return refusal == nil && name.Preset == "" && name.Model != catalog.AutoModel && name.Model != catalog.FreeModel
}

func (c Config) edge() surface.Options {
	o := surface.DefaultOptions()
	o.MaxJSON, o.MaxMultipart, o.BodyDir = c.HTTP.MaxJSON, c.HTTP.MaxMultipart, filepath.Join(c.DataDir, "bodies")
	o.BodyRoom = c.HTTP.BodyRoom
	o.BodyTime, o.MaxFirstByte, o.WriteStall = c.HTTP.BodyTimeout, c.Upstream.FirstByteMax, c.HTTP.WriteTimeout
	return o
}

func (c Config) limits() attempt.Limits {
	l := attempt.DefaultLimits()
	l.FirstByte, l.FirstByteMax = c.Upstream.FirstByte, c.Upstream.FirstByteMax
	l.Reply, l.Idle, l.Request, l.Session = c.Upstream.Reply, c.Upstream.Idle, c.Upstream.Request, c.Upstream.Session
	return l
}
