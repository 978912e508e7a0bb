package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

func TestDataURLs(t *testing.T) {
	for address, want := range map[string]conversation.Media{
		"https://a.example/b":            {URL: "https://a.example/b"},
		"data:image/png;base64,iVBORw==": {MIME: "image/png", Data: "iVBORw=="},
		"data:text/plain,gr%C3%BC%C3%9F": {MIME: "text/plain", Data: "Z3LDvMOf"},
		"data:;base64,AA==":              {Data: "AA=="},
		"data:text/plain,%zz":            {URL: "data:text/plain,%zz"},
		"data:none":                      {URL: "data:none"},
		"":                               {},
	} {
		require.Equal(t, want, *openai.Located(address), address)
	}
	require.Equal(t, "data:application/octet-stream;base64,AA==", openai.DataURL(&conversation.Media{Data: "AA=="}))
	require.Equal(t, "data:image/png;base64,iVBORw0KGgo=", openai.DataURL(&conversation.Media{Data: "iVBORw0KGgo="}), "known by how it begins")
}

func TestReader(t *testing.T) {
	var r openai.Reader
	require.EqualValues(t, 1000, r.Count("a", []byte("1e3")))
	require.EqualValues(t, 0, r.Count("b", []byte("null")))
	require.Empty(t, r.Violations)
	for _, wrong := range []string{"-1", "1.5", `"1"`, "1e400", "99999999999999999999"} {
		r.Count(wrong, []byte(wrong))
	}
	require.Len(t, r.Violations, 5)
	require.False(t, openai.IsBlank([]byte("42")))
	require.True(t, openai.IsBlank([]byte("{}")))
	require.Equal(t, `2`, string(openai.Member([]byte(`{"a":1,"a":2}`), "a")))
}
