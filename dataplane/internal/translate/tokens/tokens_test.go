package tokens_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
)

// tolerance is how far off the estimate of a text may be.
const tolerance = 0.20

// A real tokenizer says what is right, for texts that no price was fitted to.
func TestNearARealTokenizer(t *testing.T) {
	real, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 17)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := real.Count(string(text))
			require.NoError(t, err)
			got := tokens.Of(string(text))
			t.Logf("%d tokens, estimated %d: %+.1f %%", want, got, 100*(float64(got)/float64(want)-1))
			require.InEpsilon(t, want, got, tolerance)
		})
	}
}

func TestSmall(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, " ": 0, "a": 1, "Hello": 1, "Hello world": 2, "camelCase": 2, "123": 1, "1234": 2, "北京": 2, "!": 1, "\n": 1, "\xff": 2, "\xe4\xba": 0,
	} {
		require.Equal(t, want, tokens.Of(text), "%q", text)
	}
}

// How a text is cut does not matter, not even inside a character.
func TestPiecesMakeTheWhole(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"word", "Capital", "camelCase", "ALLCAPS", " ", "  ", "\t", "\n", "\r\n", "12", "7", ".", "...", "é", "ß", "привет", "北京", "🙂", "ไทย", "한국", "\xff", "\xf0\x9f", "\xe4",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		var c tokens.Counter
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(0, 5).Draw(t, "piece"), len(rest))
			c.Add([]byte(rest[:n]))
			before := c.Tokens()
			require.Equal(t, before, c.Tokens(), "asking changes nothing")
			rest = rest[n:]
		}
		require.Equal(t, tokens.Of(text), c.Tokens(), "%q", text)
	})
}

// More text is never fewer tokens by more than the price of the last run,
// which the addition may have changed.
func TestGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, more := rapid.String().Draw(t, "text"), rapid.String().Draw(t, "more")
		require.GreaterOrEqual(t, tokens.Of(text), int64(0))
		require.GreaterOrEqual(t, tokens.Of(text+" "+more)+2, tokens.Of(text))
	})
}
