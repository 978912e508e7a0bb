package policy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// A pattern is what the regular expression with .* for * is, and a list of it
// alone is too.
func TestPatternsMatchAsTheyRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab*/]{1,12}`).Draw(t, "pattern")
		author, bare := rapid.StringMatching(`[ab]{0,5}`).Draw(t, "author"), rapid.StringMatching(`[ab/]{0,8}`).Draw(t, "bare")
		subject := author + "/" + bare
		if !strings.Contains(text, "/") {
			subject = bare
		}
		want := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$").MatchString(subject)
		p := policy.PatternOf(text)
		require.Equal(t, want, p.Matches(author+"/"+bare, bare))
		require.Equal(t, want, policy.NamesOf([]string{text}).List(author+"/"+bare, bare))
	})
}

func TestRunsOfStarsAreOne(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "*": "*", "**": "*", "***a**b*c": "*a*b*c", "acme/" + strings.Repeat("*", 180): "acme/*",
	} {
		require.Equal(t, want, policy.CollapseStars(text))
	}
	require.Nil(t, policy.Collapsed(nil))
	given := []string{"a**", "b"}
	require.Equal(t, []string{"a*", "b"}, policy.Collapsed(given))
	require.Equal(t, []string{"a**", "b"}, given, "the caller's list stays")
	require.Equal(t, 3, policy.Patterns([]string{"a*", "b", "*"}, nil, []string{"c*d*"}))
}
