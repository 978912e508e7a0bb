package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"
)

const (
	// fromMetadata is the credential that stands for the machine's own account.
	fromMetadata = "metadata"
	// googleScope and entraScope are what the APIs of Vertex and Azure ask for:
	// https://cloud.google.com/vertex-ai/docs/authentication
	// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/managed-identity
	googleScope = "https://www.googleapis.com/auth/cloud-platform"
	entraScope  = "https://cognitiveservices.azure.com/.default"
	entraHost   = "https://login.microsoftonline.com/"
)

// exchanged is a token that came through golang.org/x/oauth2.
func (c *credentials) exchanged(source func(context.Context) oauth2.TokenSource) authorizer {
	return refreshed{c.tokens(func(ctx context.Context) (grant, error) {
		client := noRedirects(bound{ctx, c.exchange})
		token, err := source(context.WithValue(ctx, oauth2.HTTPClient, client)).Token()
		if err != nil {
			return grant{}, exchangeError(err)
		}
		return grant{token: token.AccessToken, life: lifeOf(token.Expiry)}, nil
	})}
}

// serviceAccount takes the JSON of a key of a Google service account
// (https://cloud.google.com/iam/docs/keys-create-delete). The kinds of
// credentials files that name URLs to fetch from or programs to run are none.
func (c *credentials) serviceAccount(text string) (authorizer, error) {
	var a struct {
		Type         string `json:"type"`
		ClientEmail  string `json:"client_email"`
		PrivateKeyID string `json:"private_key_id"`
		PrivateKey   string `json:"private_key"`
		TokenURI     string `json:"token_uri"`
	}
	if json.Unmarshal([]byte(text), &a) != nil || a.Type != "service_account" || a.ClientEmail == "" || a.PrivateKey == "" {
		return nil, errBadAccount
	}
	if err := mayExchangeAt(a.TokenURI); err != nil {
		return nil, err
	}
	conf := jwt.Config{
		Email: a.ClientEmail, PrivateKey: []byte(a.PrivateKey), PrivateKeyID: a.PrivateKeyID,
		Scopes: []string{googleScope}, TokenURL: a.TokenURI,
	}
	return c.exchanged(conf.TokenSource), nil
}

// entra takes an application of Microsoft Entra. Where it exchanges is
// Microsoft's host, or what the operator names in its place.
func (c *credentials) entra(text string) (authorizer, error) {
	var a struct {
		Tenant   string `json:"tenant_id"`
		Client   string `json:"client_id"`
		Secret   string `json:"client_secret"`
		TokenURI string `json:"token_uri"`
	}
	if json.Unmarshal([]byte(text), &a) != nil || a.Tenant == "" || a.Client == "" || a.Secret == "" {
		return nil, errBadAccount
	}
	if a.TokenURI == "" {
		a.TokenURI = entraHost + url.PathEscape(a.Tenant) + "/oauth2/v2.0/token"
	}
	if err := mayExchangeAt(a.TokenURI); err != nil {
		return nil, err
	}
	conf := clientcredentials.Config{
		ClientID: a.Client, ClientSecret: a.Secret, TokenURL: a.TokenURI, Scopes: []string{entraScope},
		AuthStyle: oauth2.AuthStyleInParams,
	}
	return c.exchanged(conf.TokenSource), nil
}

// metadataServer takes the account that the machine runs as, from the address
// that every machine of Google Cloud has
// (https://cloud.google.com/compute/docs/access/authenticate-workloads).
func (c *credentials) metadataServer() authorizer {
	client := metadata.NewClient(noRedirects(c.metadata))
	return refreshed{c.tokens(func(ctx context.Context) (grant, error) {
		text, err := client.GetWithContext(ctx, "instance/service-accounts/default/token?scopes="+url.QueryEscape(googleScope))
		if err != nil {
			return grant{}, exchangeError(err)
		}
		var t struct {
			Token string `json:"access_token"`
			Life  int64  `json:"expires_in"` // seconds
		}
		if json.Unmarshal([]byte(text), &t) != nil {
			return grant{}, errors.New("the metadata server's answer is no token")
		}
		return grant{token: t.Token, life: time.Duration(t.Life) * time.Second}, nil
	})}
}

func (c *credentials) tokens(fetch func(context.Context) (grant, error)) *tokens {
	return &tokens{fetch: fetch, now: c.now, tasks: c.tasks}
}

// lifeOf: the library counts by the system's clock. A token that does not say
// when it ends is renewed as those of an hour are.
func lifeOf(expiry time.Time) time.Duration {
	if expiry.IsZero() {
		return time.Hour
	}
	return time.Until(expiry)
}

// mayExchangeAt bounds where an assertion or a client secret is sent. The URL
// comes with the credential, and only operators set those that the gateway
// manages, so that it is no stranger's; https keeps it off the wire in clear,
// and no redirect is followed from it. Plain http is for what runs beside the
// gateway, such as tests.
func mayExchangeAt(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Opaque != "":
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errors.New("the credential's token_uri is no https URL")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// exchangeError keeps what tells an operator what is wrong, and nothing of the
// answer's text, which may repeat what it was sent.
func exchangeError(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the token was refused with status %d%s", refused.Response.StatusCode, known(refused))
	}
	if refused, ok := errors.AsType[*metadata.Error](err); ok {
		return fmt.Errorf("the metadata server answered with status %d", refused.Code)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("fetch a token: %w", failed.Err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New("no token could be made of the credential, or of the answer to it")
}

// oauthErrors are the codes of RFC 6749, section 5.2.
var oauthErrors = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

// known is the standard's own word for a refusal, if it has one. Of the JWT
// exchange the library keeps the body alone.
func known(e *oauth2.RetrieveError) string {
	for _, code := range oauthErrors {
		if e.ErrorCode == code || strings.Contains(string(e.Body), `"`+code+`"`) {
			return ", " + code
		}
	}
	return ""
}

// noRedirects is a client for token endpoints.
func noRedirects(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bound makes requests end with a context: the library for service accounts
// makes its own without one.
type bound struct {
	ctx  context.Context
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	return b.base.RoundTrip(r.WithContext(b.ctx))
}
