package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

func TestCounted(t *testing.T) {
	const contents = `{"contents":[{"parts":[{"text":"Hello"}]}]}`
	for body, within := range map[string]bool{
		contents: false,
		`{"systemInstruction":{"parts":[]},"contents":[],"generateContentRequest":null}`: false,
		`{"generateContentRequest": ` + contents + `}`:                                   true,
		`{"generate_content_request":` + contents + `,"contents":null}`:                  true,
	} {
		request, got, violations := gemini.Counted([]byte(body))
		require.Empty(t, violations, body)
		require.Equal(t, within, got, body)
		want := body
		if within {
			want = contents
		}
		require.Equal(t, []byte(want), request) // as it is written
	}
	_, _, violations := gemini.Counted([]byte(`{"generateContentRequest":{},"contents":[]}`))
	require.Len(t, violations, 1)
	require.Equal(t, "contents", violations[0].Path)
}
