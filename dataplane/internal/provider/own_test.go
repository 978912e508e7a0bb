package provider_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/rotation"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

var (
	ourWorkspace   = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001")
	otherWorkspace = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000002")
	ownID          = id.MustParse[id.CredentialKind]("byok_00000000000000000000000001")
)

// countingRing is a keyring that counts what it opens.
type countingRing struct {
	*seal.Keyring
	opened atomic.Int32
}

func (r *countingRing) Open(sealed secret.Sealed, ad ...string) (secret.String, error) {
	r.opened.Add(1)
	return r.Keyring.Open(sealed, ad...)
}

func newRing(t *testing.T) *countingRing {
	t.Helper()
	ring, err := seal.New()
	require.NoError(t, err)
	return &countingRing{Keyring: ring}
}

// view is a workspace's policy at a revision with one credential for north, or
// none when there is no key.
func (r *countingRing) view(t *testing.T, ws id.Workspace, revision int64, key string) *policy.View {
	t.Helper()
	s := policy.Snapshot{Schema: policy.Schema, Workspace: ws, Revision: revision}
	if key != "" {
		sealed, err := r.Seal(secret.NewString(key), policy.CredentialBinding(ws, "north")...)
		require.NoError(t, err)
		s.Credentials = []policy.Credential{{ID: ownID, Provider: "north", Use: policy.UsePriority, Sealed: sealed}}
	}
	return frozen(t, s)
}

func frozen(t *testing.T, s policy.Snapshot) *policy.View {
	t.Helper()
	v, err := policy.Compile(s)
	require.NoError(t, err)
	return v
}

// with has a request use the view's credential for north.
func with(r upstream.Request, v *policy.View) upstream.Request {
	own := v.Credentials("north")[0]
	r.Credential = decide.CredentialUse{Source: decide.CredentialBYOK, ID: own.ID, Own: own}
	return r
}

func ringClient(t *testing.T, ring *countingRing) *provider.Client {
	t.Helper()
	c := provider.New(ring, provider.Options{})
	t.Cleanup(c.Close)
	return c
}

// authorizations answers every call and keeps what it was authorized with.
func authorizations(t *testing.T) (url string, got func() string) {
	t.Helper()
	var last atomic.Value
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		last.Store(r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "{}")
	})
	return url, func() string { return last.Swap("").(string) }
}

func calling(t *testing.T, c *provider.Client, r upstream.Request) *upstream.Failure {
	t.Helper()
	response, failure := c.Call(t.Context(), r)
	if failure == nil {
		require.NoError(t, response.Body.Close())
	}
	return failure
}

func TestOwnCredentialsAreUsedAndKeptOpen(t *testing.T) {
	ring := newRing(t)
	client := ringClient(t, ring)
	url, got := authorizations(t)
	v := ring.view(t, ourWorkspace, 1, "ours-12345678")
	for range 3 {
		require.Nil(t, calling(t, client, with(request(url), v)))
		require.Equal(t, "Bearer ours-12345678", got())
	}
	require.EqualValues(t, 1, ring.opened.Load())

	// The next revision with the same ciphertext opens nothing; a new one does.
	next := frozen(t, policy.Snapshot{Schema: policy.Schema, Workspace: ourWorkspace, Revision: 2, Credentials: []policy.Credential{v.Credentials("north")[0].Credential}})
	client.Retain(next)
	require.Nil(t, calling(t, client, with(request(url), next)))
	require.EqualValues(t, 1, ring.opened.Load())
	replaced := ring.view(t, ourWorkspace, 3, "renewed-12345678")
	client.Retain(replaced)
	require.Nil(t, calling(t, client, with(request(url), replaced)))
	require.Equal(t, "Bearer renewed-12345678", got())
	require.EqualValues(t, 2, ring.opened.Load())
}

// What a newer policy has no more is forgotten, and a request that still has
// the older one does not bring it back for good.
func TestOwnCredentialsAreForgottenWithTheRevision(t *testing.T) {
	ring := newRing(t)
	client := ringClient(t, ring)
	url, _ := authorizations(t)
	old, other := ring.view(t, ourWorkspace, 1, "ours-12345678"), ring.view(t, otherWorkspace, 1, "theirs-12345678")
	require.Nil(t, calling(t, client, with(request(url), old)))
	require.Nil(t, calling(t, client, with(request(url), other)))
	client.Retain(ring.view(t, ourWorkspace, 2, ""))
	require.EqualValues(t, 2, ring.opened.Load())
	for n := range int32(2) {
		require.Nil(t, calling(t, client, with(request(url), old)), "a request keeps its revision")
		require.Equal(t, 3+n, ring.opened.Load(), "and what it opens is not kept")
	}
	require.Nil(t, calling(t, client, with(request(url), other)), "another workspace's stays open")
	require.EqualValues(t, 4, ring.opened.Load())
	client.Forget(otherWorkspace)
	require.Nil(t, calling(t, client, with(request(url), other)))
	require.EqualValues(t, 5, ring.opened.Load())
}

// A credential that is not what its snapshot says opens nowhere, is replaced by
// nothing, and is told of without its text.
func TestOwnCredentialsThatCannotBeUsed(t *testing.T) {
	ring := newRing(t)
	stranger := newRing(t)
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	moved := func(ws id.Workspace, provider string, sealed secret.Sealed) *policy.View {
		return frozen(t, policy.Snapshot{Schema: policy.Schema, Workspace: ws, Revision: 1, Credentials: []policy.Credential{
			{ID: ownID, Provider: provider, Use: policy.UsePriority, Sealed: sealed},
		}})
	}
	good := ring.view(t, ourWorkspace, 1, "canary-12345678").Credentials("north")[0].Sealed
	bound := func(provider, key string) secret.Sealed {
		sealed, err := ring.Seal(secret.NewString(key), policy.CredentialBinding(ourWorkspace, provider)...)
		require.NoError(t, err)
		return sealed
	}
	managed, err := ring.Seal(secret.NewString("canary-12345678"), "platform", "north")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		view     *policy.View
		provider string
		kind     catalog.ProviderType
	}{
		"another workspace":     {moved(otherWorkspace, "north", good), "north", catalog.OpenAI},
		"another provider":      {moved(ourWorkspace, "south", good), "south", catalog.OpenAI},
		"another keyring":       {stranger.view(t, ourWorkspace, 1, "canary-12345678"), "north", catalog.OpenAI},
		"the platform's":        {moved(ourWorkspace, "north", managed), "north", catalog.OpenAI},
		"changed":               {moved(ourWorkspace, "north", append(secret.Sealed{9}, good[1:]...)), "north", catalog.OpenAI},
		"the machine's account": {moved(ourWorkspace, "north", bound("north", "metadata")), "north", catalog.Vertex},
		"its own exchange": {moved(ourWorkspace, "north", bound("north",
			`{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"https://canary.example/t"}`)), "north", catalog.Vertex},
		"no key": {moved(ourWorkspace, "north", bound("north", "two canary\r\nlines")), "north", catalog.OpenAI},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(url)
			r.Provider.Slug, r.Provider.Type = c.provider, c.kind
			own := c.view.Credentials(c.provider)[0]
			r.Credential = decide.CredentialUse{Source: decide.CredentialBYOK, ID: own.ID, Own: own}
			failure := calling(t, ringClient(t, ring), r)
			require.NotNil(t, failure)
			require.Equal(t, upstream.CredentialFault, failure.Class)
			require.NotContains(t, fmt.Sprintf("%v %+v %v", failure.Error(), failure, failure.Fault), "canary")
		})
	}
	r := with(request(url), ring.view(t, ourWorkspace, 1, "canary-12345678"))
	r.Provider.Slug = "south"
	require.Equal(t, upstream.CredentialFault, calling(t, ringClient(t, ring), r).Class, "the plan is for another provider")
}

// An account of Google calls the models of its own project, not the operator's.
func TestAnOwnAccountCallsItsOwnProject(t *testing.T) {
	ring := newRing(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "theirs-1", "client_email": "a@theirs-1", "token_uri": "https://oauth2.googleapis.com/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	p := &catalog.Provider{Slug: "north", Type: catalog.Vertex, Project: "operators", Location: "us-east5"}
	var asked []string
	client := provider.New(ring, provider.Options{Adjust: func(tr *http.Transport) {
		tr.RegisterProtocol("https", roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Host+r.URL.Path+" "+r.Header.Get("Authorization"))
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1, Request: r,
				Body: io.NopCloser(strings.NewReader(`{"access_token":"t-1","token_type":"Bearer","expires_in":3600}`)),
			}, nil
		}))
	}})
	t.Cleanup(client.Close)
	v := ring.view(t, ourWorkspace, 1, string(text))
	require.Nil(t, calling(t, client, with(upstream.Request{Provider: p, Path: "/publishers/google/models/x:predict", Body: upstream.Bytes([]byte(`{}`))}, v)))
	require.Equal(t, []string{
		"oauth2.googleapis.com/token ",
		"us-east5-aiplatform.googleapis.com/v1/projects/theirs-1/locations/us-east5/publishers/google/models/x:predict Bearer t-1",
	}, asked)
	require.Equal(t, "operators", p.Project, "the catalog's provider is everybody's")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A credential that a key sealed which has not come yet fails, says which key,
// and works as soon as the key is there: nothing has to be published again.
func TestACredentialOfAKeyThatIsStillToCome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keyring.json")
	first, err := seal.CreateFile(file)
	require.NoError(t, err)
	again := make(chan os.Signal)
	ring, err := rotation.Open(file, rotation.Options{Log: slog.New(slog.DiscardHandler), Again: again})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); ring.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	client := provider.New(ring, provider.Options{})
	t.Cleanup(client.Close)
	url, got := authorizations(t)

	rotated, err := first.Rotate()
	require.NoError(t, err)
	promoted := &countingRing{Keyring: rotated}
	v := promoted.view(t, ourWorkspace, 1, "ours-12345678")
	managed, err := rotated.Seal(secret.NewString("managed-12345678"), policy.PlatformBinding("north")...)
	require.NoError(t, err)
	platforms := request(url)
	platforms.Provider.Credential = managed
	for _, r := range []upstream.Request{with(request(url), v), platforms} {
		failure := calling(t, client, r)
		require.NotNil(t, failure)
		require.Equal(t, upstream.CredentialFault, failure.Class)
		require.ErrorIs(t, failure, seal.ErrUnknownKey)
		require.ErrorContains(t, failure, fmt.Sprint(rotated.PrimaryID()))
		require.NotContains(t, failure.Fault.Message, fmt.Sprint(rotated.PrimaryID()), "it is for the log")
	}
	require.NoError(t, rotated.WriteFile(file))
	again <- syscall.SIGHUP
	again <- syscall.SIGHUP // taken when the file has been looked at
	require.Nil(t, calling(t, client, with(request(url), v)))
	require.Equal(t, "Bearer ours-12345678", got())
	require.Nil(t, calling(t, client, platforms))
	require.Equal(t, "Bearer managed-12345678", got())
}

// What is tried is not kept: the same credential is opened again each time.
func TestATriedCredentialIsForgotten(t *testing.T) {
	ring := newRing(t)
	client := ringClient(t, ring)
	url, got := authorizations(t)
	v := ring.view(t, ourWorkspace, 1, "ours-12345678")
	for n := range 3 {
		response, failure := client.Try(t.Context(), with(request(url), v))
		require.Nil(t, failure)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "Bearer ours-12345678", got())
		require.EqualValues(t, n+1, ring.opened.Load())
	}
	foreign := with(request(url), v)
	foreign.Provider.Slug = "south"
	_, failure := client.Try(t.Context(), foreign)
	require.NotNil(t, failure)
	require.Equal(t, upstream.CredentialFault, failure.Class)
}
