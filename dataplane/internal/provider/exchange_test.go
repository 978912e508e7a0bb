package provider_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// issuer is a token endpoint. Each answer is token-1, token-2 and so on, good
// for an hour, unless status says otherwise.
type issuer struct {
	url    string
	asked  atomic.Int32
	status atomic.Int32          // 0 is 200
	hold   chan struct{}         // when set, each answer waits for a value
	seen   func(r *http.Request) // when set, sees each request with its form
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	i.url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := i.asked.Add(1)
		_ = r.ParseForm()
		if i.seen != nil {
			i.seen(r)
		}
		if i.hold != nil {
			select {
			case <-i.hold:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if status := i.status.Load(); status != 0 {
			w.Header().Set("Location", i.url+"/elsewhere")
			w.WriteHeader(int(status))
			_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"canary"}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600,"token_type":"Bearer"}`, n)
	})
	return i
}

// clock is read by the client while tests move it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var accountKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func serviceAccount(t *testing.T, tokenURI string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(accountKey())
	require.NoError(t, err)
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p-1", "client_email": "gw@p-1.iam.gserviceaccount.com", "private_key_id": "kid-1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURI,
	})
	require.NoError(t, err)
	return string(text)
}

// vertexAt is a call to a Vertex that takes any token.
func vertexAt(url, credential string) upstream.Request {
	return upstream.Request{Provider: at(catalog.Vertex, url, credential), Path: "/x", Body: upstream.Bytes([]byte(`{}`))}
}

func TestServiceAccount(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	i.seen = func(r *http.Request) {
		require.Equal(t, "urn:ietf:params:oauth:grant-type:jwt-bearer", r.Form.Get("grant_type"))
		parts := strings.Split(r.Form.Get("assertion"), ".")
		require.Len(t, parts, 3)
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		require.NoError(t, err)
		var c struct{ Iss, Scope, Aud string }
		require.NoError(t, json.Unmarshal(claims, &c))
		require.Equal(t, "gw@p-1.iam.gserviceaccount.com", c.Iss)
		require.Equal(t, "https://www.googleapis.com/auth/cloud-platform", c.Scope)
		require.Equal(t, i.url, c.Aud)
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		signature, err := base64.RawURLEncoding.DecodeString(parts[2])
		require.NoError(t, err)
		require.NoError(t, rsa.VerifyPKCS1v15(&accountKey().PublicKey, crypto.SHA256, sum[:], signature))
	}
	c := newClient(t, provider.Options{Now: newClock().now})
	for range 3 {
		got := e.call(t, c, vertexAt(e.url, serviceAccount(t, i.url)))
		require.Equal(t, "Bearer token-1", got.Header.Get("Authorization"))
	}
	require.EqualValues(t, 1, i.asked.Load())
}

func TestEntraApplication(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	i.seen = func(r *http.Request) {
		require.Equal(t, "client_credentials", r.Form.Get("grant_type"))
		require.Equal(t, "app", r.Form.Get("client_id"))
		require.Equal(t, "s3cret", r.Form.Get("client_secret"))
		require.Equal(t, "https://cognitiveservices.azure.com/.default", r.Form.Get("scope"))
	}
	r := upstream.Request{
		Provider: at(catalog.Azure, e.url, `{"tenant_id":"t","client_id":"app","client_secret":"s3cret","token_uri":"`+i.url+`"}`),
		Path:     "/x", Body: upstream.Bytes([]byte(`{}`)),
	}
	got := e.call(t, newClient(t, provider.Options{}), r)
	require.Equal(t, "Bearer token-1", got.Header.Get("Authorization"))
	require.Empty(t, got.Header.Get("Api-Key"))
}

func TestMetadataServer(t *testing.T) {
	for name, credential := range map[string]string{"by its name": "metadata", "keyless": ""} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			var asked *http.Request
			host := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = r
				_, _ = io.WriteString(w, `{"access_token":"ya29.m","expires_in":3599,"token_type":"Bearer"}`)
			})
			t.Setenv("GCE_METADATA_HOST", strings.TrimSuffix(strings.TrimPrefix(host, "http://"), "/v1"))
			t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
			got := e.call(t, newClient(t, provider.Options{}), vertexAt(e.url, credential))
			require.Equal(t, "Bearer ya29.m", got.Header.Get("Authorization"))
			require.Equal(t, "/computeMetadata/v1/instance/service-accounts/default/token", asked.URL.Path)
			require.Equal(t, "https://www.googleapis.com/auth/cloud-platform", asked.URL.Query().Get("scopes"))
			require.Equal(t, "Google", asked.Header.Get("Metadata-Flavor"))
		})
	}
}

// Requests that come while there is no token wait for one fetch, all of them
// for the same.
func TestOneFetchForAll(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	i.hold = make(chan struct{})
	c := newClient(t, provider.Options{})
	r := vertexAt(e.url, serviceAccount(t, i.url))
	failures := make(chan *upstream.Failure)
	const callers = 20
	for range callers {
		go func() {
			response, failure := c.Call(context.Background(), r)
			if failure == nil {
				_ = response.Body.Close()
			}
			failures <- failure
		}()
	}
	i.hold <- struct{}{}
	for range callers {
		require.Nil(t, <-failures)
	}
	require.EqualValues(t, 1, i.asked.Load())
}

// A caller that leaves while a token is fetched takes nobody else along.
func TestACallerThatLeavesTheFetch(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	i.hold = make(chan struct{})
	c := newClient(t, provider.Options{})
	r := vertexAt(e.url, serviceAccount(t, i.url))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, failure := c.Call(ctx, r)
	require.Equal(t, upstream.CallerGone, failure.Class)
	go func() { i.hold <- struct{}{} }()
	require.Equal(t, "Bearer token-1", e.call(t, c, r).Header.Get("Authorization"))
	require.EqualValues(t, 1, i.asked.Load())
}

// Well before its end a token is renewed behind the requests' backs: while the
// fetch hangs they go on with the old one.
func TestRenewalInTheBackground(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	now := newClock()
	c := newClient(t, provider.Options{Now: now.now})
	r := vertexAt(e.url, serviceAccount(t, i.url))
	authorization := func() string { return e.call(t, c, r).Header.Get("Authorization") }
	require.Equal(t, "Bearer token-1", authorization())
	now.forward(44 * time.Minute)
	require.Equal(t, "Bearer token-1", authorization())
	require.EqualValues(t, 1, i.asked.Load(), "not yet")

	i.hold = make(chan struct{})
	now.forward(2 * time.Minute)
	for range 3 {
		require.Equal(t, "Bearer token-1", authorization(), "no request waits")
	}
	i.hold <- struct{}{} // the one fetch that runs
	require.Eventually(t, func() bool { return authorization() == "Bearer token-2" }, 5*time.Second, time.Millisecond)
	require.EqualValues(t, 2, i.asked.Load())
}

// A renewal that fails is nobody's concern while the token holds, and is tried
// again; after its end it is a fault of the credential.
func TestRenewalThatFails(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	now := newClock()
	c := newClient(t, provider.Options{Now: now.now})
	r := vertexAt(e.url, serviceAccount(t, i.url))
	require.Equal(t, "Bearer token-1", e.call(t, c, r).Header.Get("Authorization"))
	i.status.Store(http.StatusInternalServerError)
	now.forward(46 * time.Minute)
	require.Eventually(t, func() bool {
		require.Equal(t, "Bearer token-1", e.call(t, c, r).Header.Get("Authorization"))
		now.forward(time.Second)
		return i.asked.Load() >= 4
	}, 5*time.Second, time.Millisecond)
	now.forward(time.Hour)
	_, failure := c.Call(t.Context(), r)
	require.Equal(t, upstream.CredentialFault, failure.Class)
	i.status.Store(0)
	now.forward(time.Minute)
	require.True(t, strings.HasPrefix(e.call(t, c, r).Header.Get("Authorization"), "Bearer token-"))
}

func TestFetchThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		says   string
	}{
		"refused":  {http.StatusBadRequest, "status 400, invalid_grant"},
		"redirect": {http.StatusTemporaryRedirect, "status 307"},
		"down":     {http.StatusServiceUnavailable, "status 503"},
	} {
		t.Run(name, func(t *testing.T) {
			e, i := newEcho(t), newIssuer(t)
			i.status.Store(int32(c.status))
			now := newClock()
			client := newClient(t, provider.Options{Now: now.now})
			r := vertexAt(e.url, serviceAccount(t, i.url))
			for range 3 {
				_, failure := client.Call(t.Context(), r)
				require.Equal(t, upstream.CredentialFault, failure.Class)
				require.Contains(t, failure.Error(), c.says)
				require.NotContains(t, failure.Error(), "canary")
			}
			require.EqualValues(t, 1, i.asked.Load(), "a second passes before the next")
			require.Nil(t, e.last)
			i.status.Store(0)
			now.forward(time.Second)
			require.Equal(t, "Bearer token-2", e.call(t, client, r).Header.Get("Authorization"))
		})
	}
}

// A token that the provider refuses is dropped, once: a provider that refuses
// them all costs one fetch, not one a request.
func TestRefusedTokenIsDroppedOnce(t *testing.T) {
	i := newIssuer(t)
	var accept atomic.Value
	accept.Store("Bearer token-2")
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != accept.Load() {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = io.WriteString(w, "{}")
	})
	now := newClock()
	c := newClient(t, provider.Options{Now: now.now})
	r := vertexAt(url, serviceAccount(t, i.url))
	call := func() upstream.Class {
		response, failure := c.Call(t.Context(), r)
		if failure != nil {
			return failure.Class
		}
		require.NoError(t, response.Body.Close())
		return ""
	}
	require.Equal(t, upstream.CredentialRejected, call())
	require.Empty(t, call(), "the second token is good")
	require.EqualValues(t, 2, i.asked.Load())

	accept.Store("none")
	for range 5 {
		require.Equal(t, upstream.CredentialRejected, call())
	}
	require.EqualValues(t, 2, i.asked.Load(), "the one after a refused token stays")
	now.forward(2 * time.Hour) // its natural end
	for range 5 {
		require.Equal(t, upstream.CredentialRejected, call())
	}
	require.EqualValues(t, 4, i.asked.Load(), "and the next ones may be dropped once more")
}

// Close ends a fetch that hangs; goleak would find it.
func TestCloseEndsTheFetch(t *testing.T) {
	e, i := newEcho(t), newIssuer(t)
	i.hold = make(chan struct{})
	c := provider.New(&vault{}, provider.Options{})
	done := make(chan *upstream.Failure)
	r := vertexAt(e.url, serviceAccount(t, i.url))
	go func() {
		_, failure := c.Call(context.Background(), r)
		done <- failure
	}()
	require.Eventually(t, func() bool { return i.asked.Load() == 1 }, 5*time.Second, time.Millisecond)
	c.Close()
	require.Equal(t, upstream.CredentialFault, (<-done).Class)
	_, failure := c.Call(t.Context(), r)
	require.Equal(t, upstream.CredentialFault, failure.Class)
}
