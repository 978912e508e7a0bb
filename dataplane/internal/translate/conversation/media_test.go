package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

func TestTypeOfMedia(t *testing.T) {
	for want, m := range map[string]conversation.Media{
		"":                {Data: "AAAA", Name: "a.unknown"},
		"audio/x":         {MIME: "audio/x", Data: "/9j/"},
		"text/plain":      {MIME: "Text/Plain; charset=utf-8"},
		"image/png":       {Data: "iVBORw0KGgo="},
		"image/jpeg":      {Data: "/9j/4AAQ"},
		"image/gif":       {Data: "R0lGODlh", Name: "a.png"},
		"application/pdf": {Data: "JVBERi0xLjQ="},
		"text/csv":        {Name: "a.b.CSV"},
	} {
		require.Equal(t, want, m.Type())
	}
}
