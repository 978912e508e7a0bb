package app_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/shared/testkit/transcript"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// platform is what a gateway needs around it: NATS with published policy, and
// a provider. The publisher's part is played by the test.
type platform struct {
	t     testing.TB
	nats  *natstest.Server
	write *document.Writer
	sim   *simulator.Server
	simAt string
	ids   *id.Source

	workspace id.Workspace
	key       policy.Key
	token     string
}

func newPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{t: t, nats: natstest.New(t), sim: simulator.New(simulator.Options{}), ids: id.SystemSource()}
	upstream := httptest.NewServer(p.sim)
	t.Cleanup(upstream.Close)
	p.simAt = upstream.URL
	p.write = document.NewWriter(p.nats.Ready())
	p.workspace = id.New[id.WorkspaceKind](p.ids)
	p.publishPolicy(policy.Snapshot{Revision: 1, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings()})
	p.key, p.token = p.newKey()
	p.publishKey(p.key)
	require.NoError(t, p.write.Mark(t.Context(), wire.BucketKeys, wire.KeysComplete, []byte("{}")))
	return p
}

func (p *platform) newKey() (policy.Key, string) {
	p.t.Helper()
	token, err := secret.NewToken(rand.Reader, secret.Inference)
	require.NoError(p.t, err)
	return policy.Key{
		Schema: policy.Schema, KID: token.KID, ID: id.New[id.KeyKind](p.ids), Workspace: p.workspace,
		CreatedBy: id.New[id.UserKind](p.ids), Status: policy.KeyActive, SecretHash: token.Hash(), Revision: 1, MinRevision: 1,
	}, token.Plaintext().Reveal()
}

func (p *platform) publishKey(k policy.Key) {
	p.t.Helper()
	_, err := p.write.Key(p.t.Context(), k)
	require.NoError(p.t, err)
}

func (p *platform) publishPolicy(s policy.Snapshot) {
	p.t.Helper()
	s.Workspace = p.workspace
	body, digest, err := policy.Encode(s.Versioned())
	require.NoError(p.t, err)
	p.publish(wire.BucketPolicy, wire.PolicyPointer(p.workspace), wire.PolicyBody(p.workspace, digest), body, policy.Pointer{Revision: s.Revision, Digest: digest})
}

func (p *platform) publishCatalog() {
	p.t.Helper()
	price := func(text string) *money.PerMillion {
		v, err := money.ParsePerMillion(text)
		require.NoError(p.t, err)
		return &v
	}
	model := func(name string, providers ...string) catalog.Model {
		m := catalog.Model{ID: "acme/" + name, Author: "acme", Name: name, Context: 1000, Lifecycle: catalog.Lifecycle{State: catalog.Active}}
		for _, provider := range providers {
			m.Endpoints = append(m.Endpoints, catalog.Endpoint{
				ID: provider + ":acme/" + name, Provider: provider, UpstreamModel: name,
				Price: &catalog.Price{Input: price("1.00"), Output: price("2.00")},
			})
		}
		return m
	}
	voice := model("voice", "north")
	voice.Endpoints[0].Surfaces = []catalog.Surface{catalog.Realtime}
	c := catalog.Catalog{
		Schema: catalog.Schema, Revision: 1,
		Providers: []catalog.Provider{
			{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: p.simAt + "/v1", Keyless: true},
			{Slug: "south", Type: catalog.OpenAICompatible, BaseURL: p.simAt + "/v1", Keyless: true},
		},
		Models: []catalog.Model{
			model("broken-fault-status-503", "north"), model("broken-fault-status-429-retry-7", "north"), model("hang-fault-hang-2", "north"), model("large", "north", "south"), model("small", "north"), voice,
		},
	}
	body, digest, err := policy.Encode(c)
	require.NoError(p.t, err)
	p.publish(wire.BucketCatalog, wire.CatalogPointer, wire.CatalogBody(digest), body, policy.Pointer{Revision: 1, Digest: digest})
}

func (p *platform) publish(bucket, key, name string, body []byte, pointer policy.Pointer) {
	p.t.Helper()
	where, err := p.write.Body(p.t.Context(), bucket, name, body)
	require.NoError(p.t, err)
	pointer.Schema, pointer.Size, pointer.Where, pointer.Name, pointer.Published = policy.Schema, len(body), where, name, time.Now()
	_, err = p.write.Pointer(p.t.Context(), bucket, key, pointer)
	require.NoError(p.t, err)
}

// gateway is a running gateway.
type gateway struct {
	t    testing.TB
	app  *app.App
	url  string
	log  *transcript.Buffer
	stop func() error
	data string // its directory
}

func (p *platform) config() app.Config {
	cfg := app.Default()
	cfg.Listen, cfg.DataDir, cfg.NATS.Config = "127.0.0.1:0", p.t.TempDir(), p.nats.Config()
	return cfg
}

func (p *platform) start(cfg app.Config) *gateway {
	p.t.Helper()
	g := &gateway{t: p.t, log: &transcript.Buffer{}, data: cfg.DataDir}
	var err error
	g.app, err = app.New(p.t.Context(), cfg, app.Deps{Log: logging.Discard(), Now: time.Now, Version: "v1", AccessLog: g.log})
	require.NoError(p.t, err)
	g.url = "http://" + g.app.Addr()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.app.Run(ctx) }()
	g.stop = sync.OnceValue(func() error { cancel(); return <-done })
	p.t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		require.NoError(p.t, g.stop())
	})
	return g
}

// gateway starts one with a published catalog and waits until it is ready.
func (p *platform) gateway() *gateway {
	p.t.Helper()
	p.publishCatalog()
	g := p.start(p.config())
	g.awaitReady()
	return g
}

func (g *gateway) awaitReady() {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.probe("/readyz").status == http.StatusOK }, 20*time.Second, 10*time.Millisecond)
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v
}

func (a answer) fault(t *testing.T) map[string]any {
	t.Helper()
	inner, ok := a.json(t)["error"].(map[string]any)
	require.True(t, ok, a.body)
	return inner
}

func (g *gateway) do(method, path, token, body string, header ...string) answer {
	g.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, g.url+path, strings.NewReader(body))
	require.NoError(g.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(g.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(g.t, err)
	return answer{response.StatusCode, response.Header, string(data)}
}

func (g *gateway) chat(token, body string, header ...string) answer {
	g.t.Helper()
	return g.do(http.MethodPost, "/v1/chat/completions", token, body, header...)
}

func (g *gateway) probe(path string) answer {
	response, err := http.Get(g.url + path)
	if err != nil {
		return answer{body: err.Error()}
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(data)}
}

// line waits for the access line of a request.
func (g *gateway) line(requestID string) map[string]any {
	g.t.Helper()
	var found map[string]any
	require.Eventually(g.t, func() bool {
		for l := range strings.SplitSeq(g.log.String(), "\n") {
			var v map[string]any
			if json.Unmarshal([]byte(l), &v) == nil && v["request_id"] == requestID {
				require.Nil(g.t, found, "a second access line")
				found = v
			}
		}
		return found != nil
	}, 10*time.Second, 10*time.Millisecond)
	return found
}

// events waits until the usage stream has the events of a request.
func (p *platform) events(requestID string, n int) []wire.UsageEvent {
	p.t.Helper()
	var out []wire.UsageEvent
	require.Eventually(p.t, func() bool {
		out = p.shipped(requestID)
		return len(out) >= n
	}, 10*time.Second, 20*time.Millisecond, "usage events of %s", requestID)
	require.Len(p.t, out, n)
	return out
}

// shipped are the events of a request that the usage stream has now.
func (p *platform) shipped(requestID string) (out []wire.UsageEvent) {
	p.t.Helper()
	stream, err := p.nats.Connect().JetStream().Stream(p.t.Context(), wire.StreamUsage)
	require.NoError(p.t, err)
	info, err := stream.Info(p.t.Context())
	require.NoError(p.t, err)
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq && info.State.Msgs > 0; seq++ {
		msg, err := stream.GetMsg(p.t.Context(), seq)
		if err != nil {
			continue
		}
		records := [][]byte{msg.Data}
		if msg.Header.Get(wire.HeaderUsageBatch) != "" {
			body, err := wire.DecompressUsage(msg.Data, msg.Header.Get(wire.HeaderUsageEncoding))
			require.NoError(p.t, err)
			records, _ = wire.UsageRecords(body, wire.MaxUsageBatch)
		}
		for _, record := range records {
			var e wire.UsageEvent
			if json.Unmarshal(record, &e) == nil && e.PrimaryID.String() == requestID {
				out = append(out, e)
			}
		}
	}
	return out
}

func newWorkspace(p *platform) id.Workspace { return id.New[id.WorkspaceKind](p.ids) }
