package account_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/account"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

const (
	jwt     = "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln"
	service = `{"type":"service_account","project_id":"acme-1","client_email":"a@acme-1.iam.gserviceaccount.com",` +
		`"private_key_id":"0123456789abcdef","private_key":"canary","token_uri":"https://oauth2.googleapis.com/token"}`
)

func TestEachTypeReadsItsForms(t *testing.T) {
	for name, c := range map[string]struct {
		kind   catalog.ProviderType
		text   string
		check  func(account.Account) bool
		prefix string
		suffix string
	}{
		"a key":            {catalog.OpenAI, " sk-proj-0123456789abcdef\n", func(a account.Account) bool { return a.Key.Text.Reveal() == "sk-proj-0123456789abcdef" }, "sk-pro", "cdef"},
		"a short key":      {catalog.Anthropic, "sk-12345678", func(a account.Account) bool { return !a.Key.Text.IsZero() }, "", ""},
		"azure's key":      {catalog.Azure, "0123456789abcdef0123456789abcdef", func(a account.Account) bool { return !a.Key.Token }, "012345", "cdef"},
		"azure's token":    {catalog.Azure, jwt, func(a account.Account) bool { return a.Key.Token }, "eyJhbG", "c2ln"},
		"a token at home":  {catalog.OpenAI, jwt, func(a account.Account) bool { return !a.Key.Token }, "eyJhbG", "c2ln"},
		"an application":   {catalog.Azure, `{"tenant_id":"t","client_id":"0123456789","client_secret":"canary"}`, func(a account.Account) bool { return a.Entra.Secret.Reveal() == "canary" }, "012345", "6789"},
		"an access key":    {catalog.Bedrock, `{"access_key_id":"AKIA0123456789","secret_access_key":"canary","region":"eu-west-1"}`, func(a account.Account) bool { return a.AWS.Region == "eu-west-1" }, "AKIA01", "6789"},
		"a service acount": {catalog.Vertex, service, func(a account.Account) bool { return a.Google.Project == "acme-1" }, "012345", "cdef"},
		"the machine":      {catalog.Vertex, "metadata", func(a account.Account) bool { return a.Metadata }, "", ""},
		"not the machine":  {catalog.OpenAI, "metadata", func(a account.Account) bool { return !a.Metadata }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := account.Read(c.kind, secret.NewString(c.text))
			require.NoError(t, err)
			require.True(t, c.check(a))
			prefix, suffix := a.Label()
			require.Equal(t, [2]string{c.prefix, c.suffix}, [2]string{prefix, suffix})
			require.NotContains(t, fmt.Sprintf("%+v %#v", a, a), "canary")
		})
	}
}

func TestWhatIsNoCredential(t *testing.T) {
	for name, c := range map[string]struct {
		kind catalog.ProviderType
		text string
	}{
		"nothing":           {catalog.OpenAI, " "},
		"two lines":         {catalog.OpenAI, "canary\r\nX-Evil: 1"},
		"no ASCII":          {catalog.Google, "canary-é"},
		"JSON for a key":    {catalog.OpenAI, `{"key":"canary"}`},
		"another's account": {catalog.Azure, service},
		"half":              {catalog.Bedrock, `{"access_key_id":"canary"}`},
		"a user's":          {catalog.Vertex, `{"type":"authorized_user","client_email":"a","private_key":"canary","token_uri":"https://x"}`},
		"in clear":          {catalog.Vertex, `{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"http://x.example/t"}`},
		"no JSON":           {catalog.Vertex, `{"canary`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := account.Read(c.kind, secret.NewString(c.text))
			require.Error(t, err)
			require.NotContains(t, err.Error(), "canary")
		})
	}
}

// A tenant's credential sends nothing to a place that it names, and is never
// the machine itself.
func TestWhatTenantsMayNotGive(t *testing.T) {
	with := func(change map[string]any) string {
		var a map[string]any
		require.NoError(t, json.Unmarshal([]byte(service), &a))
		for name, value := range change {
			a[name] = value
		}
		body, err := json.Marshal(a)
		require.NoError(t, err)
		return string(body)
	}
	for name, c := range map[string]struct {
		kind catalog.ProviderType
		text string
	}{
		"the machine":      {catalog.Vertex, "metadata"},
		"another exchange": {catalog.Vertex, with(map[string]any{"token_uri": "https://canary.example/t"})},
		"a local one":      {catalog.Vertex, with(map[string]any{"token_uri": "http://127.0.0.1/t"})},
		"a path":           {catalog.Vertex, with(map[string]any{"project_id": "../canary"})},
		"entra elsewhere":  {catalog.Azure, `{"tenant_id":"t","client_id":"c","client_secret":"s","token_uri":"https://canary.example"}`},
		"entra's path":     {catalog.Azure, `{"tenant_id":"a/../canary","client_id":"c","client_secret":"s"}`},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := account.Read(c.kind, secret.NewString(c.text))
			require.NoError(t, err, "an operator may")
			err = a.ByTenant()
			require.Error(t, err)
			require.NotContains(t, err.Error(), "canary")
		})
	}
	for kind, text := range map[catalog.ProviderType]string{
		catalog.Vertex: service, catalog.OpenAI: "sk-1234", catalog.Bedrock: `{"access_key_id":"a","secret_access_key":"b"}`,
		catalog.Azure: `{"tenant_id":"acme.onmicrosoft.com","client_id":"c","client_secret":"s"}`,
	} {
		a, err := account.Read(kind, secret.NewString(text))
		require.NoError(t, err)
		require.NoError(t, a.ByTenant(), kind)
	}
}
