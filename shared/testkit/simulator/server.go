package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// Options are the parts of a Server that a caller may set; the zero value
// answers at once and asks for no key.
type Options struct {
	// Now is the clock of the "created" members; nil is time.Now.
	Now func() time.Time
	// TokensPerSecond paces streams; 0 does not.
	TokensPerSecond float64
	// Key, when not empty, must come as a bearer token, x-api-key or
	// x-goog-api-key.
	Key string
	// Keep is how many requests are remembered, and KeepBytes how much of
	// each body; 0 is 256 requests and 1 MiB.
	Keep, KeepBytes int
}

// Server is the provider. It is an http.Handler and safe for concurrent use.
type Server struct {
	options Options
	record  recorder
	open    atomic.Int64 // connections

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
	return &Server{
		options: o, record: recorder{keep: o.Keep},
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
	reused := false
	if uses, ok := r.Context().Value(connUses{}).(*atomic.Int64); ok {
		reused = uses.Add(1) > 1
	}
	model := gjson.GetBytes(body, "model").String()
	if named, _, ok := geminiCall(r.URL.EscapedPath()); ok {
		model = named
	}
	entry := s.record.begin(r, model, clip(body, s.options.KeepBytes), s.options.Now())
	defer func() { s.record.end(entry, r.Context().Err() != nil) }()

	if h := s.handler(model); h != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
		return
	}
	s.serve(&exchange{server: s, w: w, r: r, body: body, model: model, reused: reused})
}

// exchange is one request with what its answer needs.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	model  string
	reused bool
	fault  Fault
}

func (s *Server) serve(x *exchange) {
	d, kind := formatOf(x.r)
	switch {
	case kind == pathUnknown:
		write(x.w, http.StatusNotFound, openAIFailure(refusal{status: http.StatusNotFound, message: "Unknown path " + x.r.URL.Path + "."}))
		return
	case !s.authorized(x.r):
		x.refuse(d, &refusal{status: http.StatusUnauthorized, message: "Incorrect API key provided.", code: "invalid_api_key"})
		return
	case kind == pathModels:
		write(x.w, http.StatusOK, modelList())
		return
	case !gjson.ValidBytes(x.body) || !gjson.ParseBytes(x.body).IsObject():
		x.refuse(d, &refusal{status: http.StatusBadRequest, message: "We could not parse the JSON body of your request."})
		return
	}
	fault, err := s.faultFor(x)
	if err != nil {
		x.refuse(d, &refusal{status: http.StatusNotFound, param: "model", code: "model_not_found", message: err.Error()})
		return
	}
	x.fault = fault
	if x.before(d) {
		return
	}
	x.answer(d, kind)
}

type pathKind int

const (
	pathUnknown pathKind = iota
	pathGenerate
	pathCount
	pathEmbeddings
	pathModels
)

// formatOf goes by the end of the path, so that one server can stand for
// several providers under several prefixes.
func formatOf(r *http.Request) (dialect, pathKind) {
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	if r.Method == http.MethodGet {
		if strings.HasSuffix(path, "/models") {
			return chatFormat{}, pathModels
		}
		return chatFormat{}, pathUnknown
	}
	if _, method, ok := geminiCall(path); ok && r.Method == http.MethodPost {
		switch method {
		case "generateContent", "streamGenerateContent":
			return geminiFormat{}, pathGenerate
		case "countTokens":
			return geminiFormat{}, pathCount
		}
	}
	for suffix, at := range map[string]struct {
		dialect
		pathKind
	}{
		"/chat/completions":      {chatFormat{}, pathGenerate},
		"/responses":             {responsesFormat{}, pathGenerate},
		"/messages":              {anthropicFormat{}, pathGenerate},
		"/messages/count_tokens": {anthropicFormat{}, pathCount},
		"/embeddings":            {chatFormat{}, pathEmbeddings},
	} {
		if r.Method == http.MethodPost && strings.HasSuffix(path, suffix) {
			return at.dialect, at.pathKind
		}
	}
	return chatFormat{}, pathUnknown
}

func (s *Server) authorized(r *http.Request) bool {
	key := s.options.Key
	return key == "" || r.Header.Get("Authorization") == "Bearer "+key ||
		r.Header.Get("X-Api-Key") == key || r.Header.Get("X-Goog-Api-Key") == key
}

// answer writes the good reply, or as much of it as the fault leaves.
func (x *exchange) answer(d dialect, kind pathKind) {
	body := gjson.ParseBytes(x.body)
	if kind == pathEmbeddings {
		reply, refused := embeddings(body)
		if refused != nil {
			x.refuse(d, refused)
			return
		}
		x.plain(reply)
		return
	}
	p, refused := d.read(x.r, body)
	if refused != nil {
		x.refuse(d, refused)
		return
	}
	if kind == pathCount {
		name := "input_tokens"
		if _, ok := d.(geminiFormat); ok {
			name = "totalTokens"
		}
		x.plain(obj(name, p.input))
		return
	}
	a := answerTo(p, x.body)
	a.created = x.server.options.Now()
	if text := x.r.Header.Get("X-Sim-Text"); text != "" {
		a.text, a.calls, a.finish = text, nil, finishStop
	}
	if x.fault.LongKiB > 0 {
		a.text, a.whole = strings.Repeat("long ", x.fault.LongKiB<<10/5), true
	}
	if x.fault.NoUsage {
		a.usage = nil
	}
	if p.stream {
		x.stream(d, d.frames(p, a))
		return
	}
	x.plain(d.plain(p, a))
}

func (x *exchange) refuse(d dialect, e *refusal) {
	if x.fault.RetryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(x.fault.RetryAfter))
	}
	write(x.w, e.status, d.failure(*e))
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
		return bytes.Clone(b[:n])
	}
	return b
}
