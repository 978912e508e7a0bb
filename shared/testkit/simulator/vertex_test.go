package simulator_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

const vertexPath = "/as-vertex/v1/projects/simulated-project/locations/global/publishers/"

// assertion signs claims with the account's key.
func assertion(t *testing.T, account gjson.Result, head, claims string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(account.Get("private_key").Str))
	require.NotNil(t, block)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(head)) + "." + encode([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, sum[:])
	require.NoError(t, err)
	return text + "." + encode(signature)
}

func (r rig) token(grant string) (int, string) {
	body := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {grant}}.Encode()
	resp, text := r.do(http.MethodPost, "/as-vertex/token", header("Content-Type", "application/x-www-form-urlencoded"), body)
	return resp.StatusCode, text
}

func TestVertexTokens(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := start(t, simulator.Options{Now: func() time.Time { return now }, TokenLife: time.Minute})
	account := gjson.Parse(simulator.ServiceAccount(r.url + "/as-vertex/token"))
	head := `{"alg":"RS256","typ":"JWT","kid":"` + account.Get("private_key_id").Str + `"}`
	claims := fmt.Sprintf(`{"iss":%q,"scope":"https://www.googleapis.com/auth/cloud-platform","aud":%q,"iat":%d,"exp":%d}`,
		account.Get("client_email").Str, account.Get("token_uri").Str, now.Unix(), now.Unix()+3600)
	status, text := r.token(assertion(t, account, head, claims))
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, int64(60), gjson.Get(text, "expires_in").Int())
	h := header("Authorization", "Bearer "+gjson.Get(text, "access_token").Str)

	r.good(http.MethodPost, vertexPath+"google/models/gemini-sim:generateContent", h, geminiAsk)
	r.streamed(vertexPath+"google/models/gemini-sim:streamGenerateContent?alt=sse", h, geminiAsk)
	r.refused(vertexPath+"google/models/m:generateContent", nil, geminiAsk, 401, "UNAUTHENTICATED")
	r.refused(vertexPath+"google/models/m:generateContent", header("Authorization", "Bearer ya29.other"), geminiAsk, 401, "UNAUTHENTICATED")
	r.refused("/as-vertex/v1/publishers/google/models/m:generateContent", h, geminiAsk, 404, "NOT_FOUND")
	now = now.Add(2 * time.Minute)
	r.refused(vertexPath+"google/models/m:generateContent", h, geminiAsk, 401, "UNAUTHENTICATED")

	now = now.Add(-2 * time.Minute)
	r.sim.ExpireTokens()
	r.refused(vertexPath+"google/models/m:generateContent", h, geminiAsk, 401, "UNAUTHENTICATED")
	for name, c := range map[string]struct{ grant, words string }{
		"signature": {assertion(t, account, head, claims) + "x", "Invalid JWT Signature"},
		"audience":  {assertion(t, account, head, with(claims, "/token", "/other")), "audience"},
		"account":   {assertion(t, account, head, with(claims, "gateway@", "other@")), "account not found"},
		"key":       {assertion(t, account, with(head, "5151", "6161"), claims), "unknown kid"},
		"algorithm": {assertion(t, account, with(head, "RS256", "none"), claims), "RS256"},
		"time":      {assertion(t, account, head, with(claims, fmt.Sprint(now.Unix()+3600), fmt.Sprint(now.Unix()+7200))), "short-lived"},
		"scope":     {assertion(t, account, head, with(claims, "cloud-platform", "other")), "scope"},
		"no token":  {"x", "three parts"},
	} {
		status, text := r.token(c.grant)
		require.Equal(t, http.StatusBadRequest, status, name)
		require.Contains(t, text, c.words, name)
	}
}

func TestVertexMetadata(t *testing.T) {
	r := start(t, simulator.Options{})
	const path = "/as-vertex/computeMetadata/v1/instance/service-accounts/default/token"
	resp, _ := r.do(http.MethodGet, path, nil, "")
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
	token := r.good(http.MethodGet, path, header("Metadata-Flavor", "Google"), "").Get("access_token").Str
	h := header("Authorization", "Bearer "+token)

	const ask = `{"anthropic_version":"vertex-2023-10-16","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}`
	claude := vertexPath + "anthropic/models/claude-sim@20260101:"
	require.Equal(t, "claude-sim@20260101", r.good(http.MethodPost, claude+"rawPredict", h, ask).Get("model").Str)
	events := r.streamed(claude+"streamRawPredict", h, with(ask, `"max_tokens"`, `"stream":true,"max_tokens"`))
	require.Equal(t, "message_stop", events[len(events)-1].Get("type").Str)
	r.refused(claude+"rawPredict", h, with(ask, `"anthropic_version":"vertex-2023-10-16",`, ""), 400, "anthropic_version: Field required")
	r.refused(claude+"rawPredict", h, with(ask, `"max_tokens"`, `"model":"m","max_tokens"`), 400, "model: Extra inputs")
	r.refused(strings.Replace(claude, "anthropic", "google", 1)+"rawPredict", h, ask, 404, "not found")
	count := r.good(http.MethodPost, vertexPath+"anthropic/models/count-tokens:rawPredict", h,
		`{"anthropic_version":"vertex-2023-10-16","model":"claude-sim","messages":[{"role":"user","content":"hi"}]}`)
	require.Positive(t, count.Get("input_tokens").Int())
}
