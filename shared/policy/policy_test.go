package policy_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// The published form is a contract between versions: -new writes a golden
// file that is not there yet, and an existing one is never rewritten.
var fresh = flag.Bool("new", false, "write golden files that do not exist")

func kept(t *testing.T, path string, got []byte) []byte {
	t.Helper()
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) && *fresh {
		require.NoError(t, os.WriteFile(path, got, 0o600))
		return got
	}
	require.NoError(t, err)
	return want
}

var (
	workspace = id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
	at        = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
)

func snapshot() policy.Snapshot {
	s := policy.DefaultSettings()
	s.DefaultModel, s.FallbackModels = "openai/gpt-5", []string{"openai/gpt-5-mini"}
	s.RequireZDR = true
	return policy.Snapshot{
		Schema: policy.Schema, Workspace: workspace, Revision: 12, Status: policy.WorkspaceActive,
		Tags: []string{"gold"}, Settings: s,
	}
}

func key() policy.Key {
	return policy.Key{
		Schema: policy.Schema, KID: "0123456789abcdef", ID: id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y7z"),
		Workspace: workspace, CreatedBy: id.MustParse[id.UserKind]("user_01kb7n0z1v8q5r2m3t4w5x6y7z"), Status: policy.KeyActive,
		SecretHash: sha256.Sum256([]byte("secret")), PreviousHash: sha256.Sum256([]byte("old")), PreviousUntil: &at, ExpiresAt: &at,
		Models: []string{"openai/*"}, Surfaces: []catalog.Surface{catalog.Chat}, Scopes: []string{"x"}, Revision: 12, MinRevision: 11,
	}
}

// TestPublishedFormsStayReadable reads what earlier versions wrote.
func TestPublishedFormsStayReadable(t *testing.T) {
	body, _, err := policy.Encode(snapshot())
	require.NoError(t, err)
	old := kept(t, "testdata/snapshot-1.json", body)
	got, err := policy.DecodeSnapshot(old, policy.Digest(old))
	require.NoError(t, err)
	require.Equal(t, snapshot(), got)

	body, _, err = policy.Encode(key())
	require.NoError(t, err)
	old = kept(t, "testdata/key-1.json", body)
	k, err := policy.DecodeKey(old)
	require.NoError(t, err)
	require.Equal(t, key(), k)
}

func TestEqualValuesGiveEqualBytes(t *testing.T) {
	a, digestA, err := policy.Encode(snapshot())
	require.NoError(t, err)
	b, digestB, err := policy.Encode(snapshot())
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
	require.Equal(t, digestA, digestB)
	require.Len(t, digestA, 64)
	changed := snapshot()
	changed.Settings.BYOKFallback = false
	_, other, err := policy.Encode(changed)
	require.NoError(t, err)
	require.NotEqual(t, digestA, other)
}

func TestDecodeRefuses(t *testing.T) {
	body, digest, err := policy.Encode(snapshot())
	require.NoError(t, err)
	for i := range body {
		changed := bytes.Clone(body)
		changed[i] ^= 1
		_, err := policy.DecodeSnapshot(changed, digest)
		require.ErrorIs(t, err, policy.ErrDigest)
	}
	for _, text := range []string{"", "null", "[]", `{"schema":5}`, `{"schema":0}`, `{"schema":-1}`, `{"schema":"1"}`} {
		_, err := policy.DecodeSnapshot([]byte(text), policy.Digest([]byte(text)))
		require.Error(t, err, text)
		_, err = policy.DecodeKey([]byte(text))
		require.Error(t, err, text)
	}
	_, err = policy.DecodeKey([]byte(`{"schema":4}`))
	require.ErrorIs(t, err, policy.ErrSchema)
}

func TestUnknownMembersAreIgnored(t *testing.T) {
	body, _, err := policy.Encode(snapshot())
	require.NoError(t, err)
	newer := []byte(strings.Replace(string(body), `"revision":12`, `"revision":12,"later":{"x":1}`, 1))
	got, err := policy.DecodeSnapshot(newer, policy.Digest(newer))
	require.NoError(t, err)
	require.Equal(t, snapshot(), got)
}

func TestKeysWithoutOptionalPartsAreShort(t *testing.T) {
	k := key()
	k.PreviousHash, k.PreviousUntil, k.ExpiresAt, k.Models, k.Surfaces, k.Scopes, k.CreatedBy = [32]byte{}, nil, nil, nil, nil, nil, id.User{}
	body, _, err := policy.Encode(k)
	require.NoError(t, err)
	require.NotContains(t, string(body), "previous")
	require.NotContains(t, string(body), "expires")
	back, err := policy.DecodeKey(body)
	require.NoError(t, err)
	require.Equal(t, k, back)
}

func TestCompile(t *testing.T) {
	v, err := policy.Compile(snapshot())
	require.NoError(t, err)
	require.Equal(t, workspace, v.Workspace())
	require.EqualValues(t, 12, v.Revision())
	require.True(t, v.Active())
	require.Equal(t, snapshot().Settings, v.Settings())
	require.Equal(t, []string{"gold"}, v.Tags())

	gone := snapshot()
	gone.Status = policy.WorkspaceDeleted
	v, err = policy.Compile(gone)
	require.NoError(t, err)
	require.False(t, v.Active())
	for _, change := range []func(*policy.Snapshot){
		func(s *policy.Snapshot) { s.Workspace = id.Workspace{} },
		func(s *policy.Snapshot) { s.Revision = 0 },
	} {
		bad := snapshot()
		change(&bad)
		_, err := policy.Compile(bad)
		require.Error(t, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range []any{snapshot(), key()} {
		body, _, err := policy.Encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if s, err := policy.DecodeSnapshot(body, policy.Digest(body)); err == nil {
			again, digest, err := policy.Encode(s)
			require.NoError(t, err)
			back, err := policy.DecodeSnapshot(again, digest)
			require.NoError(t, err)
			require.Equal(t, s.Workspace, back.Workspace)
			require.Equal(t, s.Settings.MaxModels, back.Settings.MaxModels)
		}
		_, _ = policy.DecodeKey(body)
	})
}
