package provider

import (
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// authorizer puts one credential on requests. It is safe for concurrent use.
type authorizer interface {
	// authorize comes last: the request is complete but for it and for its body.
	// region is the endpoint's. An error never holds a secret.
	authorize(r *http.Request, body upstream.Body, region string) error
	// refused hears that the provider answered a request with 401.
	refused(r *http.Request)
}

var (
	errBadKey     = errors.New("the credential is no key: it is empty, or has characters that no header may have")
	errBadAccount = errors.New("the credential is JSON, and not of an account that the provider's type knows")
)

// authorizerOf reads a credential's text as providers of a type take it.
func (c *credentials) authorizerOf(p *catalog.Provider, text secret.String) (authorizer, error) {
	key := strings.TrimSpace(text.Reveal())
	account := strings.HasPrefix(key, "{")
	switch p.Type {
	case catalog.Anthropic:
		return keyIn("X-Api-Key", "", key)
	case catalog.Google:
		return keyIn("X-Goog-Api-Key", "", key)
	case catalog.Azure:
		switch {
		case account:
			return c.entra(key)
		case isJWT(key): // an access token of Entra
			return keyIn("Authorization", "Bearer ", key)
		}
		return keyIn("Api-Key", "", key)
	case catalog.Vertex:
		switch {
		case account:
			return c.serviceAccount(key)
		case key == fromMetadata:
			return c.metadataServer(), nil
		}
	case catalog.Bedrock:
		if account {
			return c.awsAccount(key, p)
		}
	default:
	}
	return keyIn("Authorization", "Bearer ", key)
}

// keyless is the authorizer of a provider that takes no key.
func (c *credentials) keyless(p *catalog.Provider) authorizer {
	if p.Type == catalog.Vertex {
		return c.metadataServer()
	}
	return nobody{}
}

type nobody struct{}

func (nobody) authorize(*http.Request, upstream.Body, string) error { return nil }
func (nobody) refused(*http.Request)                                {}

// fixed is a header that never changes. Its value is shared by all requests.
type fixed struct {
	name  string
	value []string
}

// keyIn refuses what net/http would refuse for each request, with the value in
// no message.
func keyIn(name, before, key string) (authorizer, error) {
	if key == "" || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, errBadKey
	}
	return fixed{name: name, value: []string{before + key}}, nil
}

func (f fixed) authorize(r *http.Request, _ upstream.Body, _ string) error {
	r.Header[f.name] = f.value
	return nil
}

func (fixed) refused(*http.Request) {}

// isJWT tells a token from a key, which has no dots.
func isJWT(key string) bool { return strings.HasPrefix(key, "eyJ") && strings.Count(key, ".") == 2 }

// refreshed is a bearer token that is fetched and kept fresh.
type refreshed struct{ tokens *tokens }

func (f refreshed) authorize(r *http.Request, _ upstream.Body, _ string) error {
	value, err := f.tokens.get(r.Context())
	if err == nil {
		r.Header["Authorization"] = value
	}
	return err
}

func (f refreshed) refused(r *http.Request) { f.tokens.refused(r.Header["Authorization"]) }
