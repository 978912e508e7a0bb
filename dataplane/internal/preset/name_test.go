package preset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	for text, want := range map[string]name{
		"support":                      {slug: "support"},
		"Support":                      {slug: "support"},
		"a.b_c:d-1":                    {slug: "a.b_c:d-1"},
		"support#3":                    {slug: "support", version: 3},
		"Acme/Support":                 {handle: "acme", slug: "support"},
		"acme/support#12":              {handle: "acme", slug: "support", version: 12},
		"1/1#999999999":                {handle: "1", slug: "1", version: 999999999},
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
		got, ok := parse(text)
		require.Equal(t, want.slug != "", ok, "%q", text)
		if ok {
			require.Equal(t, want, got, "%q", text)
		}
	}
}

// FuzzName makes sure that no name becomes a key that means more than one
// document.
func FuzzName(f *testing.F) {
	for _, text := range []string{"a", "A/b#3", "a.b", "a/b.>", "*", "a#9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parse(text)
		if !ok {
			return
		}
		require.NotEmpty(t, n.slug)
		require.False(t, strings.ContainsAny(n.handle+n.slug, "*> =/#\t\r\n"), "%q", text)
		require.NotContains(t, n.handle, ".")
		require.GreaterOrEqual(t, n.version, 0)
	})
}
