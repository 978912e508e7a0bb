package secret_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// revealers are the files that may turn a secret into text, and why.
var revealers = map[string]string{
	"shared/secret/token.go":                      "hashes and joins the parts of a credential",
	"shared/secret/seal/seal.go":                  "encrypts it",
	"shared/secret/seal/file.go":                  "reads a keyring from the environment",
	"shared/natsconn/conn.go":                     "hands it to the NATS client",
	"controlplane/app/config.go":                  "measures the operator token's length",
	"controlplane/internal/byok/validate.go":      "measures a provider key's length",
	"controlplane/internal/override/input.go":     "measures a provider key's length",
	"controlplane/internal/postgres/db.go":        "hands it to the Postgres driver",
	"controlplane/internal/authn/authn.go":        "compares the operator token",
	"controlplane/internal/api/keys.go":           "shows a new key once",
	"controlplane/internal/api/managementkeys.go": "shows a new key once",
	"controlplane/internal/api/webhooks.go":       "shows a new secret once",
	"controlplane/internal/webhook/service.go":    "keeps the last characters of a new secret",
	"controlplane/internal/webhook/sign.go":       "signs with it",
	"cmd/signalbox/internal/cli/models.go":        "sends the caller's key",
	"cmd/signalbox/internal/cli/connection.go":    "sends the caller's key",
	"shared/account/account.go":                   "reads the forms of provider credentials",
	"shared/account/label.go":                     "shows the ends of a provider's key",
	"dataplane/internal/provider/authorize.go":    "puts a provider's key into its header, once for each",
	"dataplane/internal/provider/aws.go":          "signs with an access key",
	"dataplane/internal/provider/exchange.go":     "exchanges an account's secret for tokens",
}

// TestWhoReveals fails for a new caller of Reveal: add it above with the
// reason, after making sure that the text goes nowhere else.
func TestWhoReveals(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var found []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "test" || name == "testkit") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(body), ".Reveal()") {
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(relative))
		}
		return nil
	}))
	for _, file := range found {
		require.Contains(t, revealers, file, "%s reveals a secret", file)
	}
	for file := range revealers {
		require.True(t, slices.Contains(found, file), "%s reveals nothing any more: take it off the list", file)
	}
}
