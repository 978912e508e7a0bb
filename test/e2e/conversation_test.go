//go:build e2e

package e2e_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness"
)

// question is what a client is made to ask, in no client's types.
type question struct {
	system, prompt string
	image          bool  // with a picture, inline
	tools          bool  // offer get_weather and get_time
	serial         bool  // one call at a time
	demand         bool  // some tool must be called
	schema         bool  // the answer is a person
	thinking, show bool  // and its thoughts are to be seen
	limit          int64 // of tokens; 0 is the client's own
	stop           string
	metadata       map[string]string
	models         []string          // to go on with
	earlier        *answer           // the turn before, given back whole
	results        map[string]string // of its calls, by their ids
}

// answer is what a client understood, in no client's types.
type answer struct {
	model, text, thoughts string
	refusal               string
	finish                finish
	calls                 []toolCall
	usage                 tokens
	turn                  any // the client's own value, to give back
}

type toolCall struct{ id, name, input string }

// tokens are as callers of every format are told them: cached ones are part of
// the input, and reasoning of the output.
type tokens struct{ input, cached, output, reasoning int64 }

type finish string

const (
	stopped  finish = "stop"
	cutShort finish = "length"
	called   finish = "tools"
	refused  finish = "refused"
)

// failure is what a client's error says.
type failure struct {
	status  int
	kind    string // the client's own word for it
	code    string // the gateway's, where the client keeps it
	reason  string // the same
	message string
}

// speaker is a client of one of the four formats of conversations.
type speaker interface {
	// ask returns one reply.
	ask(ctx context.Context, model string, q question) (answer, error)
	// stream returns the same from a stream, put together by the client. Each
	// is called after every event.
	stream(ctx context.Context, model string, q question, each func()) (answer, error)
	// failed reads the client's typed error.
	failed(t *testing.T, err error) failure
}

// connection is what a client needs to reach the gateway, and remembers the
// head of the newest answer.
type connection struct {
	url, key string
	http     *http.Client
	witness  *witness
}

func connect(p *harness.Platform, key string) connection { return connectTo(p, 0, key) }

func connectTo(p *harness.Platform, gateway int, key string) connection {
	w := &witness{next: p.HTTP.Transport}
	return connection{url: p.Gateways[gateway], key: key, http: &http.Client{Transport: w}, witness: w}
}

// witness notes the head of the newest answer.
type witness struct {
	next http.RoundTripper
	mu   sync.Mutex
	head http.Header
}

// RoundTrip is of http.RoundTripper.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err == nil {
		w.mu.Lock()
		w.head = resp.Header
		w.mu.Unlock()
	}
	return resp, err //nolint:wrapcheck // it is not there
}

func (w *witness) last() http.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head
}

// pixel is a picture.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// function is a tool that questions offer.
type function struct {
	name       string
	properties map[string]any
	required   []string
}

func (f function) schema() map[string]any {
	return map[string]any{"type": "object", "properties": f.properties, "required": f.required, "additionalProperties": false}
}

func offeredTools() []function {
	text := map[string]any{"type": "string"}
	return []function{
		{name: "get_weather", properties: map[string]any{"city": text, "unit": map[string]any{"type": "string", "enum": []any{"c", "f"}}}, required: []string{"city", "unit"}},
		{name: "get_time", properties: map[string]any{}, required: []string{}},
	}
}

func personSchema() map[string]any {
	return map[string]any{
		"type": "object", "additionalProperties": false, "required": []any{"name", "age"},
		"properties": map[string]any{"name": map[string]any{"type": "string"}, "age": map[string]any{"type": "integer"}},
	}
}

// ownModel is a model for the requests of one surface alone.
func ownModel(surface, name string) string { return surface + "-" + name }

// conversing starts a platform with models for conversations at the upstream of
// every format.
func conversing(t *testing.T, clients []abilities) *harness.Platform {
	t.Helper()
	const requests, bytes = 1 << 14, 1 << 16
	names := []string{
		"small", "refuse-1", "cached-1", "fault-status-400", "fault-status-401", "fault-status-429-retry-7",
		"fault-status-500", "fault-context", "fault-error-first", "fault-error-mid", "fault-cut-3", "fault-reset",
	}
	for _, can := range clients {
		names = append(names, ownModel(can.surface, "proof"), ownModel(can.surface, "chats"), ownModel(can.surface, "fault-hang-3"))
	}
	return harness.Start(t, harness.Options{
		Simulator: true, Upstream: simulator.Options{Keep: requests, KeepBytes: bytes}, Everywhere: names,
	})
}

// sumOf is what the log's account of a request says, in the callers' terms.
func sumOf(t *testing.T, p *harness.Platform, head http.Header) (tokens, map[string]any) {
	t.Helper()
	entry := p.On(t).Logged(head)
	u := entry.Get("usage")
	n := func(name string) int64 { return u.Get(name).Int() }
	sum := tokens{
		input:  n("input") + n("cached_read") + n("cache_write_5m") + n("cache_write_1h") + n("image") + n("audio_input"),
		cached: n("cached_read"), output: n("output") + n("reasoning") + n("audio_output"), reasoning: n("reasoning"),
	}
	require.False(t, u.Get("estimated").Bool(), "the upstream said what was used: %s", u.Raw)
	account, ok := entry.Value().(map[string]any)
	require.True(t, ok)
	return sum, account
}
