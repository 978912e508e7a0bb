package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestPresetNames(t *testing.T) {
	for text, want := range map[string]policy.PresetName{
		"support":                      {Slug: "support"},
		"Support":                      {Slug: "support"},
		"a.b_c:d-1":                    {Slug: "a.b_c:d-1"},
		"support#3":                    {Slug: "support", Version: 3},
		"Acme/Support":                 {Handle: "acme", Slug: "support"},
		"acme/support#12":              {Handle: "acme", Slug: "support", Version: 12},
		"1/1#999999999":                {Handle: "1", Slug: "1", Version: 999999999},
		"":                             {},
		"#1":                           {},
		"a#":                           {},
		"a#0":                          {},
		"a#-1":                         {},
		"a#+1":                         {},
		"a#01":                         {},
		"a#1#2":                        {},
		"a#1234567890":                 {},
		"a#latest":                     {},
		"a/b/c":                        {},
		"/a":                           {},
		"a/":                           {},
		"a.b/c":                        {},
		"-a":                           {},
		".a":                           {},
		"a b":                          {},
		"a*":                           {},
		"a/>":                          {},
		"a/*":                          {},
		"é":                            {},
		"a\x00":                        {},
		"a=b":                          {},
		strings.Repeat("a", 101):       {},
		strings.Repeat("a", 41) + "/b": {},
	} {
		got, ok := policy.ParsePresetName(text)
		require.Equal(t, want.Slug != "", ok, "%q", text)
		if ok {
			require.Equal(t, want, got, "%q", text)
		}
	}
}

// FuzzPresetName makes sure that no name becomes a key that means more than one
// document.
func FuzzPresetName(f *testing.F) {
	for _, text := range []string{"a", "A/b#3", "a.b", "a/b.>", "*", "a#9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := policy.ParsePresetName(text)
		if !ok {
			return
		}
		require.NotEmpty(t, n.Slug)
		require.False(t, strings.ContainsAny(n.Handle+n.Slug, "*> =/#\t\r\n"), "%q", text)
		require.NotContains(t, n.Handle, ".")
		require.GreaterOrEqual(t, n.Version, 0)
	})
}
