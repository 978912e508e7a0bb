package converse

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
)

// The words for media types, by the kind of block.
var (
	imageFormats = map[string]string{
		"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp",
	}
	videoFormats = map[string]string{
		"video/x-matroska": "mkv", "video/quicktime": "mov", "video/mp4": "mp4", "video/webm": "webm", "video/x-flv": "flv",
		"video/mpeg": "mpeg", "video/mpg": "mpg", "video/x-ms-wmv": "wmv", "video/wmv": "wmv", "video/3gpp": "three_gp",
	}
	audioFormats = map[string]string{
		"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/opus": "opus", "audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav",
		"audio/aac": "aac", "audio/flac": "flac", "audio/mp4": "mp4", "audio/ogg": "ogg", "audio/x-matroska": "mka", "audio/x-aac": "x-aac",
		"audio/m4a": "m4a", "audio/x-m4a": "m4a", "audio/pcm": "pcm", "audio/l16": "pcm", "audio/webm": "webm",
	}
	documentFormats = map[string]string{
		"application/pdf": "pdf", "text/csv": "csv", "application/msword": "doc", "text/html": "html", "text/plain": "txt",
		"text/markdown": "md", "text/md": "md", "application/vnd.ms-excel": "xls",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":       "xlsx",
	}
)

// media writes an image, video, sound or document.
func (w *writer) media(p turns.Part) error {
	m := p.Media
	switch p.Kind {
	case conversation.Image:
		if m.Detail != "" && m.Detail != "auto" {
			w.lose("detail")
		}
		return w.bytes(p, "image", imageFormats)
	case conversation.Video:
		return w.bytes(p, "video", videoFormats)
	case conversation.Audio:
		return w.bytes(p, "audio", audioFormats)
	default:
		return w.document(p)
	}
}

// bytes writes media of the formats.
func (w *writer) bytes(p turns.Part, kind string, formats map[string]string) error {
	format := formats[p.Media.Type()]
	switch {
	case w.maker.claude && kind != "image":
		return p.Unable(kind)
	case format == "" && isStored(p.Media.URL):
		return p.Unable(kind + " of an unknown type")
	case !isHere(p.Media):
		return p.Unable(kind + " by URL or file id")
	case format == "":
		return p.Unable(kind + " of a type that the format does not have")
	}
	w.open(kind)
	w.b.String("format", format)
	w.source(p.Media)
	w.close()
	return nil
}

// document writes a file. Its name is told to the model and has to be of some
// letters, and another one than that of every other file.
func (w *writer) document(p turns.Part) error {
	m := p.Media
	format := documentFormats[m.Type()]
	switch {
	case m.Text != "" && format == "":
		format = "txt"
	case m.Text == "" && !isHere(m):
		return p.Unable("a file by URL or file id")
	case format == "":
		return p.Unable("a file of a type that the format does not have")
	}
	w.open("document")
	w.b.String("format", format)
	w.b.String("name", w.names.unique(m.Name, format))
	if m.Text != "" {
		w.b.Name("source")
		w.b.Open('{')
		w.b.String("text", m.Text)
		w.b.Close('}')
	} else {
		w.source(m)
	}
	w.close()
	return nil
}

// isHere reports media whose bytes are in the request or in Amazon's store.
func isHere(m *conversation.Media) bool { return m.Data != "" || isStored(m.URL) }

func isStored(url string) bool { return strings.HasPrefix(url, "s3://") }

func (w *writer) source(m *conversation.Media) {
	w.b.Name("source")
	w.b.Open('{')
	if m.Data != "" {
		w.b.String("bytes", m.Data)
	} else {
		w.b.Name("s3Location")
		w.b.Open('{')
		w.b.String("uri", m.URL)
		w.b.Close('}')
	}
	w.b.Close('}')
}

const (
	defaultName = "document"
	maxName     = 200 // bytes of a document's name
)

// documentNames makes names that do not repeat in a request.
type documentNames struct{ taken map[string]bool }

// unique makes a name of the letters that are allowed: letters and digits,
// single spaces, hyphens, parentheses and square brackets. The ending goes,
// since the format says it.
func (d *documentNames) unique(name, format string) string {
	if at := strings.LastIndexByte(name, '.'); at > 0 && strings.EqualFold(name[at+1:], format) {
		name = name[:at]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-()[] ", r):
			return r
		case r == '\t', r == '\n', r == '\r':
			return ' '
		}
		return '-'
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if name == "" {
		name = defaultName
	}
	name = name[:min(len(name), maxName-8)]
	if d.taken == nil {
		d.taken = make(map[string]bool)
	}
	out := name
	for n := 2; d.taken[out]; n++ {
		out = name + " (" + strconv.Itoa(n) + ")"
	}
	d.taken[out] = true
	return out
}
