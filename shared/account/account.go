// Package account owns the forms that a provider credential's text has: a key
// for a header, or the JSON of an account that keys are made from, by the
// provider's type. It knows nothing of how requests are authorized, and no
// error of it repeats any of the text.
package account

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Account is a credential taken apart. One member is set.
type Account struct {
	Key      Key             // sent as it is, in a header
	AWS      *AWS            // signs, for bedrock
	Entra    *Entra          // exchanged for tokens, for azure
	Google   *ServiceAccount // exchanged for tokens, for vertex
	Metadata bool            // the machine's own account at Google, for vertex
}

// Key is what a header holds.
type Key struct {
	Text secret.String
	// Token: an access token of Microsoft Entra, which azure takes in another
	// header than keys.
	Token bool
}

// AWS is an access key (https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html).
type AWS struct {
	ID     string
	Secret secret.String
	Token  secret.String // of a session; empty for long-lived keys
	Region string        // where neither the endpoint nor its provider names one
}

// Entra is an application of Microsoft Entra.
type Entra struct {
	Tenant, Client string
	Secret         secret.String
	TokenURI       string // "": Microsoft's own
}

// ServiceAccount is a key of a Google service account
// (https://cloud.google.com/iam/docs/keys-create-delete).
type ServiceAccount struct {
	Email, KeyID string
	PrivateKey   secret.String // PEM
	TokenURI     string
	Project      string // that the account belongs to, and whose models it calls
}

// Failures.
var (
	ErrKey     = errors.New("the credential is no key: it is empty, or has characters that no header may have")
	ErrAccount = errors.New("the credential is JSON, and not of an account that the provider's type knows")
)

// fromMetadata is the text that stands for the machine's own account.
const fromMetadata = "metadata"

// Read takes a credential's text as providers of a type do. White space around
// it does not count.
func Read(kind catalog.ProviderType, text secret.String) (Account, error) {
	key := strings.TrimSpace(text.Reveal())
	if strings.HasPrefix(key, "{") {
		switch kind {
		case catalog.Azure:
			return entra(key)
		case catalog.Vertex:
			return serviceAccount(key)
		case catalog.Bedrock:
			return aws(key)
		default:
			return Account{}, ErrAccount
		}
	}
	if kind == catalog.Vertex && key == fromMetadata {
		return Account{Metadata: true}, nil
	}
	if key == "" || strings.ContainsFunc(key, unsendable) {
		return Account{}, ErrKey
	}
	return Account{Key: Key{Text: secret.NewString(key), Token: kind == catalog.Azure && isJWT(key)}}, nil
}

// unsendable is what net/http would refuse in a header for each request.
func unsendable(c rune) bool { return c <= ' ' || c > '~' }

// isJWT tells a token from a key, which has no dots.
func isJWT(key string) bool { return strings.HasPrefix(key, "eyJ") && strings.Count(key, ".") == 2 }

func aws(text string) (Account, error) {
	var a struct {
		ID     string `json:"access_key_id"`
		Secret string `json:"secret_access_key"`
		Token  string `json:"session_token"`
		Region string `json:"region"`
	}
	if json.Unmarshal([]byte(text), &a) != nil || a.ID == "" || a.Secret == "" {
		return Account{}, ErrAccount
	}
	return Account{AWS: &AWS{ID: a.ID, Secret: secret.NewString(a.Secret), Token: secret.NewString(a.Token), Region: a.Region}}, nil
}

func entra(text string) (Account, error) {
	var a struct {
		Tenant   string `json:"tenant_id"`
		Client   string `json:"client_id"`
		Secret   string `json:"client_secret"`
		TokenURI string `json:"token_uri"`
	}
	if json.Unmarshal([]byte(text), &a) != nil || a.Tenant == "" || a.Client == "" || a.Secret == "" {
		return Account{}, ErrAccount
	}
	if err := mayExchangeAt(a.TokenURI); a.TokenURI != "" && err != nil {
		return Account{}, err
	}
	return Account{Entra: &Entra{Tenant: a.Tenant, Client: a.Client, Secret: secret.NewString(a.Secret), TokenURI: a.TokenURI}}, nil
}

// serviceAccount refuses the kinds of credentials files that name URLs to
// fetch from or programs to run.
func serviceAccount(text string) (Account, error) {
	var a struct {
		Type       string `json:"type"`
		Project    string `json:"project_id"`
		Email      string `json:"client_email"`
		KeyID      string `json:"private_key_id"`
		PrivateKey string `json:"private_key"`
		TokenURI   string `json:"token_uri"`
	}
	if json.Unmarshal([]byte(text), &a) != nil || a.Type != "service_account" || a.Email == "" || a.PrivateKey == "" {
		return Account{}, ErrAccount
	}
	if err := mayExchangeAt(a.TokenURI); err != nil {
		return Account{}, err
	}
	return Account{Google: &ServiceAccount{
		Email: a.Email, KeyID: a.KeyID, PrivateKey: secret.NewString(a.PrivateKey), TokenURI: a.TokenURI, Project: a.Project,
	}}, nil
}
