// Package harness starts a whole platform inside the test process: a database
// of its own, a NATS server, a control plane, gateways and two simulated
// providers, wired by the same app packages that the binaries run. Its methods
// are the product's words; each fails the test when the platform does not do
// what the word says.
package harness

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// Options say what to start; the zero value is one gateway.
type Options struct {
	Gateways int
	Upstream simulator.Options
	// Models are further models, each sim/NAME with the upstream model NAME
	// at North.
	Models []string
	// Simulator adds the simulator's own catalog: a provider of every type,
	// all of them North, and models for every surface.
	Simulator bool
	// Everywhere are models of every upstream format, with Simulator: each is
	// upstream.Via(format, name) for every one of upstream.Formats().
	Everywhere []string
	// Catalog writes a further catalog file; nil is none.
	Catalog func(north, south *upstream.Upstream) string
	// Configure changes the gateways' configuration.
	Configure func(*dataplane.Config)
	// Operate changes the control plane's configuration.
	Operate func(*controlplane.Config)
	// Now is the clock of the control plane and the gateways; nil is the time.
	Now func() time.Time
}

// Platform is a running platform with one tenant.
type Platform struct {
	client.Workspace
	North, South *upstream.Upstream

	t         testing.TB
	parts     *parts
	configure func(*dataplane.Config)
	operate   func(*controlplane.Config)
	now       func() time.Time
}

const (
	applyWithin = 10 * time.Second // until every gateway has a change
	soon        = 20 * time.Second // until anything else has happened
	often       = 5 * time.Millisecond
)

// Start starts everything and waits until it is ready. The end of the test
// stops it.
func Start(t testing.TB, o Options) *Platform {
	t.Helper()
	o.Gateways = max(o.Gateways, 1)
	providers, err := upstream.Start(o.Upstream)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, providers.Close()) })

	p := &Platform{t: t, North: providers.North, South: providers.South, configure: o.Configure, operate: o.Operate, now: o.Now}
	if p.now == nil {
		p.now = time.Now
	}
	p.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	catalogs := []string{providers.Catalog(o.Models...)}
	if o.Simulator {
		catalogs = append(catalogs, providers.Simulated(), providers.Everywhere(o.Everywhere...))
	}
	if o.Catalog != nil {
		catalogs = append(catalogs, o.Catalog(p.North, p.South))
	}
	p.parts = newParts(t, catalogs)
	p.Operator = operatorToken
	t.Cleanup(p.stop)
	p.StartNATS()
	p.StartControlPlane()
	for range o.Gateways {
		p.Gateways = append(p.Gateways, "")
		p.StartGateway(len(p.Gateways) - 1)
	}

	p.Workspace, err = p.CreateWorkspace(t.Context(), "acme")
	require.NoError(t, err)
	return p
}

func (p *Platform) stop() {
	p.HTTP.CloseIdleConnections()
	for i := range p.Gateways {
		p.StopGateway(i)
	}
	p.StopControlPlane()
	p.StopNATS()
}

// On returns the platform for a subtest, so that failures are the subtest's.
func (p *Platform) On(t testing.TB) *Platform {
	q := *p
	q.t = t
	return &q
}

// Key makes a key that may do everything and waits until it is everywhere.
func (p *Platform) Key() client.Key {
	p.t.Helper()
	return p.NewKey(client.NewKey{Name: "test"})
}

// NewKey makes a key and waits until it is everywhere.
func (p *Platform) NewKey(k client.NewKey) client.Key {
	p.t.Helper()
	key, publication, err := p.CreateKey(p.t.Context(), k, applyWithin)
	require.NoError(p.t, err)
	require.Zero(p.t, publication.Pending, "gateways that did not apply the new key")
	return key
}

// Change makes a management call as the owner and waits until every gateway has
// what it changed.
func (p *Platform) Change(method, path, body string) client.Answer {
	p.t.Helper()
	var sent json.RawMessage
	if body != "" {
		sent = json.RawMessage(body)
	}
	answer, err := p.Manage(p.t.Context(), method, path+"?wait=10s", sent)
	require.NoError(p.t, err)
	require.Zero(p.t, answer.Get("publication.pending").Int(), "gateways that did not apply the change")
	return answer
}

// Revoke ends a key and waits until every gateway knows.
func (p *Platform) Revoke(key client.Key) {
	p.t.Helper()
	publication, err := p.RevokeKey(p.t.Context(), key.ID, applyWithin)
	require.NoError(p.t, err)
	require.Zero(p.t, publication.Pending, "gateways that did not apply the revocation")
}

// Ask sends a chat body to the first gateway.
func (p *Platform) Ask(key client.Key, body string) client.Answer {
	p.t.Helper()
	answer, err := p.Post(p.t.Context(), 0, key.Secret, "/v1/chat/completions", []byte(body))
	require.NoError(p.t, err)
	return answer
}

// Say asks a model of a gateway for a plain reply to "Say hello".
func (p *Platform) Say(gateway int, key client.Key, model string) client.Answer {
	p.t.Helper()
	answer, err := p.Chat(p.t.Context(), gateway, key.Secret, model, "Say hello")
	require.NoError(p.t, err)
	return answer
}

// SayStreamed is Say of the first gateway as a stream.
func (p *Platform) SayStreamed(key client.Key, model string) client.Stream {
	p.t.Helper()
	return p.AskStreamed(key, string(client.ChatBody(model, "Say hello", true)))
}

// AskStreamed sends a streaming chat body to the first gateway and reads it to
// the end.
func (p *Platform) AskStreamed(key client.Key, body string) client.Stream {
	p.t.Helper()
	s, err := p.Stream(p.t.Context(), 0, key.Secret, []byte(body))
	require.NoError(p.t, err)
	return s
}

// Works asserts that a key is accepted by every gateway.
func (p *Platform) Works(key client.Key) {
	p.t.Helper()
	for i := range p.Gateways {
		answer := p.Say(i, key, upstream.Small)
		require.Equal(p.t, http.StatusOK, answer.Status, "gateway %d: %s", i, answer.Body)
	}
}

// Refused asserts that every gateway refuses a key for the reason.
func (p *Platform) Refused(key client.Key, reason string) {
	p.t.Helper()
	for i := range p.Gateways {
		answer := p.Say(i, key, upstream.Small)
		require.Equal(p.t, http.StatusUnauthorized, answer.Status, "gateway %d: %s", i, answer.Body)
		require.Equal(p.t, reason, answer.Get("error.reason").Str, "gateway %d", i)
	}
}

// Logged waits until the answer's request is in the log, and returns its
// account.
func (p *Platform) Logged(header http.Header) gjson.Result {
	p.t.Helper()
	request := header.Get(client.HeaderRequestID)
	require.True(p.t, strings.HasPrefix(request, "req_"), "the answer names its request: %q", request)
	var entry gjson.Result
	p.Eventually(func() bool {
		var err error
		entry, err = p.Log(p.t.Context(), request)
		return err == nil
	}, "request %s is not in the log", request)
	return entry
}

// Eventually waits for a condition.
func (p *Platform) Eventually(condition func() bool, message string, args ...any) {
	p.t.Helper()
	require.Eventuallyf(p.t, condition, soon, often, message, args...)
}
