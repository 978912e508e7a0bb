package gemini

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// kindOf is the kind of part that a media type makes.
func kindOf(mimeType string) conversation.Kind {
	kind, _, _ := strings.Cut(mimeType, "/")
	switch strings.ToLower(kind) {
	case "image":
		return conversation.Image
	case "audio":
		return conversation.Audio
	case "video":
		return conversation.Video
	}
	return conversation.File
}

// types are the media types that Gemini reads, by file name. The host's own
// table is asked after it, and says less on a machine without one.
var types = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".heic": "image/heic",
	".heif": "image/heif", ".gif": "image/gif", ".bmp": "image/bmp",
	".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".html": "text/html", ".csv": "text/csv",
	".json": "application/json", ".xml": "text/xml", ".rtf": "text/rtf",
	".wav": "audio/wav", ".mp3": "audio/mp3", ".aiff": "audio/aiff", ".aac": "audio/aac", ".ogg": "audio/ogg",
	".flac": "audio/flac", ".m4a": "audio/m4a", ".opus": "audio/opus",
	".mp4": "video/mp4", ".mpeg": "video/mpeg", ".mpg": "video/mpg", ".mov": "video/quicktime", ".avi": "video/x-msvideo",
	".webm": "video/webm", ".wmv": "video/wmv", ".3gp": "video/3gpp", ".flv": "video/x-flv",
}

// typeOfName guesses a media type from a file's name, "" when it cannot.
func typeOfName(name string) string {
	extension := strings.ToLower(path.Ext(name))
	if known, ok := types[extension]; ok {
		return known
	}
	guess, _, _ := strings.Cut(mime.TypeByExtension(extension), ";")
	return guess
}

// usual is the type of media of which nothing else is known: Vertex demands
// one, and looks at the bytes itself. Of a file there is nothing usual.
var usual = map[conversation.Kind]string{
	conversation.Image: "image/jpeg", conversation.Audio: "audio/wav", conversation.Video: "video/mp4",
}

// typeOf is the media type that is written: what was said, or what the name,
// the address or the first bytes tell.
func typeOf(kind conversation.Kind, m *conversation.Media) string {
	if m.MIME != "" {
		return m.MIME
	}
	if guess := typeOfName(m.Name); guess != "" {
		return guess
	}
	if guess := typeOfURL(m.URL); guess != "" {
		return guess
	}
	head := m.Data[:min(len(m.Data), 684)&^3] // of 512 bytes, which is what is sniffed
	if raw, err := base64.StdEncoding.DecodeString(head); err == nil && len(raw) > 0 {
		sniffed, _, _ := strings.Cut(http.DetectContentType(raw), ";")
		if kind == conversation.File || kindOf(sniffed) == kind {
			return sniffed
		}
	}
	return usual[kind]
}

func typeOfURL(address string) string {
	if address == "" {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	switch strings.TrimPrefix(u.Hostname(), "www.") {
	case "youtube.com", "youtu.be", "m.youtube.com":
		return "video/mp4"
	}
	return typeOfName(u.Path)
}

// standardBase64 is base64 in the standard alphabet with its padding: Google
// takes the alphabet for URLs as well, and its Python client writes that.
func standardBase64(data string) (string, bool) {
	foreign := false
	body := strings.TrimRight(data, "=")
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/':
		case c == '-', c == '_':
			foreign = true
		default:
			return "", false
		}
	}
	if len(body)%4 == 1 {
		return "", false
	}
	padding := (4 - len(body)%4) % 4
	if !foreign && len(data) == len(body)+padding {
		return data, true
	}
	body = strings.NewReplacer("-", "+", "_", "/").Replace(body)
	return body + "==="[:padding], true
}
