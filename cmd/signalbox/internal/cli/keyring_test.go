package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

type shownKeyring struct {
	Keys    int    `json:"keys"`
	Primary uint32 `json:"sealing_key_id"`
	List    []struct {
		ID   uint32 `json:"id"`
		Role string `json:"role"`
	} `json:"key_list"`
	Fresh   []uint32 `json:"new_key_ids"`
	Dropped []uint32 `json:"dropped_key_ids"`
	Note    string   `json:"note"`
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
	require.Equal(t, 2, appended.Keys)
	require.Equal(t, created.Primary, appended.Primary, "the new key does not seal yet")
	require.Equal(t, "sealing", appended.List[0].Role)
	require.Equal(t, "newer", appended.List[1].Role)
	require.Equal(t, []uint32{appended.List[1].ID}, appended.Fresh)
	code, promoted, _, failure := keyringCommand(t, "keyring", "promote", "--file", path)
	require.Zero(t, code, failure)
	require.Equal(t, 2, promoted.Keys)
	require.NotEqual(t, created.Primary, promoted.Primary)
	code, shown, out, failure := keyringCommand(t, "keyring", "show", "--file", path)
	require.Zero(t, code, failure)
	require.Equal(t, promoted, shown)
	require.Equal(t, appended.Fresh[0], shown.Primary)
	require.Equal(t, "older", shown.List[0].Role)
	before, err := os.Stat(path)
	require.NoError(t, err)
	code, again, _, failure := keyringCommand(t, "keyring", "promote", "--file", path)
	require.Zero(t, code, failure)
	require.Contains(t, again.Note, "nothing changed")
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "the file was written anew for nothing")

	rotated, err := seal.LoadFile(path)
	require.NoError(t, err)
	plain, err := rotated.Open(old, "a")
	require.NoError(t, err, "older keys still open")
	require.Equal(t, "canary", plain.Reveal())

	other := filepath.Join(t.TempDir(), "keyring.json")
	require.NoError(t, rotated.WriteFile(other))
	code, dropped, _, failure := keyringCommand(t, "keyring", "drop", "--file", other, "--unchecked")
	require.Zero(t, code, failure)
	require.Equal(t, 1, dropped.Keys)
	require.Equal(t, promoted.Primary, dropped.Primary)
	require.Equal(t, []uint32{created.Primary}, dropped.Dropped)
	code, dropped, _, failure = keyringCommand(t, "keyring", "drop", "--file", other, "--unchecked")
	require.Zero(t, code, failure)
	require.Empty(t, dropped.Dropped)
	require.Contains(t, dropped.Note, "nothing to drop")
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

// Dropping asks the running platform, and refuses while an older key is needed.
func TestKeyringDropAsksFirst(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.in = "sk-canary-0123456789abcdefgh"
	term.run("byok", "create", "--provider", "openai", "--name", "ours", "--key-stdin").is(cli.ExitOK)
	held := term.run("keyring", "status", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Len(t, held["keys"], 1)
	require.Regexp(t, `DROPPABLE +nothing to drop\n`, term.run("keyring", "status").out)

	path := filepath.Join(t.TempDir(), "keyring.json")
	copied, err := os.ReadFile(term.keyring)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, copied, 0o600))
	term.run("keyring", "append", "--file", path).is(cli.ExitOK)
	term.run("keyring", "promote", "--file", path).is(cli.ExitOK)
	refused := term.run("keyring", "drop", "--file", path).is(cli.ExitConflict)
	require.Contains(t, refused.err, "give it the file first")
	unchanged, err := seal.LoadFile(path)
	require.NoError(t, err)
	require.Equal(t, 2, unchanged.Keys())

	require.NoError(t, unchanged.WriteFile(term.keyring))
	term.reload <- syscall.SIGHUP
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		shown := term.run("keyring", "status")
		assert.Equal(c, cli.ExitOK, shown.code)
		assert.Regexp(c, `older +0 +0 +0\n`, shown.out)
		assert.Regexp(c, `sealing +1 +0 +0\n`, shown.out)
		assert.Regexp(c, `DROPPABLE +yes`, shown.out)
	}, 30*time.Second, 50*time.Millisecond)
	term.run("keyring", "drop", "--file", path).is(cli.ExitOK).shows("DROPPED")
	dropped, err := seal.LoadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, dropped.Keys())
	term.env["SIGNALBOX_OPERATOR_TOKEN"] = ""
	term.run("keyring", "drop", "--file", path).is(cli.ExitRefused)
}

// A key that is appended and not promoted yet is in no other file maybe.
func TestKeyringDropKeepsWhatIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyring.json")
	for _, step := range [][]string{{"create", "--out", path}, {"append", "--file", path}, {"promote", "--file", path}, {"append", "--file", path}} {
		code, _, _, failure := keyringCommand(t, append([]string{"keyring"}, step...)...)
		require.Zero(t, code, failure)
	}
	before, err := seal.LoadFile(path)
	require.NoError(t, err)
	code, dropped, _, failure := keyringCommand(t, "keyring", "drop", "--file", path, "--unchecked")
	require.Zero(t, code, failure)
	require.Equal(t, 2, dropped.Keys)
	require.Equal(t, before.PrimaryID(), dropped.Primary)
	after, err := seal.LoadFile(path)
	require.NoError(t, err)
	require.Equal(t, before.IDs()[1:], after.IDs())
}

// Given to every process, a file without the key that they have would take it
// from them.
func TestKeyringDropRefusesAFileThatLacksANewerKey(t *testing.T) {
	term := newTerminal(t)
	short := filepath.Join(t.TempDir(), "keyring.json")
	held, err := seal.LoadFile(term.keyring)
	require.NoError(t, err)
	require.NoError(t, held.WriteFile(short))
	appended, err := held.Append()
	require.NoError(t, err)
	require.NoError(t, appended.WriteFile(term.keyring))
	term.reload <- syscall.SIGHUP
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Regexp(c, `newer +0 +0 +0\n`, term.run("keyring", "status").out)
	}, 30*time.Second, 50*time.Millisecond)
	refused := term.run("keyring", "drop", "--file", short).is(cli.ExitConflict)
	require.Contains(t, refused.err, "which this file lacks")
	term.run("keyring", "drop", "--file", term.keyring).is(cli.ExitOK)
	same, err := seal.LoadFile(term.keyring)
	require.NoError(t, err)
	require.Equal(t, appended.IDs(), same.IDs())
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

// A refusal says what is in the way, and scripts tell it from other failures.
func TestKeyringDropSaysWhatIsInTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyring.json")
	for _, step := range [][]string{{"create", "--out", path}, {"append", "--file", path}, {"promote", "--file", path}} {
		code, _, _, failure := keyringCommand(t, append([]string{"keyring"}, step...)...)
		require.Zero(t, code, failure)
	}
	held, err := seal.LoadFile(path)
	require.NoError(t, err)
	for reason, c := range map[string]struct {
		stale, unconfirmed, behind int
		says                       string
	}{
		"stale seals":  {stale: 2, says: "(older) sealed is still in use: 2 keys of workspaces"},
		"unconfirmed":  {unconfirmed: 3, says: "workspaces unconfirmed: 3"},
		"behind":       {behind: 1, says: "gateways behind: 1"},
		"not told why": {says: "does not allow it yet"},
	} {
		t.Run(reason, func(t *testing.T) {
			term := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				problem(w, http.StatusOK, fmt.Sprintf(`{"data":{"sealing_key_id":%d,"droppable":false,"unconfirmed_workspaces":%d,"gateways_behind":%d,"keys":[
					{"id":%d,"role":"older","workspace_keys":%d,"platform_keys":0,"published_keys":0},
					{"id":%[1]d,"role":"sealing","workspace_keys":9,"platform_keys":9,"published_keys":9}]}}`,
					held.PrimaryID(), c.unconfirmed, c.behind, held.IDs()[0], c.stale))
			})
			refused := term.run("keyring", "drop", "--file", path).is(cli.ExitConflict)
			require.Contains(t, refused.err, c.says)
			if c.stale == 0 {
				require.NotContains(t, refused.err, "still in use")
			}
			same, err := seal.LoadFile(path)
			require.NoError(t, err)
			require.Equal(t, held.IDs(), same.IDs())
		})
	}
}
