package reference_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/test/reference"
)

var catalogPage = filepath.Join(root, "docs", "reference", "catalog.md")

func overlaid(t *testing.T, text string) error {
	t.Helper()
	embedded, err := catalog.Embedded()
	require.NoError(t, err)
	_, _, _, err = catalog.Overlaid(embedded, strings.NewReader(text), "catalog.yaml", func(name string) (string, bool) {
		return "a-key", name != "NOT_SET"
	})
	return err
}

// The page's files load, those of the README too, and its broken one is
// refused in the words that it shows.
func TestReferenceCatalogFiles(t *testing.T) {
	for _, page := range []string{catalogPage, filepath.Join(root, "README.md")} {
		good, err := reference.Blocks(page, "yaml")
		require.NoError(t, err)
		require.NotEmpty(t, good)
		for _, b := range good {
			require.NoError(t, overlaid(t, b.Text), "%s:%d", page, b.Line)
		}
	}
	broken, err := reference.Blocks(catalogPage, "yaml broken")
	require.NoError(t, err)
	require.Len(t, broken, 1)
	report, err := reference.Blocks(catalogPage, "text")
	require.NoError(t, err)
	require.Len(t, report, 1)
	refusal := overlaid(t, broken[0].Text)
	require.Error(t, refusal)
	if *update {
		page, err := os.ReadFile(catalogPage)
		require.NoError(t, err)
		written := strings.Replace(string(page), "```text\n"+report[0].Text, "```text\n"+refusal.Error()+"\n", 1)
		require.NoError(t, os.WriteFile(catalogPage, []byte(written), 0o644))
		return
	}
	require.Equal(t, refusal.Error()+"\n", report[0].Text)
}

// The loader tells what it knows when it meets what it does not.
func TestReferenceCatalogFields(t *testing.T) {
	page, err := os.ReadFile(catalogPage)
	require.NoError(t, err)
	model := func(inner string) string { return "models: [{id: a/b, " + inner + "}]" }
	endpoint := func(inner string) string { return model("endpoints: [{provider: groq, " + inner + "}]") }
	for section, text := range map[string]string{
		"Document":    "zzz: 1",
		"Provider":    "providers: [{zzz: 1}]",
		"Data policy": "providers: [{slug: a, data_policy: {zzz: 1}}]",
		"Quirks":      "providers: [{slug: a, quirks: {zzz: 1}}]",
		"Retry":       "providers: [{slug: a, retry: {zzz: 1}}]",
		"Model":       "models: [{zzz: 1}]",
		"Lifecycle":   model("lifecycle: {zzz: 1}"),
		"Benchmark":   model("benchmarks: [{zzz: 1}]"),
		"Rule":        model("rules: [{zzz: 1}]"),
		"Endpoint":    "models: [{id: a/b, endpoints: [{zzz: 1}]}]",
		"Price":       endpoint("price: {zzz: 1}"),
		"Tier":        endpoint("price: {tiers: [{zzz: 1}]}"),
		"Tier price":  endpoint("price: {tiers: [{above: 1, price: {zzz: 1}}]}"),
	} {
		require.ElementsMatch(t, known(t, text), described(t, string(page), section), "the fields of %s", section)
	}
}

func known(t *testing.T, text string) []string {
	t.Helper()
	problems, ok := errors.AsType[catalog.Problems](overlaid(t, text))
	require.True(t, ok)
	i := slices.IndexFunc(problems, func(p catalog.Problem) bool { return strings.HasSuffix(p.Path, "zzz") })
	require.GreaterOrEqual(t, i, 0, "%v", problems)
	_, list, ok := strings.Cut(problems[i].Message, "want one of ")
	require.True(t, ok)
	return strings.Split(list, ", ")
}

var (
	fieldRow  = regexp.MustCompile("(?m)^\\| (`[^|]+) \\|")
	fieldName = regexp.MustCompile("`([a-z0-9_]+)`")
)

// described reads the first column of a section's table.
func described(t *testing.T, page, section string) (names []string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n### "+section+"\n")
	require.True(t, found, section)
	rest, _, _ = strings.Cut(rest, "\n##")
	for _, row := range fieldRow.FindAllStringSubmatch(rest, -1) {
		for _, name := range fieldName.FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	return names
}
