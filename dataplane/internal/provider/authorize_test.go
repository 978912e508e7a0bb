package provider_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// at is the fake provider as one of a type, with a credential in clear.
func at(kind catalog.ProviderType, url, credential string) *catalog.Provider {
	p := north(url, credential)
	p.Type = kind
	return p
}

// echo keeps the last request and answers {}.
type echo struct {
	url string

	mu   sync.Mutex
	last *http.Request
	body string
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	e := &echo{}
	e.url = strings.TrimSuffix(serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.last, e.body = r, string(body)
		e.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}), "/v1")
	return e
}

func (e *echo) call(t *testing.T, c *provider.Client, r upstream.Request) *http.Request {
	t.Helper()
	response, failure := c.Call(t.Context(), r)
	if failure != nil {
		t.Fatalf("%v", failure)
	}
	require.NoError(t, response.Body.Close())
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// credentialHeaders are all those in which some provider takes a key.
var credentialHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Proxy-Authorization", "Cookie"}

// Each type has its credential in its header, and nothing of the caller's in
// any other: field cases H1 and H2.
func TestEachTypeTakesItsCredential(t *testing.T) {
	const jwt = "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln"
	for name, c := range map[string]struct {
		kind       catalog.ProviderType
		credential string
		header     string
		value      string
	}{
		"openai":              {catalog.OpenAI, "key-1", "Authorization", "Bearer key-1"},
		"openai-compatible":   {catalog.OpenAICompatible, "key-1", "Authorization", "Bearer key-1"},
		"a line behind it":    {catalog.OpenAI, "key-1\n", "Authorization", "Bearer key-1"},
		"keyless":             {catalog.OpenAICompatible, "", "", ""},
		"anthropic":           {catalog.Anthropic, "sk-ant-1", "X-Api-Key", "sk-ant-1"},
		"google":              {catalog.Google, "AIza1", "X-Goog-Api-Key", "AIza1"},
		"azure":               {catalog.Azure, "0123abcd", "Api-Key", "0123abcd"},
		"azure, Entra's":      {catalog.Azure, jwt, "Authorization", "Bearer " + jwt},
		"vertex, a token":     {catalog.Vertex, "ya29.abc", "Authorization", "Bearer ya29.abc"},
		"bedrock, an API key": {catalog.Bedrock, "ABSKabc=", "Authorization", "Bearer ABSKabc="},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			r := upstream.Request{Provider: at(c.kind, e.url, c.credential), Path: "/x", Body: upstream.Bytes([]byte(`{}`)), Header: http.Header{}}
			for _, h := range credentialHeaders {
				r.Header.Set(h, "canary")
			}
			got := e.call(t, newClient(t, provider.Options{}), r)
			for _, h := range credentialHeaders {
				want := ""
				if h == c.header {
					want = c.value
				}
				require.Equal(t, want, got.Header.Get(h), h)
			}
			require.Empty(t, got.URL.Query().Get("key"))
		})
	}
}

// What is no credential of the type is a fault of ours that names no secret,
// and nothing is sent.
func TestUnusableCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		kind       catalog.ProviderType
		credential string
	}{
		"two lines":                {catalog.OpenAI, "canary\r\nX-Evil: 1"},
		"blank":                    {catalog.Anthropic, " "},
		"a letter of no header":    {catalog.Google, "canary-é"},
		"azure, another account":   {catalog.Azure, `{"canary":"canary"}`},
		"vertex, not JSON":         {catalog.Vertex, `{"canary`},
		"vertex, a user's":         {catalog.Vertex, `{"type":"authorized_user","client_email":"a","private_key":"canary","token_uri":"https://x"}`},
		"vertex, external":         {catalog.Vertex, `{"type":"external_account","client_email":"a","private_key":"canary","token_uri":"https://x"}`},
		"vertex, in clear":         {catalog.Vertex, `{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"http://token.example/t"}`},
		"vertex, no token_uri":     {catalog.Vertex, `{"type":"service_account","client_email":"a","private_key":"canary"}`},
		"vertex, metadata by hand": {catalog.Vertex, `{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"http://169.254.169.254/x"}`},
		"vertex, user in the URL":  {catalog.Vertex, `{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"https://a:canary@x/t"}`},
		"vertex, no key":           {catalog.Vertex, `{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"https://x.example/t"}`},
		"azure, in clear":          {catalog.Azure, `{"tenant_id":"a","client_id":"b","client_secret":"canary","token_uri":"http://x.example"}`},
		"bedrock, half":            {catalog.Bedrock, `{"access_key_id":"canary"}`},
		"bedrock, no region":       {catalog.Bedrock, `{"access_key_id":"AKIA","secret_access_key":"canary"}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			r := upstream.Request{Provider: at(c.kind, e.url, c.credential), Path: "/x", Body: upstream.Bytes([]byte(`{}`))}
			_, failure := newClient(t, provider.Options{}).Call(t.Context(), r)
			require.NotNil(t, failure)
			require.Equal(t, upstream.CredentialFault, failure.Class)
			require.NotContains(t, failure.Error(), "canary")
			require.NotContains(t, failure.Fault.Message, "canary")
			require.Nil(t, e.last)
		})
	}
}

// A provider whose type or location changes with the same sealed credential
// is authorized anew.
func TestCredentialIsReadAnewForAnotherType(t *testing.T) {
	e := newEcho(t)
	c := newClient(t, provider.Options{})
	r := upstream.Request{Provider: at(catalog.OpenAI, e.url, "key-1"), Path: "/x", Body: upstream.Bytes([]byte(`{}`))}
	require.Equal(t, "Bearer key-1", e.call(t, c, r).Header.Get("Authorization"))
	r.Provider = at(catalog.Anthropic, e.url, "key-1")
	require.Equal(t, "key-1", e.call(t, c, r).Header.Get("X-Api-Key"))
}

func TestHeadersOfEachType(t *testing.T) {
	caller := http.Header{
		"Openai-Beta": {"assistants=v2"}, "Anthropic-Beta": {"a", "b"}, "Anthropic-Version": {"2023-01-01"},
		"Accept": {"application/json"}, "X-Custom": {"canary"},
	}
	for kind, want := range map[catalog.ProviderType][]string{
		catalog.OpenAI: {"Openai-Beta"}, catalog.OpenAICompatible: {"Openai-Beta"}, catalog.Azure: {"Openai-Beta"},
		catalog.Anthropic: {"Anthropic-Beta", "Anthropic-Version"}, catalog.Vertex: {"Anthropic-Beta"},
		catalog.Google: nil, catalog.Bedrock: nil,
	} {
		t.Run(string(kind), func(t *testing.T) {
			e := newEcho(t)
			r := upstream.Request{Provider: at(kind, e.url, "key-1"), Path: "/x", Body: upstream.Bytes([]byte(`{}`)), Header: caller}
			got := e.call(t, newClient(t, provider.Options{}), r)
			for _, name := range []string{"Openai-Beta", "Anthropic-Beta", "Anthropic-Version", "X-Custom"} {
				if slices.Contains(want, name) {
					require.Equal(t, caller[name], got.Header[name], "all values of %s", name)
				} else {
					require.NotContains(t, got.Header, name)
				}
			}
		})
	}
}

// What the format demands is laid over, and the body and kind of answer are
// called what they are.
func TestContentTypeAndAccept(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*upstream.Request)
		want   map[string]string
	}{
		"json":                {nil, map[string]string{"Content-Type": "application/json", "Accept": "application/json"}},
		"stream":              {func(r *upstream.Request) { r.Stream = true }, map[string]string{"Accept": "text/event-stream"}},
		"messages of Amazon":  {func(r *upstream.Request) { r.Stream, r.Framing = true, upstream.EventStream }, map[string]string{"Accept": "application/vnd.amazon.eventstream"}},
		"any kind":            {func(r *upstream.Request) { r.Opaque = true }, map[string]string{"Accept": "*/*"}},
		"the caller's accept": {func(r *upstream.Request) { r.Opaque, r.Header = true, http.Header{"Accept": {"audio/wav"}} }, map[string]string{"Accept": "audio/wav"}},
		"not for Amazon's": {func(r *upstream.Request) {
			r.Stream, r.Framing, r.Header = true, upstream.EventStream, http.Header{"Accept": {"application/json"}}
		}, map[string]string{"Accept": "application/vnd.amazon.eventstream"}},
		"multipart": {func(r *upstream.Request) {
			r.Type, r.Header = "multipart/form-data; boundary=xYz", http.Header{"Content-Type": {"multipart/form-data; boundary=other"}}
		}, map[string]string{"Content-Type": "multipart/form-data; boundary=xYz"}},
		"a form that was JSON": {
			func(r *upstream.Request) {
				r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
			},
			map[string]string{"Content-Type": "application/json"},
		},
		"set over all": {func(r *upstream.Request) {
			r.Header = http.Header{"Accept": {"a/b"}}
			r.Set = http.Header{"Anthropic-Version": {"2023-06-01"}, "Accept": {"c/d"}}
		}, map[string]string{"Anthropic-Version": "2023-06-01", "Accept": "c/d"}},
		"nothing to call": {func(r *upstream.Request) {
			r.Method, r.Body, r.Header = http.MethodGet, upstream.Body{}, http.Header{"Content-Type": {"application/json"}}
		}, map[string]string{"Content-Type": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			r := upstream.Request{Provider: at(catalog.OpenAI, e.url, "key-1"), Path: "/x", Body: upstream.Bytes([]byte(`{}`))}
			if c.change != nil {
				c.change(&r)
			}
			got := e.call(t, newClient(t, provider.Options{}), r)
			for name, value := range c.want {
				require.Equal(t, value, got.Header.Get(name), name)
			}
		})
	}
}

func TestMethodsPathsAndQueries(t *testing.T) {
	for name, c := range map[string]struct {
		kind   catalog.ProviderType
		base   string
		change func(*upstream.Request)
		want   string // method and request URI
	}{
		"post":   {catalog.OpenAI, "/v1", nil, "POST /v1/x"},
		"get":    {catalog.OpenAI, "/v1", func(r *upstream.Request) { r.Method, r.Body, r.Path = "GET", upstream.Body{}, "/files/f%2F1/content" }, "GET /v1/files/f%2F1/content"},
		"list":   {catalog.OpenAI, "/v1", func(r *upstream.Request) { r.Method, r.Body, r.Query = "GET", upstream.Body{}, "limit=2&after=a%20b" }, "GET /v1/x?limit=2&after=a%20b"},
		"delete": {catalog.OpenAI, "/v1", func(r *upstream.Request) { r.Method, r.Body = "DELETE", upstream.Body{} }, "DELETE /v1/x"},
		"cancel": {catalog.OpenAI, "/v1", func(r *upstream.Request) { r.Body = upstream.Body{} }, "POST /v1/x"},
		"azure":  {catalog.Azure, "", nil, "POST /openai/v1/x"},
		"azure, versions": {catalog.Azure, "", func(r *upstream.Request) {
			r.Provider.APIVersion, r.Path, r.Query = "2024-10-21", "/deployments/my%20gpt/chat/completions", "api-version=2024-10-21"
		}, "POST /openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"},
		"two queries": {catalog.OpenAI, "/v1?a=1", func(r *upstream.Request) { r.Query = "b=2" }, "POST /v1/x?a=1&b=2"},
		"gemini": {catalog.Google, "/v1beta", func(r *upstream.Request) {
			r.Path, r.Query = "/models/gemini-2.5-flash:streamGenerateContent", "alt=sse"
		}, "POST /v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		"vertex": {catalog.Vertex, "", func(r *upstream.Request) {
			r.Provider.Project, r.Region, r.Path = "p-1", "us-east5", "/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"
		}, "POST /v1/projects/p-1/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"},
		"bedrock": {catalog.Bedrock, "", func(r *upstream.Request) {
			r.Path = "/model/" + url.PathEscape("us.anthropic.claude-haiku-4-5-20251001-v1:0") + "/converse"
		}, "POST /model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse"},
		"bedrock, ARN": {catalog.Bedrock, "", func(r *upstream.Request) {
			r.Path = "/model/" + url.PathEscape("arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x-v1:0") + "/converse-stream"
		}, "POST /model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.x-v1%3A0/converse-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			r := upstream.Request{Provider: at(c.kind, e.url+c.base, "key-1"), Path: "/x", Body: upstream.Bytes([]byte(`{}`))}
			if c.change != nil {
				c.change(&r)
			}
			client := newClient(t, provider.Options{})
			for range 2 { // made, and remembered
				got := e.call(t, client, r)
				require.Equal(t, c.want, got.Method+" "+got.RequestURI)
				require.Equal(t, max(r.Body.Len(), 0), got.ContentLength)
				require.Empty(t, got.TransferEncoding)
			}
		})
	}
}

// The object that a path names may be the caller's text.
func TestPathsThatLeadAstray(t *testing.T) {
	e := newEcho(t)
	c := newClient(t, provider.Options{})
	for _, path := range []string{"/files/../models", "/files/%2e%2e/x", "/./x", "/files/..", "x", "", "/%zz", "/files/%2E."} {
		r := upstream.Request{Provider: at(catalog.OpenAI, e.url+"/v1", "key-1"), Path: path, Method: http.MethodGet}
		_, failure := c.Call(t.Context(), r)
		require.NotNil(t, failure, path)
		require.Equal(t, upstream.Internal, failure.Class)
	}
	require.Nil(t, e.last)
	r := upstream.Request{Provider: at(catalog.Vertex, "", "key-1"), Path: "/x"}
	_, failure := c.Call(t.Context(), r)
	require.Equal(t, upstream.Internal, failure.Class, "decide lets no endpoint without an address pass")
}

func TestReturnedHeaders(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	for name, c := range map[string]struct{ given, want http.Header }{
		"audio":             {http.Header{"Content-Type": {"audio/mpeg"}, "X-Ratelimit-Limit": {"1"}, "Set-Cookie": {"a=b"}}, http.Header{"Content-Type": {"audio/mpeg"}}},
		"a file":            {http.Header{"Content-Type": {"text/html"}, "Content-Disposition": {`attachment; filename="a.html"`}}, http.Header{"Content-Type": {"text/html"}, "Content-Disposition": {`attachment; filename="a.html"`}}},
		"a wait":            {http.Header{"Content-Type": {"a/b"}, "Retry-After": {"7"}}, http.Header{"Content-Type": {"a/b"}, "Retry-After": {"7"}}},
		"a wait by date":    {http.Header{"Content-Type": {"a/b"}, "Retry-After": {"Fri, 02 Jan 2026 03:04:35 GMT"}}, http.Header{"Content-Type": {"a/b"}, "Retry-After": {"30"}}},
		"a wait that is no": {http.Header{"Content-Type": {"a/b"}, "Retry-After": {"later; canary"}}, http.Header{"Content-Type": {"a/b"}}},
		"a long one":        {http.Header{"Content-Type": {"a/b"}, "Content-Disposition": {strings.Repeat("x", 2000)}}, http.Header{"Content-Type": {"a/b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range c.given {
					w.Header()[name] = values
				}
				_, _ = io.WriteString(w, "bytes")
			})
			r := upstream.Request{Provider: at(catalog.OpenAI, url, "key-1"), Path: "/files/1/content", Method: http.MethodGet, Opaque: true}
			response, failure := newClient(t, provider.Options{Now: now}).Call(t.Context(), r)
			require.Nil(t, failure)
			require.NoError(t, response.Body.Close())
			require.Equal(t, c.want, response.Header)
		})
	}
}

// The signature is computed here a second time, as AWS documents it:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func TestAWSSignature(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	for name, c := range map[string]struct {
		account string
		region  string
		change  func(*catalog.Provider)
		signs   string
		token   string
	}{
		"the endpoint's region":  {`{"access_key_id":"AKID","secret_access_key":"s3cret","region":"ap-south-1"}`, "us-west-2", nil, "us-west-2", ""},
		"of a geography":         {`{"access_key_id":"AKID","secret_access_key":"s3cret"}`, "eu", nil, "eu-central-1", ""},
		"the provider's":         {`{"access_key_id":"AKID","secret_access_key":"s3cret","region":"ap-south-1"}`, "", func(p *catalog.Provider) { p.Location = "eu-north-1" }, "eu-north-1", ""},
		"the credential's":       {`{"access_key_id":"AKID","secret_access_key":"s3cret","region":"ap-south-1"}`, "", nil, "ap-south-1", ""},
		"with a session's token": {`{"access_key_id":"AKID","secret_access_key":"s3cret","session_token":"t0ken"}`, "us-east-1", nil, "us-east-1", "t0ken"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			p := at(catalog.Bedrock, e.url, c.account)
			if c.change != nil {
				c.change(p)
			}
			r := upstream.Request{
				Provider: p, Region: c.region, Path: "/model/" + url.PathEscape("a.b-v1:0") + "/converse", Query: "b=2&a=1",
				Body:   upstream.Pieces(nil, []byte(`{"messages":`), []byte(`[]}`)),
				Header: http.Header{"Authorization": {"canary"}, "X-Amz-Security-Token": {"canary"}},
			}
			client := newClient(t, provider.Options{Now: now})
			for range 2 {
				got := e.call(t, client, r)
				require.Equal(t, c.token, got.Header.Get("X-Amz-Security-Token"))
				require.Equal(t, "20260102T030405Z", got.Header.Get("X-Amz-Date"))
				require.JSONEq(t, `{"messages":[]}`, e.body)
				require.Equal(t, signature(t, got, e.body, c.signs, "s3cret"), got.Header.Get("Authorization"))
			}
		})
	}
}

func signature(t *testing.T, r *http.Request, body, region, key string) string {
	t.Helper()
	_, list, ok := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, ",")
	names := strings.Split(list, ";")
	require.Subset(t, names, []string{"content-length", "content-type", "host", "x-amz-date"})
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers.WriteString(name + ":" + value + "\n")
	}
	hash := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }
	mac := func(k []byte, s string) []byte {
		h := hmac.New(sha256.New, k)
		h.Write([]byte(s))
		return h.Sum(nil)
	}
	query := strings.Split(r.URL.RawQuery, "&")
	slices.Sort(query)
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25") // every escape once more, for all services but S3
	canonical := strings.Join([]string{r.Method, path, strings.Join(query, "&"), headers.String(), list, hash(body)}, "\n")
	scope := "20260102/" + region + "/bedrock/aws4_request"
	toSign := "AWS4-HMAC-SHA256\n20260102T030405Z\n" + scope + "\n" + hash(canonical)
	signing := []byte("AWS4" + key)
	for _, part := range strings.Split(scope, "/") {
		signing = mac(signing, part)
	}
	return "AWS4-HMAC-SHA256 Credential=AKID/" + scope + ", SignedHeaders=" + list + ", Signature=" + hex.EncodeToString(mac(signing, toSign))
}
