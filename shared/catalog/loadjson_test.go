package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

func TestOverlaidJSONTakesOneWholeDocument(t *testing.T) {
	const document = `{"providers":[{"slug":"north","type":"openai-compatible","base_url":"https://north.example/v1"}]}`
	base := catalog.Catalog{Schema: catalog.Schema}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"as it is":            {document, true},
		"with space around":   {" \n" + document + "\n\t ", true},
		"and another one":     {document + document, false},
		"and a word":          {document + " x", false},
		"and a bracket":       {document + "}", false},
		"cut off at the end":  {strings.TrimSuffix(document, "}"), false},
		"cut off in the list": {strings.TrimSuffix(document, "}]}"), false},
		"nothing":             {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := catalog.OverlaidJSON(base, []byte(c.text))
			if !c.ok {
				require.EqualError(t, err, catalog.Problems{{Message: "want a JSON document, at most 64 deep"}}.Error())
				require.Empty(t, merged, "and nothing of it is taken")
				return
			}
			require.NoError(t, err)
			require.Len(t, merged.Providers, 1)
		})
	}
}
