package account

import "github.com/signalbox-dev/signalbox/shared/catalog"

// MaxBytes is the longest credential; the JSON of a service account has 2400.
const MaxBytes = 8192

// Forms says what providers of a type take, for the person who gave something
// else.
func Forms(kind catalog.ProviderType) string { return forms[kind] }

var forms = map[catalog.ProviderType]string{
	catalog.OpenAI: "a key", catalog.OpenAICompatible: "a key", catalog.Anthropic: "a key", catalog.Google: "a key",
	catalog.Azure:   `a key, or {"tenant_id","client_id","client_secret"}`,
	catalog.Bedrock: `an API key, or {"access_key_id","secret_access_key","session_token","region"}`,
	catalog.Vertex:  "the JSON file of a service account's key, as Google gives it, or an access token",
}
