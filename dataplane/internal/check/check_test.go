package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/check"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var workspace = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001")

type offered struct{ view *catalog.View }

func (o offered) Catalog() *catalog.View { return o.view }

// rig checks credentials against a catalog.
type rig struct {
	t       *testing.T
	ring    *seal.Keyring
	checker *check.Checker
}

func newRig(t *testing.T, file string, adjust func(*http.Transport)) *rig {
	t.Helper()
	over, _, err := catalog.Load(strings.NewReader(file), "test.yaml", func(string) (string, bool) { return "a-key", true })
	require.NoError(t, err)
	view, err := catalog.Compile(catalog.Merge(catalog.Catalog{Schema: catalog.Schema, Revision: 1}, over))
	require.NoError(t, err)
	ring, err := seal.New()
	require.NoError(t, err)
	client := provider.New(ring, provider.Options{Adjust: adjust, ErrorBody: time.Second})
	t.Cleanup(client.Close)
	return &rig{t: t, ring: ring, checker: check.New(client, offered{view}, time.Now)}
}

func (r *rig) request(slug, key string) wire.CheckRequest {
	r.t.Helper()
	sealed, err := r.ring.Seal(secret.NewString(key), policy.CredentialBinding(workspace, slug)...)
	require.NoError(r.t, err)
	return wire.CheckRequest{Workspace: workspace, Provider: slug, Sealed: sealed}
}

func (r *rig) check(t *testing.T, q wire.CheckRequest) wire.CheckReply {
	t.Helper()
	reply := r.checker.Check(t.Context(), q)
	body, err := json.Marshal(reply)
	require.NoError(t, err)
	require.NotContains(t, string(body), "canary", "nothing of the provider's text, nor of the key")
	return reply
}

// The simulator checks credentials as each company does.
func TestEveryTypeOfProviderTellsAGoodKeyFromABadOne(t *testing.T) {
	sim := simulator.New(simulator.Options{Key: "good"})
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	file := simulator.CatalogWithKeys(server.URL, func(string) string { return "${KEY}" })
	r := newRig(t, strings.ReplaceAll(file, "keyless: true", `api_key: "${KEY}"`), nil)
	for slug, c := range map[string]struct {
		good, bad string
		call      wire.CheckCall
		status    int // of the refusal
	}{
		simulator.Provider:    {"good", "canary-bad", wire.CheckCompletion, 401},
		simulator.AtOpenAI:    {simulator.OpenAIKey + "-1", "canary-bad", wire.CheckListModels, 401},
		simulator.AtAnthropic: {simulator.AnthropicKey + "-1", "canary-bad", wire.CheckListModels, 401},
		simulator.AtGoogle:    {simulator.GoogleKey + "-1", "canary-bad", wire.CheckListModels, 400},
		simulator.AtAzure:     {simulator.AzureKey + "-1", "canary-bad", wire.CheckListModels, 401},
		simulator.AtVertex:    {vertexToken(t, server.URL), "canary-bad", wire.CheckCountTokens, 401},
		simulator.AtBedrock:   {simulator.BedrockKey + "-1", "canary-bad-bedrock-key", wire.CheckCompletion, 403},
	} {
		t.Run(slug, func(t *testing.T) {
			good, bad := r.request(slug, c.good), r.request(slug, c.bad)
			if slug == simulator.Provider { // some of its models misbehave
				good.Models, bad.Models = []string{"signalbox-sim/small"}, []string{"signalbox-sim/small"}
			}
			reply := r.check(t, good)
			require.Equal(t, wire.CheckValid, reply.Status, "%+v", reply)
			require.Equal(t, 200, reply.HTTPStatus)
			require.Equal(t, c.call, reply.Call)
			require.Positive(t, reply.Latency)
			needs := c.call != wire.CheckListModels
			require.Equal(t, needs, reply.Model != "", "%q", reply.Model)

			reply = r.check(t, bad)
			require.Equal(t, wire.CheckInvalid, reply.Status, "%+v", reply)
			require.Equal(t, c.status, reply.HTTPStatus)
		})
	}
	t.Run("an account of AWS", func(t *testing.T) {
		account := func(secret string) string {
			return fmt.Sprintf(`{"access_key_id":%q,"secret_access_key":%q,"session_token":%q}`, simulator.AWSAccessKeyID, secret, simulator.AWSSessionToken)
		}
		require.Equal(t, wire.CheckValid, r.check(t, r.request(simulator.AtBedrock, account(simulator.AWSSecretAccessKey))).Status)
		require.Equal(t, wire.CheckInvalid, r.check(t, r.request(simulator.AtBedrock, account("canary"))).Status)
	})
	for _, seen := range sim.Requests() {
		if strings.HasSuffix(seen.Path, "/completions") || strings.HasSuffix(seen.Path, "/converse") {
			require.Regexp(t, `"(max_tokens|max_completion_tokens|maxTokens)":1\b`, string(seen.Body), "one token")
		}
	}
}

// vertexToken is an access token, as a tenant may bring one.
func vertexToken(t *testing.T, root string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, root+"/computeMetadata/v1/instance/service-accounts/default/token", nil)
	require.NoError(t, err)
	q.Header.Set("Metadata-Flavor", "Google")
	response, err := http.DefaultClient.Do(q)
	require.NoError(t, err)
	defer response.Body.Close()
	var token struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&token))
	require.NotEmpty(t, token.Token)
	http.DefaultClient.CloseIdleConnections()
	return token.Token
}

// toll is one server for a provider of type openai-compatible.
func toll(t *testing.T, handler http.HandlerFunc) *rig {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return newRig(t, tollCatalog(server.URL+"/v1"), nil)
}

func tollCatalog(base string) string {
	return fmt.Sprintf(`
providers:
  - {slug: toll, type: openai-compatible, base_url: %q, quirks: {token_limit: max_completion_tokens}}
  - {slug: vectors, type: openai-compatible, base_url: %q}
  - {slug: voices, type: openai-compatible, base_url: %q}
models:
  - {id: acme/dear, endpoints: [{provider: toll, upstream_model: dear, price: {input: "5", output: "9"}}]}
  - {id: acme/cheap, endpoints: [{provider: toll, upstream_model: "che\"ap", price: {input: "1", output: "2"}}]}
  - {id: acme/thinker, capabilities: [reasoning], endpoints: [{provider: toll, upstream_model: thinker, price: {input: "0.1", output: "0.1"}}]}
  - {id: acme/unpriced, endpoints: [{provider: toll, upstream_model: unpriced}]}
  - {id: acme/vector, output_modalities: [embedding], endpoints: [{provider: vectors, upstream_model: vector, surfaces: [embeddings]}]}
  - {id: acme/voice, output_modalities: [audio], endpoints: [{provider: voices, upstream_model: voice, surfaces: [speech]}]}
`, base, base, base)
}

func TestWhatAnAnswerSaysOfTheKey(t *testing.T) {
	page := "<html>canary</html>"
	for name, c := range map[string]struct {
		status int
		kind   string // Content-Type; "" is JSON
		body   string
		want   wire.CheckStatus
	}{
		"good":                  {200, "", `{"choices":[],"error":null}`, wire.CheckValid},
		"a list":                {200, "", `[]`, wire.CheckValid},
		"401":                   {401, "", `{"error":{"message":"canary"}}`, wire.CheckInvalid},
		"403":                   {403, "", `{"error":{"message":"canary may not"}}`, wire.CheckForbidden},
		"403 of a stranger":     {403, "", `{"error":{"message":"Invalid API key: canary","code":"invalid_api_key"}}`, wire.CheckInvalid},
		"403 for where we are":  {403, "", `{"error":{"message":"Country, region, or territory not supported"}}`, wire.CheckForbidden},
		"402":                   {402, "", `{"error":{"message":"canary"}}`, wire.CheckNoCredit},
		"429":                   {429, "", `{"error":{"message":"canary"}}`, wire.CheckRateLimited},
		"429 for want of money": {429, "", `{"error":{"message":"canary","code":"insufficient_quota"}}`, wire.CheckNoCredit},
		"404":                   {404, "", `{"error":{"message":"no model canary"}}`, wire.CheckInconclusive},
		"400":                   {400, "", `{"error":{"message":"canary"}}`, wire.CheckInconclusive},
		"500":                   {500, "", `{"error":{"message":"canary"}}`, wire.CheckInconclusive},
		"529":                   {529, "", `{"error":{"message":"canary"}}`, wire.CheckInconclusive},
		"a page":                {200, "text/html", page, wire.CheckInconclusive},
		"a page as JSON":        {200, "", page, wire.CheckInconclusive},
		"a page with 502":       {502, "text/html", page, wire.CheckInconclusive},
		"nothing":               {204, "", "", wire.CheckInconclusive},
		"a number":              {200, "", `7`, wire.CheckInconclusive},
		"an error with 200":     {200, "", `{"error":{"message":"canary","code":"invalid_api_key"}}`, wire.CheckInvalid},
		"a failure with 200":    {200, "", `{"error":{"message":"canary"}}`, wire.CheckInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			r := toll(t, func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			reply := r.check(t, r.request("toll", "canary-key"))
			require.Equal(t, c.want, reply.Status)
			require.Equal(t, c.status, reply.HTTPStatus)
		})
	}
}

func TestARedirectIsNotFollowedWithTheKey(t *testing.T) {
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(elsewhere.Close)
	r := toll(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	reply := r.check(t, r.request("toll", "canary-key"))
	require.Equal(t, wire.CheckInconclusive, reply.Status)
	require.Equal(t, http.StatusTemporaryRedirect, reply.HTTPStatus)
	require.False(t, followed.Load())
}

func TestWhoDoesNotAnswerIsUnreachable(t *testing.T) {
	t.Run("silence", func(t *testing.T) {
		asked, gone := make(chan struct{}), make(chan struct{})
		r := toll(t, func(_ http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body)
			close(asked)
			<-q.Context().Done()
			close(gone)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		reply := r.checker.Check(ctx, r.request("toll", "canary-key"))
		require.Equal(t, wire.CheckUnreachable, reply.Status)
		require.Zero(t, reply.HTTPStatus)
		<-gone
	})
	t.Run("silence in the middle", func(t *testing.T) {
		begun := make(chan struct{})
		r := toll(t, func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":`)
			_ = http.NewResponseController(w).Flush()
			close(begun)
			<-q.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-begun; cancel() }()
		require.Equal(t, wire.CheckUnreachable, r.checker.Check(ctx, r.request("toll", "canary-key")).Status)
	})
	t.Run("nobody there", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		r := newRig(t, tollCatalog("http://"+listener.Addr().String()), nil)
		require.Equal(t, wire.CheckUnreachable, r.check(t, r.request("toll", "canary-key")).Status)
	})
}

func TestTheCheapestModelThatTheKeyIsForIsAsked(t *testing.T) {
	var body atomic.Value
	r := toll(t, func(w http.ResponseWriter, q *http.Request) {
		sent, _ := io.ReadAll(q.Body)
		body.Store(q.URL.Path + " " + string(sent))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	})
	ask := func(slug string, models ...string) (wire.CheckReply, any) {
		q := r.request(slug, "canary-key")
		q.Models = models
		reply := r.check(t, q)
		return reply, body.Swap("")
	}
	reply, sent := ask("toll")
	require.Equal(t, "acme/cheap", reply.Model)
	require.Equal(t, `/v1/chat/completions {"model":"che\"ap","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":1}`, sent)
	reply, _ = ask("toll", "acme/d*", "acme/unpriced")
	require.Equal(t, "acme/dear", reply.Model, "what has a price before what has none")
	reply, _ = ask("toll", "acme/thinker")
	require.Equal(t, "acme/thinker", reply.Model)
	reply, sent = ask("vectors")
	require.Equal(t, wire.CheckEmbedding, reply.Call)
	require.Equal(t, `/v1/embeddings {"model":"vector","input":"Hi"}`, sent)

	for slug, models := range map[string][]string{"toll": {"other/*"}, "voices": nil} {
		reply, _ = ask(slug, models...)
		require.Equal(t, wire.CheckReply{Trouble: wire.CheckNoModel}, reply)
	}
}

// A list that is for holders of a key is asked for where that is known by the
// host, and not by a name that an operator gives.
func TestAListIsTrustedOnlyWhereItIsClosed(t *testing.T) {
	var path atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		path.Store(q.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[]}`)
	}))
	t.Cleanup(server.Close)
	for base, want := range map[string]string{
		"http://api.groq.com/openai/v1": "/openai/v1/models",
		"http://openrouter.ai/api/v1":   "/api/v1/chat/completions",
		server.URL:                      "/chat/completions",
	} {
		r := newRig(t, tollCatalog(base), func(transport *http.Transport) {
			transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}
		})
		require.Equal(t, wire.CheckValid, r.check(t, r.request("toll", "canary-key")).Status)
		require.Equal(t, want, path.Load(), base)
	}
}

// failing is a Caller.
type failing struct{ failure *upstream.Failure }

func (f failing) Try(context.Context, upstream.Request) (upstream.Response, *upstream.Failure) {
	return upstream.Response{}, f.failure
}

// A token that could not be had says something of the credential only when the
// credential was what was refused.
func TestWhatAFailedExchangeSaysOfTheCredential(t *testing.T) {
	r := toll(t, func(http.ResponseWriter, *http.Request) { t.Error("nobody may be called") })
	over, _, err := catalog.Load(strings.NewReader(tollCatalog("http://127.0.0.1:1")), "test.yaml", nil)
	require.NoError(t, err)
	view, err := catalog.Compile(catalog.Merge(catalog.Catalog{Schema: catalog.Schema, Revision: 1}, over))
	require.NoError(t, err)
	for want, cause := range map[wire.CheckStatus]error{
		wire.CheckInvalid:     fmt.Errorf("canary: %w", upstream.ErrRefusedCredential),
		wire.CheckUnreachable: errors.New("canary"),
	} {
		checker := check.New(failing{upstream.Fail(upstream.CredentialFault, cause)}, offered{view}, time.Now)
		require.Equal(t, want, checker.Check(t.Context(), r.request("toll", "canary-key")).Status)
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	r := toll(t, func(http.ResponseWriter, *http.Request) { t.Error("nobody may be called") })
	q := r.request("toll", "canary-key")
	other := q
	other.Workspace = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000002")
	require.Equal(t, wire.CheckReply{Trouble: wire.CheckNotOpened}, r.check(t, other), "another workspace's")
	other = q
	other.Provider = "vectors"
	require.Equal(t, wire.CheckReply{Trouble: wire.CheckNotOpened}, r.check(t, other), "another provider's")
	other.Provider = "canary-none"
	require.Equal(t, wire.CheckReply{Trouble: wire.CheckNoProvider}, r.check(t, other))
	for _, off := range []string{"disabled: true", "keyless: true"} {
		without := newRig(t, strings.Replace(tollCatalog("http://127.0.0.1:1"), "slug: toll,", "slug: toll, "+off+",", 1), nil)
		require.Equal(t, wire.CheckReply{Trouble: wire.CheckNoProvider}, without.check(t, without.request("toll", "canary-key")), off)
	}
	require.Equal(t, wire.CheckReply{Trouble: wire.CheckNotReady}, check.New(nil, offered{}, time.Now).Check(t.Context(), q))
	require.Equal(t, wire.CheckInvalid, r.check(t, r.request("toll", "two\nlines")).Status, "not of the form that the provider takes")
}
