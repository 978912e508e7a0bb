package merge_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/preset/merge"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden merges each folder's preset into its body. The folder above is the
// surface; one that ends in _count asks for a count.
func TestGolden(t *testing.T) {
	bodies, err := filepath.Glob(filepath.Join("testdata", "*", "*", "body.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(bodies), 30)
	for _, path := range bodies {
		dir := filepath.Dir(path)
		name, _ := filepath.Rel("testdata", dir)
		t.Run(name, func(t *testing.T) {
			surface, count := strings.CutSuffix(filepath.Base(filepath.Dir(dir)), "_count")
			body, c := read(t, path), config(t, filepath.Join(dir, "preset.json"))
			before := string(body)
			out, lost, err := merge.Apply(merge.Into{Surface: catalog.Surface(surface), Count: count}, body, &c)
			require.NoError(t, err)
			require.True(t, json.Valid(out), "%s", out)
			require.Equal(t, before, string(body), "the caller's body is left alone")
			golden(t, filepath.Join(dir, "want.json"), string(out))
			left := strings.Join(lost, "\n")
			if left != "" {
				left += "\n"
			}
			golden(t, filepath.Join(dir, "lost.txt"), left)
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

func config(t *testing.T, path string) (c policy.PresetConfig) {
	t.Helper()
	require.NoError(t, json.Unmarshal(read(t, path), &c))
	return c
}

// golden compares with a file; a file that is not there is empty.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if got == "" {
			_ = os.Remove(path)
			return
		}
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	require.Equal(t, string(want), got)
}

func TestAFormIsLeftAlone(t *testing.T) {
	c := policy.PresetConfig{SystemPrompt: "p", Params: map[string]json.RawMessage{"size": json.RawMessage(`"1x1"`)}}
	body := []byte("--b\r\n")
	out, lost, err := merge.Apply(merge.Into{Surface: catalog.ImageEdits, Form: true}, body, &c)
	require.NoError(t, err)
	require.Equal(t, body, out)
	require.Equal(t, []string{"size", "system_prompt"}, lost)
}

func TestWhatIsNoObjectIsRefused(t *testing.T) {
	c := policy.PresetConfig{SystemPrompt: "p"}
	for _, body := range []string{"", "[]", `{"messages":[]`, `{} x`} {
		_, _, err := merge.Apply(merge.Into{Surface: catalog.Chat}, []byte(body), &c)
		require.ErrorIs(t, err, merge.ErrNotObject, body)
	}
}

func TestAnEmptyPresetGivesTheBodyBack(t *testing.T) {
	body := []byte(` {"model":"@p" , "messages":[]}`)
	out, lost, err := merge.Apply(merge.Into{Surface: catalog.Chat}, body, &policy.PresetConfig{})
	require.NoError(t, err)
	require.Empty(t, lost)
	require.Same(t, &body[0], &out[0])
}

func TestAdded(t *testing.T) {
	c := policy.PresetConfig{SystemPrompt: strings.Repeat("x", 400), Params: map[string]json.RawMessage{
		"temperature": json.RawMessage(`0.1`), "max_tokens": json.RawMessage(`100`), "stop": json.RawMessage(`"a"`),
		"thinking": json.RawMessage(`{"type":"enabled"}`), "seed": json.RawMessage(`7`), "voice": json.RawMessage(`"a"`),
		"model": json.RawMessage(`"other"`),
	}}
	for surface, want := range map[catalog.Surface]merge.Added{
		catalog.Chat: {
			Parameters: []string{"max_tokens", "seed", "stop", "temperature", "thinking"}, InputTokens: 104, OutputTokens: 100,
		},
		catalog.Messages:  {Parameters: []string{"max_tokens", "reasoning", "stop", "temperature"}, InputTokens: 105, OutputTokens: 100},
		catalog.Responses: {Parameters: []string{"max_tokens", "temperature"}, InputTokens: 100, OutputTokens: 100},
		// One stop word is a list in the last two of these.
		catalog.Gemini:     {Parameters: []string{"max_tokens", "seed", "stop", "temperature"}, InputTokens: 101, OutputTokens: 100},
		catalog.Speech:     {Parameters: []string{"voice"}},
		catalog.Embeddings: {},
		catalog.Batches:    {},
	} {
		require.Equal(t, want, merge.AddedBy(surface, &c), surface)
	}
}

func BenchmarkApply(b *testing.B) {
	turn := `{"role":"user","content":"` + strings.Repeat("x", 2400) + `"}`
	body := []byte(`{"model":"@p","messages":[{"role":"system","content":"be brief"},` + strings.Join([]string{turn, turn, turn, turn}, ",") + `],"stream":true}`)
	c := policy.PresetConfig{SystemPrompt: strings.Repeat("You are careful.\n", 64), Params: map[string]json.RawMessage{
		"temperature": json.RawMessage(`0.1`), "max_tokens": json.RawMessage(`100`), "stop": json.RawMessage(`"a"`), "top_p": json.RawMessage(`1`),
	}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := merge.Apply(merge.Into{Surface: catalog.Chat}, body, &c); err != nil {
			b.Fatal(err)
		}
	}
}
