package classify_test

import (
	_ "embed"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/classify"
)

//go:embed testdata/phrases.txt
var phrases string

// TestPhrases holds the classifier to what people write.
func TestPhrases(t *testing.T) {
	seen := map[string]int{}
	for line := range strings.Lines(phrases) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, text, ok := strings.Cut(line, " | ")
		require.True(t, ok, line)
		got := classify.Local(classify.Text{Last: text, Turns: 1, Bytes: int64(len(text))})
		require.Equal(t, want, got.Mix.Primary().String(), "%q: %v", text, got.Mix)
		seen[want]++
	}
	require.Len(t, seen, classify.Count, "every workload has phrases")
}

func TestFactsAreTrusted(t *testing.T) {
	for _, text := range []string{"hi", "Write a python function", "Translate to French: hello"} {
		plain := classify.Local(classify.Text{Last: text})
		tools := classify.Local(classify.Text{Last: text, Tools: true})
		require.Equal(t, classify.ToolUse, tools.Mix.Primary(), text)
		require.InDelta(t, 0.4, tools.Mix[plain.Mix.Primary()], 0.4, "what it is about still counts")
		structured := classify.Local(classify.Text{Last: text, Structured: true})
		require.Equal(t, classify.Structured, structured.Mix.Primary(), text)
		both := classify.Local(classify.Text{Last: text, Tools: true, Structured: true})
		require.InDelta(t, 0.3, both.Mix[classify.ToolUse], 1e-9)
		require.InDelta(t, 0.3, both.Mix[classify.Structured], 1e-9)
	}
	var all classify.Mix
	all[classify.ToolUse] = 1
	require.Equal(t, all, classify.Result{Mix: all}.WithFacts(true, false).Mix, "what was said anyway stays")
}

// TestFactsLeaveASoundMix: whatever a classifier says, shares are from 0 to 1 and
// add up to 1, the facts have their part, and what it said of them counts.
func TestFactsLeaveASoundMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var said classify.Mix
		odd := rapid.Bool().Draw(t, "odd")
		for w := range said {
			said[w] = rapid.SampledFrom([]float64{0, 0, 0.1, 0.5, 1}).Draw(t, "share")
			if odd {
				said[w] = rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(math.Inf(1))).Draw(t, "any")
			}
		}
		tools, structured := rapid.Bool().Draw(t, "tools"), rapid.Bool().Draw(t, "structured")
		got := classify.Result{Mix: said}.WithFacts(tools, structured).Mix
		sum := 0.0
		for w, share := range got {
			require.True(t, share >= 0 && share <= 1+1e-9, "%s of %v: %v", classify.Workload(w), said, got)
			sum += share
		}
		require.InDelta(t, 1, sum, 1e-9, "%v: %v", said, got)
		least := 0.6
		if tools && structured {
			least = 0.3
		}
		require.True(t, !tools || got[classify.ToolUse] >= least-1e-9, "%v: %v", said, got)
		require.True(t, !structured || got[classify.Structured] >= least-1e-9, "%v: %v", said, got)
	})
	var all classify.Mix
	all[classify.ToolUse] = 1
	both := classify.Result{Mix: all}.WithFacts(true, true).Mix
	require.InDelta(t, 0.7, both[classify.ToolUse], 1e-9)
	require.InDelta(t, 0.3, both[classify.Structured], 1e-9)
}

func TestHarderRequestsAreMoreComplex(t *testing.T) {
	ladder := []string{
		"hi",
		"Write a python function that adds two numbers.",
		"Implement a concurrent LRU cache in golang. It must be lock-free, never block, and ensure that evictions are exactly once.",
		"Prove that the algorithm below is optimal. Derive its complexity step by step, calculate the expected case, and compare trade-offs.\n" +
			"- must hold for n = 0\n- must hold without randomness\n- should ensure termination\n- unless n is prime\n1. lemma\n2. theorem\n" +
			strings.Repeat("The graph is distributed over several concurrent nodes. ", 20),
	}
	before := -1.0
	for _, text := range ladder {
		got := classify.Local(classify.Text{Last: text, Bytes: int64(len(text)), Turns: 1}).Complexity
		require.Greater(t, got, before, text)
		before = got
	}
	require.Less(t, classify.Local(classify.Text{Last: "hi"}).Complexity, 0.2)
	require.Greater(t, before, 0.6)
}

// A text of any length costs what its excerpt costs: the middle is not read.
func TestTheMiddleOfALongTextDoesNotCount(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 1<<10)
	short := classify.Text{Last: "Translate to French: " + filler + strings.Repeat("x", 1<<16) + filler, Bytes: 1 << 20}
	long := short
	long.Last = "Translate to French: " + filler + strings.Repeat("prove debug json ", 1<<20) + filler
	require.Equal(t, classify.Local(short), classify.Local(long))
	require.Equal(t, classify.Translation, classify.Local(long).Mix.Primary())
}

func TestAnEarlierTurnSetsTheScene(t *testing.T) {
	got := classify.Local(classify.Text{First: "Here is my python code with a bug in the function", Last: "and now?", Turns: 2})
	require.Equal(t, classify.Code, got.Mix.Primary())
	got = classify.Local(classify.Text{First: "Here is my python code with a bug in the function", Last: "Summarize the key points for my boss: translate nothing.", Turns: 2})
	require.Equal(t, classify.Summarization, got.Mix.Primary())
}

// Repeating a cue does not make it count more.
func TestRepetitionDoesNotCount(t *testing.T) {
	once := classify.Local(classify.Text{Last: "debug the weather report"})
	often := classify.Local(classify.Text{Last: "debug debug debug debug the weather report"})
	require.Equal(t, once.Mix, often.Mix)
}

func TestNamesGoBothWays(t *testing.T) {
	for w := range classify.Count {
		got, ok := classify.Parse(classify.Workload(w).String())
		require.True(t, ok)
		require.Equal(t, classify.Workload(w), got)
	}
	_, ok := classify.Parse("Code")
	require.False(t, ok)
}

func TestExcerptKeepsBothEndsAndWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		limit := rapid.IntRange(16, 64).Draw(t, "limit")
		got := classify.Excerpt(text, limit)
		require.LessOrEqual(t, len(got), max(limit, 0))
		if len(text) <= limit {
			require.Equal(t, text, got)
			return
		}
		before, after, found := strings.Cut(got, "\n…\n")
		require.True(t, found)
		require.True(t, strings.HasPrefix(text, before))
		_ = after
		require.Equal(t, strings.ToValidUTF8(got, ""), got)
	})
}

func FuzzLocal(f *testing.F) {
	f.Add("system", "first", "Translate to French: hello", 2, int64(9), true, false)
	f.Add("", "", "```go\nfunc main() {}\n```", 1, int64(1<<40), false, true)
	f.Add("", "\xff\xfe", strings.Repeat("{", 9000), -3, int64(-1), false, false)
	f.Fuzz(func(t *testing.T, system, first, last string, turns int, size int64, tools, structured bool) {
		in := classify.Text{System: system, First: first, Last: last, Turns: max(0, turns), Bytes: max(0, size), Tools: tools, Structured: structured}
		got := classify.Local(in)
		require.Equal(t, got, classify.Local(in), "the same text, the same answer")
		sum := 0.0
		for _, v := range got.Mix {
			require.False(t, math.IsNaN(v) || v < 0 || v > 1, "%v", got.Mix)
			sum += v
		}
		require.InDelta(t, 1, sum, 1e-9)
		for _, v := range []float64{got.Complexity, got.Confidence} {
			require.False(t, math.IsNaN(v) || v < 0 || v > 1)
		}
	})
}

func BenchmarkLocal(b *testing.B) {
	text := classify.Text{Last: strings.Repeat("Write a function that translates the summary. ", 1<<16), Bytes: 1 << 20}
	for b.Loop() {
		classify.Local(text)
	}
}
