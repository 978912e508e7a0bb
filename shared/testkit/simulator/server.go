package simulator

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// Options are the parts of a Server that a caller may set; the zero value
// answers at once and asks for no key.
type Options struct {
	// Now is the clock of the "created" members and of what expires; nil is
	// time.Now.
	Now func() time.Time
	// TokensPerSecond paces streams; 0 does not.
	TokensPerSecond float64
	// Key, when not empty, must come as a bearer token, x-api-key or
	// x-goog-api-key on the paths that stand for no particular provider.
	Key string
	// Keep is how many requests are remembered, and KeepBytes how much of
	// each body; 0 is 256 requests and 1 MiB.
	Keep, KeepBytes int
	// Polls is how many times a job is asked about before it is complete; 0
	// is 2.
	Polls int
	// TokenLife is how long an access token of the token endpoints is good
	// for; 0 is an hour.
	TokenLife time.Duration
}

// Server is the provider. It is an http.Handler and safe for concurrent use.
type Server struct {
	options Options
	routes  []route
	record  recorder
	open    atomic.Int64 // connections
	stored  store
	cached  prefixes
	tokens  tokens

	mu       sync.Mutex
	faults   map[string]Fault // by model; "" is every model
	next     []Fault
	times    map[string]int // misbehaviours so far, by model
	handlers map[string]http.Handler
}

// New returns a provider.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Keep == 0 {
		o.Keep = 256
	}
	if o.KeepBytes == 0 {
		o.KeepBytes = 1 << 20
	}
	if o.Polls == 0 {
		o.Polls = 2
	}
	if o.TokenLife == 0 {
		o.TokenLife = time.Hour
	}
	return &Server{
		options: o, routes: routes(), record: recorder{keep: o.Keep},
		faults: map[string]Fault{}, times: map[string]int{}, handlers: map[string]http.Handler{},
	}
}

// Attach makes hs serve the provider and lets it see connections, which
// Stats.Open and the stale fault need.
func (s *Server) Attach(hs *http.Server) {
	hs.Handler = s
	hs.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connUses{}, new(atomic.Int64))
	}
	hs.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.open.Add(-1)
		case http.StateActive, http.StateIdle:
		}
	}
}

type connUses struct{}

// maxBody bounds what is read of a request.
const maxBody = 64 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		write(w, http.StatusRequestEntityTooLarge, openAIFailure(refusal{status: 413, message: "the body is too large"}))
		return
	}
	x := &exchange{server: s, w: w, r: r, body: body}
	if uses, ok := r.Context().Value(connUses{}).(*atomic.Int64); ok {
		x.reused = uses.Add(1) > 1
	}
	x.target, x.missing = s.find(r)
	x.take()
	entry := s.record.begin(r, x.model, clip(body, s.options.KeepBytes), s.options.Now())
	defer func() { s.record.end(entry, r.Context().Err() != nil) }()

	if h := s.handler(x.model); h != nil {
		h.ServeHTTP(w, x.unread())
		return
	}
	x.serve()
}

// exchange is one request with what its answer needs.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	reused bool
	fault  Fault

	target
	missing int // the status when no route has the path

	model string
	json  gjson.Result // of a JSON body
	form  *form        // of a multipart body
	bad   string       // what is wrong with the body
	owner string       // the credential: it alone sees what it stored
}

// serve goes through what a provider checks, in its order.
func (x *exchange) serve() {
	if x.missing != 0 {
		x.refuse(x.unknownPath(x.missing))
		return
	}
	for _, check := range []func() *refusal{x.checkLead, x.authorize, x.checkHeader, x.checkBody, x.checkMembers} {
		if refused := check(); refused != nil {
			x.refuse(refused)
			return
		}
	}
	fault, err := x.server.faultFor(x)
	if err != nil {
		x.refuse(&refusal{status: http.StatusNotFound, param: "model", code: "model_not_found", message: err.Error()})
		return
	}
	x.fault = fault
	if x.before() {
		return
	}
	x.route.serve(x)
}

func (x *exchange) refuse(e *refusal) {
	if x.fault.RetryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(x.fault.RetryAfter))
	}
	if named, ok := x.format().(headed); ok {
		named.head(x.w.Header(), *e)
	}
	write(x.w, e.status, x.format().failure(*e))
}

// headed formats name an error in a header too.
type headed interface {
	head(h http.Header, e refusal)
}

func write(w http.ResponseWriter, status int, body json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may have gone
}

// clip copies what is kept, so that the rest of a large body can go.
func clip(b []byte, n int) []byte {
	if len(b) > n {
		return append([]byte(nil), b[:n]...)
	}
	return b
}
