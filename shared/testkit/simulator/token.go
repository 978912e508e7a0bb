package simulator

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// The names of the one service account and its project.
const (
	GoogleProject  = "simulated-project"
	serviceAccount = "gateway@simulated-project.iam.gserviceaccount.com"
	serviceKeyID   = "5151515151515151515151515151515151515151"
	cloudPlatform  = "https://www.googleapis.com/auth/cloud-platform"
)

// serviceKey is the account's key, made once in a process.
var serviceKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // the system has no randomness
	}
	return key
})

// ServiceAccount returns the JSON key file of the service account whose
// assertions every Server of this process accepts. The token URL is that of
// the Server, such as http://HOST/as-vertex/token.
func ServiceAccount(tokenURL string) string {
	der, err := x509.MarshalPKCS8PrivateKey(serviceKey())
	if err != nil {
		panic(err) // an RSA key always encodes
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return string(obj("type", "service_account", "project_id", GoogleProject, "private_key_id", serviceKeyID,
		"private_key", string(private), "client_email", serviceAccount, "client_id", "100000000000000000001",
		"auth_uri", "https://accounts.google.com/o/oauth2/auth", "token_uri", tokenURL, "universe_domain", "googleapis.com"))
}

// tokens are the access tokens that were given out.
type tokens struct {
	mu    sync.Mutex
	until map[string]time.Time
	count int
}

// maxTokens bounds what is remembered; then all of it is forgotten.
const maxTokens = 1024

func (t *tokens) issue(until time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until == nil || len(t.until) >= maxTokens {
		t.until = map[string]time.Time{}
	}
	t.count++
	token := "ya29.simulated-" + itoa(t.count)
	t.until[token] = until
	return token
}

func (t *tokens) valid(token string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.until[token])
}

// ExpireTokens makes every access token that was given out invalid.
func (s *Server) ExpireTokens() {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	clear(s.tokens.until)
}

func tokenRoutes() []route {
	on := []platform{vertex, azure}
	const metadata = "/computeMetadata/v1"
	return []route{
		{method: http.MethodPost, path: "/token", format: oauthFormat{}, body: rawBody, serve: (*exchange).exchangeAssertion, on: on, open: true},
		{method: http.MethodGet, path: metadata + "/instance/service-accounts/default/token", format: oauthFormat{}, serve: (*exchange).metadataToken, on: on, open: true},
		{method: http.MethodGet, path: metadata + "/project/project-id", format: oauthFormat{}, serve: (*exchange).metadataProject, on: on, open: true},
	}
}

// oauthFormat is that of RFC 6749, section 5.2.
type oauthFormat struct{ chatFormat }

func (oauthFormat) knows(*exchange) map[string]bool { return nil }

func (oauthFormat) failure(e refusal) json.RawMessage {
	code := e.code
	if code == "" {
		code = "invalid_request"
	}
	return obj("error", code, "error_description", e.message)
}

// exchangeAssertion gives a token for a signed assertion (RFC 7523;
// https://developers.google.com/identity/protocols/oauth2/service-account).
func (x *exchange) exchangeAssertion() {
	form, err := url.ParseQuery(string(x.body))
	switch {
	case err != nil || !strings.HasPrefix(x.r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		x.refuse(refuse("", "The body is not a form."))
	case form.Get("grant_type") == "client_credentials":
		x.exchangeSecret(form)
	case form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
		x.refuse(&refusal{status: 400, code: "unsupported_grant_type", message: "Invalid grant_type: " + form.Get("grant_type")})
	default:
		if problem := x.assertionProblem(form.Get("assertion")); problem != "" {
			x.refuse(&refusal{status: 400, code: "invalid_grant", message: problem})
			return
		}
		x.giveToken()
	}
}

// The application that Azure knows.
const (
	EntraTenant = "00000000-0000-4000-8000-0000000000aa"
	EntraClient = "00000000-0000-4000-8000-0000000000bb"
	EntraSecret = "simulated-client-secret"
)

// exchangeSecret is Entra's client credentials
// (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
func (x *exchange) exchangeSecret(form url.Values) {
	switch {
	case form.Get("client_id") != EntraClient || form.Get("client_secret") != EntraSecret:
		x.refuse(&refusal{status: 401, code: "invalid_client", message: "AADSTS7000215: Invalid client secret provided."})
	case !strings.HasSuffix(form.Get("scope"), "/.default"):
		x.refuse(&refusal{status: 400, code: "invalid_scope", message: "AADSTS1002012: The provided value for scope is not valid."})
	default:
		x.giveToken()
	}
}

func (x *exchange) giveToken() {
	life := x.server.options.TokenLife
	token := x.server.tokens.issue(x.server.options.Now().Add(life))
	x.plain(obj("access_token", token, "expires_in", int(life.Seconds()), "token_type", "Bearer"))
}

// assertionProblem says what is wrong with a JWT, or "".
func (x *exchange) assertionProblem(assertion string) string {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return "Invalid JWT: it must have three parts."
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return "Invalid JWT: not base64url."
		}
	}
	header, claims := gjson.ParseBytes(raw[0]), gjson.ParseBytes(raw[1])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	now, issued, expires := x.server.options.Now().Unix(), claims.Get("iat").Int(), claims.Get("exp").Int()
	const skew = 300
	switch {
	case header.Get("alg").Str != "RS256":
		return "Invalid JWT: alg must be RS256."
	case header.Get("kid").Exists() && header.Get("kid").Str != serviceKeyID:
		return "Invalid JWT: unknown kid."
	case claims.Get("iss").Str != serviceAccount:
		return "Invalid grant: account not found"
	case rsa.VerifyPKCS1v15(&serviceKey().PublicKey, crypto.SHA256, sum[:], raw[2]) != nil:
		return "Invalid JWT Signature."
	case !strings.HasSuffix(claims.Get("aud").Str, x.r.Host+x.r.URL.Path):
		return "Invalid JWT: Failed audience check."
	case issued > now+skew || expires <= now-skew || expires-issued > 3600:
		return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
	case !strings.Contains(claims.Get("scope").Str, cloudPlatform):
		return "Invalid OAuth scope or ID token audience provided."
	}
	return ""
}

// metadataToken is the metadata server of a virtual machine
// (https://cloud.google.com/compute/docs/metadata/querying-metadata).
func (x *exchange) metadataToken() {
	if x.flavored() {
		x.giveToken()
	}
}

func (x *exchange) metadataProject() {
	if x.flavored() {
		x.whole("application/text", []byte(GoogleProject))
	}
}

func (x *exchange) flavored() bool {
	x.w.Header().Set("Metadata-Flavor", "Google")
	if x.r.Header.Get("Metadata-Flavor") != "Google" {
		x.refuse(&refusal{status: http.StatusForbidden, message: "Missing required header: Metadata-Flavor"})
		return false
	}
	return true
}
