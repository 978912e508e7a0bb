package simulator

import (
	"net/http"
	"strings"
)

// The credentials that the providers under a prefix accept: a key is good
// when it begins so, and different keys are different customers. Paths
// without a prefix accept any key, and none.
const (
	OpenAIKey    = "sk-sim-openai"
	AnthropicKey = "sk-ant-sim"
	GoogleKey    = "AIzaSim"
	AzureKey     = "azure-sim"
	BedrockKey   = "bedrock-api-key-sim" // as a bearer token

	// The one AWS account. The session token is optional.
	AWSAccessKeyID     = "AKIASIMULATED0000000"
	AWSSecretAccessKey = "simulated/secret+access/key"
	AWSSessionToken    = "simulated-session-token"
)

// credentialHeaders may carry a credential.
var credentialHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

// gatewayKeys are how the gateway's own keys begin. No provider may see one.
var gatewayKeys = []string{"sb_v1_", "sb_mk_v1_"}

// keyed is where each platform wants its key.
var keyed = map[platform]struct{ header, scheme, key string }{
	openAI:    {"Authorization", "Bearer ", OpenAIKey},
	anthropic: {"X-Api-Key", "", AnthropicKey},
	google:    {"X-Goog-Api-Key", "", GoogleKey},
	azure:     {"Api-Key", "", AzureKey},
}

// authorize looks at the credential, and at everything else that might be one.
func (x *exchange) authorize() *refusal {
	if leak := x.leak(); leak != nil || x.route.open {
		return leak
	}
	var sent []string
	for _, name := range credentialHeaders {
		if value := x.r.Header.Get(name); value != "" {
			sent = append(sent, name)
			x.owner += strings.TrimPrefix(value, "Bearer ")
		}
	}
	if len(sent) > 1 {
		return refuse("", "More than one credential was sent: %s.", strings.Join(sent, " and "))
	}
	if x.keyless {
		if len(sent) > 0 {
			return refuse("", "A credential was sent where none is needed: %s.", sent[0])
		}
		return nil
	}
	good := true
	switch x.platform {
	case bedrock:
		return x.authorizeAWS()
	case vertex:
		good = x.server.tokens.valid(bearer(x.r.Header), x.server.options.Now())
		x.owner = "" // tokens come and go, and are all of one project
	case compatible:
		good = x.server.options.Key == "" || x.owner == x.server.options.Key
	case openAI, anthropic, google, azure:
		want := keyed[x.platform]
		good = strings.HasPrefix(x.r.Header.Get(want.header), want.scheme+want.key)
		if x.platform == azure && !good { // Entra's tokens
			good = x.server.tokens.valid(bearer(x.r.Header), x.server.options.Now())
		}
	}
	switch {
	case good:
		return nil
	case x.platform == vertex:
		return &refusal{status: http.StatusUnauthorized, message: "Request had invalid authentication credentials. Expected OAuth 2 access token, " +
			"login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."}
	}
	e := x.format().worded(troubleAuth)
	return &e
}

// leak finds a key of the gateway's, and a key in the query.
func (x *exchange) leak() *refusal {
	texts := []string{x.r.URL.RawQuery}
	for _, values := range x.r.Header {
		texts = append(texts, values...)
	}
	for _, text := range texts {
		for _, begin := range gatewayKeys {
			if strings.Contains(text, begin) {
				return refuse("", "A credential of the gateway was forwarded.")
			}
		}
	}
	if query := x.r.URL.Query(); query.Has("key") || query.Has("access_token") {
		return refuse("", "A credential was sent in the query.")
	}
	return nil
}

func bearer(h http.Header) string {
	token, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return token
}
