package openai

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// Located is media by URL, or what a data URL holds
// (https://www.rfc-editor.org/rfc/rfc2397).
func Located(address string) *conversation.Media {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return &conversation.Media{URL: address}
	}
	kind, data, ok := strings.Cut(rest, ",")
	if !ok {
		return &conversation.Media{URL: address}
	}
	mime, isBase64 := strings.CutSuffix(kind, ";base64")
	if !isBase64 {
		plain, err := url.PathUnescape(data)
		if err != nil {
			return &conversation.Media{URL: address}
		}
		data = base64.StdEncoding.EncodeToString([]byte(plain))
	}
	return &conversation.Media{MIME: mime, Data: data}
}

// DataURL is the data of m as a URL.
func DataURL(m *conversation.Media) string {
	mime := m.Type()
	if mime == "" {
		mime = "application/octet-stream"
	}
	return "data:" + mime + ";base64," + m.Data
}

// SoundType is the media type of a "format" of sound, "" for none.
func SoundType(format string) string {
	switch format {
	case "":
		return ""
	case "mp3":
		return "audio/mpeg"
	}
	return "audio/" + format
}

// SoundFormat is the "format" of a media type, "" for one that the formats do
// not have: there are these two.
func SoundFormat(mime string) string {
	switch mime {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	return ""
}

// FileName is what a file is called: as it is, or by its type, since the
// formats demand a name.
func FileName(m *conversation.Media) string {
	switch {
	case m.Name != "":
		return m.Name
	case m.Type() == "application/pdf":
		return "file.pdf"
	case m.Type() == "text/plain":
		return "file.txt"
	}
	return "file"
}
