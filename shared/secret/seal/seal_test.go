package seal_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

const canary = "sk-canary-7f3a"

func TestSealedOpensOnlyForWhatItWasSealedFor(t *testing.T) {
	k, err := seal.New()
	require.NoError(t, err)
	sealed, err := k.Seal(secret.NewString(canary), "platform", "openai")
	require.NoError(t, err)
	require.NotContains(t, string(sealed), canary)

	plain, err := k.Open(sealed, "platform", "openai")
	require.NoError(t, err)
	require.Equal(t, canary, plain.Reveal())

	for _, other := range [][]string{
		nil,
		{"platform"},
		{"platform", "anthropic"},
		{"openai", "platform"},
		{"platformopenai"},
		{"platformo", "penai"},
		{"platform", "openai", ""},
		{"", "platform", "openai"},
	} {
		_, err := k.Open(sealed, other...)
		require.ErrorIs(t, err, seal.ErrOpen, "%q", other)
	}
	for i := range sealed {
		changed := append(secret.Sealed(nil), sealed...)
		changed[i] ^= 1
		_, err := k.Open(changed, "platform", "openai")
		require.ErrorIs(t, err, seal.ErrOpen)
	}
	for n := range len(sealed) {
		_, err := k.Open(sealed[:n], "platform", "openai")
		require.ErrorIs(t, err, seal.ErrOpen)
	}
	other, err := seal.New()
	require.NoError(t, err)
	_, err = other.Open(sealed, "platform", "openai")
	require.ErrorIs(t, err, seal.ErrOpen)
}

func TestRotationKeepsOldCiphertextOpen(t *testing.T) {
	first, err := seal.New()
	require.NoError(t, err)
	old, err := first.Seal(secret.NewString("old"), "a")
	require.NoError(t, err)

	appended, err := first.Append()
	require.NoError(t, err)
	require.Equal(t, 2, appended.Keys())
	require.Equal(t, first.PrimaryID(), appended.PrimaryID(), "a new key does not seal before it is promoted")
	rotated, err := appended.Promote()
	require.NoError(t, err)
	require.NotEqual(t, first.PrimaryID(), rotated.PrimaryID())
	require.Equal(t, 1, first.Keys(), "a keyring is frozen")

	plain, err := rotated.Open(old, "a")
	require.NoError(t, err)
	require.Equal(t, "old", plain.Reveal())
	fresh, err := rotated.Seal(secret.NewString("new"), "a")
	require.NoError(t, err)
	_, err = first.Open(fresh, "a")
	require.ErrorIs(t, err, seal.ErrOpen)
	_, err = appended.Open(fresh, "a")
	require.NoError(t, err, "a process that got the key before its promotion opens what it seals")
}

func TestTextAndFileRoundTrip(t *testing.T) {
	k, err := seal.New()
	require.NoError(t, err)
	k, err = k.Rotate()
	require.NoError(t, err)
	sealed, err := k.Seal(secret.NewString(canary), "x")
	require.NoError(t, err)

	text, err := k.Text()
	require.NoError(t, err)
	parsed, err := seal.Parse(secret.NewString(" " + text.Reveal() + "\n"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "keyring.json")
	require.NoError(t, k.WriteFile(path))
	loaded, err := seal.LoadFile(path)
	require.NoError(t, err)
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	fromJSON, err := seal.Parse(secret.NewString(string(body)))
	require.NoError(t, err)
	for _, same := range []*seal.Keyring{parsed, loaded, fromJSON} {
		require.Equal(t, k.PrimaryID(), same.PrimaryID())
		plain, err := same.Open(sealed, "x")
		require.NoError(t, err)
		require.Equal(t, canary, plain.Reveal())
	}
}

func TestFileIsPrivateAndNeverReplacedByCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keyring.json")
	_, err := seal.LoadFile(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	created, err := seal.CreateFile(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	_, err = seal.CreateFile(path)
	require.ErrorIs(t, err, fs.ErrExist)
	again, err := seal.LoadOrCreateFile(path)
	require.NoError(t, err)
	require.Equal(t, created.PrimaryID(), again.PrimaryID())
	require.NoError(t, os.Chmod(path, 0o640))
	_, err = seal.LoadFile(path)
	require.ErrorContains(t, err, "chmod 600")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

func TestManyWhoCreateShareOneKeyring(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyring.json")
	var wg sync.WaitGroup
	ids := make([]uint32, 8)
	for i := range ids {
		wg.Go(func() {
			k, err := seal.LoadOrCreateFile(path)
			if err == nil {
				ids[i] = k.PrimaryID()
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.NotZero(t, id)
		require.Equal(t, ids[0], id)
	}
}

func TestBadKeyringsAreRefusedWithoutQuotingThem(t *testing.T) {
	for _, text := range []string{"", "  ", canary, "{}", `{"primaryKeyId":1,"key":[{"keyData":{"value":"` + canary + `"}}]}`, "{" + canary} {
		_, err := seal.Parse(secret.NewString(text))
		require.ErrorIs(t, err, seal.ErrKeyring)
		require.NotContains(t, err.Error(), canary)
	}
}

func TestKeyringPrintsWithoutItsKeys(t *testing.T) {
	k, err := seal.New()
	require.NoError(t, err)
	text, err := k.Text()
	require.NoError(t, err)
	marshaled, err := json.Marshal(struct{ K *seal.Keyring }{k})
	require.NoError(t, err)
	for _, shown := range []string{fmt.Sprint(k), fmt.Sprintf("%+v", k), fmt.Sprintf("%#v", k), fmt.Sprintf("%v", struct{ K *seal.Keyring }{k}), string(marshaled)} {
		require.NotContains(t, shown, text.Reveal())
		require.NotContains(t, shown, "keyData")
	}
}
