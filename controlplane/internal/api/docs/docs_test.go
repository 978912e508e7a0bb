package docs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/docs"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
)

func TestPageShowsEveryOperationAndNeedsNothingElse(t *testing.T) {
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	page, err := docs.Render(doc)
	require.NoError(t, err)
	html := string(page.HTML)
	for path, item := range doc.Paths.Map() {
		require.Contains(t, html, "<code>"+path+"</code>")
		for _, op := range item.Operations() {
			require.Contains(t, html, `<section id="`+op.OperationID+`">`)
		}
	}
	for name := range doc.Components.Schemas {
		require.Contains(t, html, `id="schema-`+name+`"`)
	}
	for _, foreign := range []string{"<script", "http://", "https://", "src=", "ZgotmplZ"} {
		require.NotContains(t, html, foreign)
	}
	for rest, found := html, true; found; {
		var target string
		if _, rest, found = strings.Cut(rest, `href="#`); found {
			target, rest, _ = strings.Cut(rest, `"`)
			require.Contains(t, html, `id="`+target+`"`, "a link leads nowhere")
		}
	}
	require.Contains(t, page.Policy, "style-src 'sha256-")
}
