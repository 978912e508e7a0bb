package offer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/offer"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

const canary = "canary-provider-key-3141"

func TestKeysAreSealedForTheirProvider(t *testing.T) {
	keyring, err := seal.New()
	require.NoError(t, err)
	file := write(t, "providers:\n  - slug: groq\n    api_key: ${MY_GROQ}\n  - slug: openai\n    api_key: ${OPENAI_API_KEY}\n")
	made, _, err := offer.New(offer.Options{
		Files: []string{file}, Sealer: keyring,
		Env: env(map[string]string{"MY_GROQ": canary + "-file", "OPENAI_API_KEY": canary + "-env"}),
	})
	require.NoError(t, err)
	for slug, want := range map[string]string{"groq": canary + "-file", "openai": canary + "-env"} {
		p := provider(t, made.Catalog(), slug)
		opened, err := keyring.Open(p.Credential, "platform", slug)
		require.NoError(t, err)
		require.Equal(t, want, opened.Reveal())
		_, err = keyring.Open(p.Credential, "platform", "another")
		require.Error(t, err, "a credential opened for another provider")
	}
	body, err := json.Marshal(made.Catalog())
	require.NoError(t, err)
	require.NotContains(t, string(body), canary)
}

func TestMistakesAreNamed(t *testing.T) {
	cases := map[string]struct {
		options offer.Options
		says    []string
	}{
		"no such file": {offer.Options{Files: []string{"/nowhere/catalog.yaml"}}, []string{"catalog_files", "/nowhere/catalog.yaml"}},
		"broken file":  {offer.Options{Files: []string{write(t, "providers:\n  - slug: UPPER\n    shade: red\n")}}, []string{"catalog.yaml:2", "catalog.yaml:3"}},
		"no keyring": {
			offer.Options{Files: []string{write(t, "providers:\n  - slug: groq\n    api_key: "+canary+"\n")}},
			[]string{"keyring_file", "groq"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.options.Env = env(nil)
			_, _, err := offer.New(c.options)
			for _, part := range c.says {
				require.ErrorContains(t, err, part)
			}
			require.NotContains(t, err.Error(), canary)
		})
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "catalog.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func env(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := values[name]
		return text, ok
	}
}

func provider(t *testing.T, c catalog.Catalog, slug string) catalog.Provider {
	t.Helper()
	for _, p := range c.Providers {
		if p.Slug == slug {
			return p
		}
	}
	t.Fatalf("no provider %s", slug)
	return catalog.Provider{}
}
