package messages

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// image reads the source of an image.
func (r *reader) image(path string, v gjson.Result) *conversation.Media {
	m := &conversation.Media{}
	if !r.source(path, v) {
		return m
	}
	switch v.Get("type").Str {
	case "base64", "url", "file":
		r.given(path, v, m)
	default:
		r.wrong(path+".type", outOfSet, "must be base64, url or file")
	}
	return m
}

func (r *reader) source(path string, v gjson.Result) bool {
	if v.Type == gjson.Null {
		r.wrong(path, required, "is required")
		return false
	}
	return r.object(path, v)
}

// given reads what images and documents have in common.
func (r *reader) given(path string, v gjson.Result, m *conversation.Media) {
	switch v.Get("type").Str {
	case "base64":
		m.MIME = r.need(path+".media_type", v.Get("media_type"))
		m.Data = r.need(path+".data", v.Get("data"))
	case "url":
		m.URL = r.need(path+".url", v.Get("url"))
	case "file":
		m.FileID = r.need(path+".file_id", v.Get("file_id"))
	}
}

// document reads a document block: what is said of it, then its content.
func (r *reader) document(path string, v gjson.Result) []conversation.Part {
	var parts []conversation.Part
	if context := r.text(path+".context", v.Get("context")); context != "" {
		parts = append(parts, conversation.Part{Kind: conversation.Text, Text: context})
	}
	if v.Get("citations.enabled").Type == gjson.True {
		r.request.Other = append(r.request.Other, path+".citations")
	}
	m := &conversation.Media{Name: r.text(path+".title", v.Get("title"))}
	source := v.Get("source")
	if !r.source(path+".source", source) {
		return nil
	}
	path += ".source"
	switch source.Get("type").Str {
	case "base64", "url", "file":
		r.given(path, source, m)
	case "text":
		m.MIME, m.Text = "text/plain", r.need(path+".data", source.Get("data"))
	case "content":
		return append(parts, r.chunks(path+".content", source.Get("content"), m)...)
	default:
		r.wrong(path+".type", outOfSet, "must be base64, text, content, url or file")
	}
	return append(parts, conversation.Part{Kind: conversation.File, Media: m})
}

// chunks reads a document that is given in blocks. Those of text are one text,
// a line each; with images among them, each is a part.
func (r *reader) chunks(path string, v gjson.Result, m *conversation.Media) []conversation.Part {
	var parts []conversation.Part
	mixed := false
	r.content(path, v, func(path string, v gjson.Result) {
		switch v.Get("type").Str {
		case "image":
			mixed = true
		case typeText:
		default:
			r.wrong(path+".type", outOfSet, "must be text or image")
			return
		}
		parts = append(parts, r.block(path, v)...)
	})
	if mixed {
		if m.Name != "" {
			parts = append([]conversation.Part{{Kind: conversation.Text, Text: m.Name}}, parts...)
		}
		return parts
	}
	var lines []string
	for _, p := range parts {
		lines = append(lines, p.Text)
	}
	m.MIME, m.Text = "text/plain", strings.Join(lines, "\n")
	return []conversation.Part{{Kind: conversation.File, Media: m}}
}

// searchResult reads what a search of the caller's own found.
func (r *reader) searchResult(path string, v gjson.Result) []conversation.Part {
	lines := []string{r.need(path+".source", v.Get("source"))}
	r.elements(path+".content", v.Get("content"), func(path string, v gjson.Result) {
		lines = append(lines, r.need(path+".text", v.Get("text")))
	})
	return []conversation.Part{{Kind: conversation.File, Media: &conversation.Media{
		Name: r.need(path+".title", v.Get("title")), MIME: "text/plain", Text: strings.Join(lines, "\n"),
	}}}
}
