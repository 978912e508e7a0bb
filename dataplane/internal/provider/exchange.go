package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/account"
)

const (
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

func (c *credentials) serviceAccount(a *account.ServiceAccount) authorizer {
	conf := jwt.Config{
		Email: a.Email, PrivateKey: []byte(a.PrivateKey.Reveal()), PrivateKeyID: a.KeyID,
		Scopes: []string{googleScope}, TokenURL: a.TokenURI,
	}
	return c.exchanged(conf.TokenSource)
}

// entra exchanges at Microsoft's host, or at what the operator names in its
// place.
func (c *credentials) entra(a *account.Entra) authorizer {
	where := a.TokenURI
	if where == "" {
		where = entraHost + url.PathEscape(a.Tenant) + "/oauth2/v2.0/token"
	}
	conf := clientcredentials.Config{
		ClientID: a.Client, ClientSecret: a.Secret.Reveal(), TokenURL: where, Scopes: []string{entraScope},
		AuthStyle: oauth2.AuthStyleInParams,
	}
	return c.exchanged(conf.TokenSource)
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

// exchangeError keeps what tells an operator what is wrong, and nothing of the
// answer's text, which may repeat what it was sent.
func exchangeError(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status, word := refused.Response.StatusCode, known(refused)
		if word != "" || status == http.StatusUnauthorized || status == http.StatusForbidden {
			return fmt.Errorf("the token was refused with status %d%s: %w", status, word, upstream.ErrRefusedCredential)
		}
		return fmt.Errorf("the token was refused with status %d", status)
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
