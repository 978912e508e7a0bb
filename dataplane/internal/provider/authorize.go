package provider

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/account"
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

// authorizerOf reads a credential's text as providers of a type take it.
func (c *credentials) authorizerOf(p *catalog.Provider, text secret.String) (authorizer, error) {
	a, err := account.Read(p.Type, text)
	if err != nil {
		return nil, err
	}
	return c.authorizerFor(p, a)
}

func (c *credentials) authorizerFor(p *catalog.Provider, a account.Account) (authorizer, error) {
	switch {
	case a.AWS != nil:
		return c.awsAccount(a.AWS, p), nil
	case a.Entra != nil:
		return c.entra(a.Entra), nil
	case a.Google != nil:
		return c.serviceAccount(a.Google), nil
	case a.Metadata:
		return c.metadataServer(), nil
	}
	key := a.Key.Text.Reveal()
	switch {
	case p.Type == catalog.Anthropic:
		return keyIn("X-Api-Key", key), nil
	case p.Type == catalog.Google:
		return keyIn("X-Goog-Api-Key", key), nil
	case p.Type == catalog.Azure && !a.Key.Token:
		return keyIn("Api-Key", key), nil
	}
	return keyIn("Authorization", "Bearer "+key), nil
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

func keyIn(name, value string) authorizer { return fixed{name: name, value: []string{value}} }

func (f fixed) authorize(r *http.Request, _ upstream.Body, _ string) error {
	r.Header[f.name] = f.value
	return nil
}

func (fixed) refused(*http.Request) {}

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
