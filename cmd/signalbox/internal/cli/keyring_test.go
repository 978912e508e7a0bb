package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

type shownKeyring struct {
	Keys    int    `json:"keys"`
	Primary uint32 `json:"sealing_key_id"`
}

// keyringCommand runs a command that needs no server and no credential.
func keyringCommand(t *testing.T, args ...string) (code int, shown shownKeyring, out, failure string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Execute(t.Context(), cli.Deps{
		Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Dir: t.TempDir(),
	}, append(args, "-o", "json"))
	if code == cli.ExitOK {
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &shown))
	}
	return code, shown, stdout.String(), stderr.String()
}

func TestKeyringIsCreatedAndRotatedInTwoSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyring.json")
	code, created, _, failure := keyringCommand(t, "keyring", "create", "--out", path)
	require.Zero(t, code, failure)
	require.Equal(t, 1, created.Keys)
	first, err := seal.LoadFile(path)
	require.NoError(t, err)
	old, err := first.Seal(secret.NewString("canary"), "a")
	require.NoError(t, err)

	code, appended, _, failure := keyringCommand(t, "keyring", "append", "--file", path)
	require.Zero(t, code, failure)
	require.Equal(t, shownKeyring{Keys: 2, Primary: created.Primary}, appended, "the new key does not seal yet")
	code, promoted, _, failure := keyringCommand(t, "keyring", "promote", "--file", path)
	require.Zero(t, code, failure)
	require.Equal(t, 2, promoted.Keys)
	require.NotEqual(t, created.Primary, promoted.Primary)
	code, shown, out, failure := keyringCommand(t, "keyring", "show", "--file", path)
	require.Zero(t, code, failure)
	require.Equal(t, promoted, shown)

	rotated, err := seal.LoadFile(path)
	require.NoError(t, err)
	plain, err := rotated.Open(old, "a")
	require.NoError(t, err, "older keys still open")
	require.Equal(t, "canary", plain.Reveal())

	other := filepath.Join(t.TempDir(), "keyring.json")
	require.NoError(t, rotated.WriteFile(other))
	code, dropped, _, failure := keyringCommand(t, "keyring", "drop", "--file", other)
	require.Zero(t, code, failure)
	require.Equal(t, shownKeyring{Keys: 1, Primary: promoted.Primary}, dropped)
	last, err := seal.LoadFile(other)
	require.NoError(t, err)
	_, err = last.Open(old, "a")
	require.ErrorIs(t, err, seal.ErrOpen)
	renewed, err := rotated.Seal(secret.NewString("canary"), "a")
	require.NoError(t, err)
	_, err = last.Open(renewed, "a")
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(renewed, last.Mark()))
	require.False(t, bytes.HasPrefix(old, last.Mark()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Key []struct {
			Data struct{ Value string } `json:"keyData"`
		} `json:"key"`
	}
	require.NoError(t, json.Unmarshal(text, &file))
	require.Len(t, file.Key, 2)
	for _, key := range file.Key {
		require.NotEmpty(t, key.Data.Value)
		require.NotContains(t, out, key.Data.Value, "keys are not shown")
	}
}

func TestKeyringCreateNeverReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyring.json")
	code, created, _, _ := keyringCommand(t, "keyring", "create", "--out", path)
	require.Zero(t, code)
	code, _, _, failure := keyringCommand(t, "keyring", "create", "--out", path)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, failure, "is there already")
	_, shown, _, _ := keyringCommand(t, "keyring", "show", "--file", path)
	require.Equal(t, created, shown)

	code, _, _, failure = keyringCommand(t, "keyring", "create")
	require.Equal(t, cli.ExitUsage, code, failure)
	code, _, _, failure = keyringCommand(t, "keyring", "show", "--file", filepath.Join(t.TempDir(), "none.json"))
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, failure, "no such file")
}
