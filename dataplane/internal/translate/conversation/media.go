package conversation

import (
	"path"
	"strings"
)

// beginnings are the first characters in base64 of what is known by them.
var beginnings = []struct{ base64, mime string }{
	{"iVBORw0KGgo", "image/png"},
	{"/9j/", "image/jpeg"},
	{"R0lGOD", "image/gif"},
	{"JVBERi", "application/pdf"},
}

var extensions = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".html": "text/html",
	".json": "application/json", ".wav": "audio/wav", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
}

// Type is the media type: as it was said, else as the name or the beginning
// of the data tell; "" when nothing does.
func (m *Media) Type() string {
	if m.MIME != "" {
		mime, _, _ := strings.Cut(m.MIME, ";")
		return strings.ToLower(strings.TrimSpace(mime))
	}
	for _, b := range beginnings {
		if strings.HasPrefix(m.Data, b.base64) {
			return b.mime
		}
	}
	return extensions[strings.ToLower(path.Ext(m.Name))]
}
