package chat

import (
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// content reads a text or an array of parts. Null is no part, "" is an empty
// one.
func (r *reader) content(path string, v []byte) []conversation.Part {
	switch {
	case rawjson.IsNull(v):
		return nil
	case rawjson.IsString(v):
		return []conversation.Part{{Kind: conversation.Text, Text: r.Text(path, v)}}
	case v[0] != '[':
		r.Wrong(path, openai.WrongType, "must be a string or an array of parts")
		return nil
	}
	var parts []conversation.Part
	r.Each(path, v, func(path string, v []byte) {
		if p, ok := r.part(path, v); ok {
			parts = append(parts, p)
		}
	})
	return parts
}

// part reads one part. The last result is false for what is none.
func (r *reader) part(path string, v []byte) (conversation.Part, bool) {
	var p conversation.Part
	var kind string
	var value []byte
	if rawjson.IsString(v) { // an array of plain texts, as some write
		return conversation.Part{Kind: conversation.Text, Text: r.Text(path, v)}, true
	}
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = r.Text(path+".type", o.Value())
		case o.Is("cache_control"):
			p.Cache = cacheOf(o.Value())
		case o.Is("text"), o.Is("refusal"), o.Is("image_url"), o.Is("input_audio"), o.Is("file"), o.Is("video_url"), o.Is("thinking"):
			value = o.Value()
		}
	}
	inner := path + "." + kind
	switch kind {
	case "text":
		p.Text = r.Text(inner, value)
	case "refusal":
		p.Kind, p.Text = conversation.Refusal, r.Text(inner, value)
	case "image_url":
		p.Kind, p.Media = conversation.Image, r.url(inner, value)
	case "video_url":
		p.Kind, p.Media = conversation.Video, r.url(inner, value)
	case "input_audio":
		p.Kind, p.Media = conversation.Audio, r.sound(inner, value)
	case "file":
		p.Kind, p.Media = conversation.File, r.file(inner, value)
	case "thinking": // Mistral's, in replies and in what follows them
		p.Kind, p.Thought = conversation.Thought, &conversation.Thinking{Text: r.joined(inner, value)}
		return p, p.Thought.Text != ""
	default:
		r.Wrong(path+".type", openai.UnknownValue, "must be text, image_url, input_audio, file, video_url or refusal")
		return p, false
	}
	return p, true
}

// joined reads a text, or parts of text as one.
func (r *reader) joined(path string, v []byte) string {
	var text strings.Builder
	for _, p := range r.content(path, v) {
		text.WriteString(p.Text)
	}
	return text.String()
}

// url reads {"url":…,"detail":…}, or a bare URL.
func (r *reader) url(path string, v []byte) *conversation.Media {
	var address, detail string
	if rawjson.IsString(v) {
		address = r.Text(path, v)
	} else {
		o := r.Object(path, v)
		for o.Next() {
			switch {
			case o.Is("url"):
				address = r.Text(path+".url", o.Value())
			case o.Is("detail"):
				detail = r.Text(path+".detail", o.Value())
			}
		}
	}
	if address == "" {
		r.Wrong(path+".url", openai.Missing, "must be a URL")
	}
	m := openai.Located(address)
	m.Detail = detail
	return m
}

// sound reads {"data":…,"format":"wav"}.
func (r *reader) sound(path string, v []byte) *conversation.Media {
	m := &conversation.Media{}
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("data"):
			m.Data = r.Text(path+".data", o.Value())
		case o.Is("format"):
			m.MIME = openai.SoundType(r.Text(path+".format", o.Value()))
		}
	}
	if m.Data == "" {
		r.Wrong(path+".data", openai.Missing, "must be the sound in base64")
	}
	return m
}

// file reads {"filename":…} with "file_data", a data URL, or "file_id".
func (r *reader) file(path string, v []byte) *conversation.Media {
	m := &conversation.Media{}
	name := ""
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("filename"):
			name = r.Text(path+".filename", v)
		case o.Is("file_id") && !openai.IsBlank(v):
			m.FileID = r.Text(path+".file_id", v)
		case o.Is("file_data") && !openai.IsBlank(v):
			id := m.FileID
			if m = openai.Located(r.Text(path+".file_data", v)); m.URL != "" && !strings.Contains(m.URL, "://") {
				m = &conversation.Media{Data: m.URL} // bare base64
			}
			m.FileID = id
		}
	}
	if m.FileID != "" {
		m = &conversation.Media{FileID: m.FileID}
	} else if m.Data == "" && m.URL == "" {
		r.Wrong(path, openai.Missing, "must have file_data or file_id")
	}
	m.Name = name
	return m
}

// cacheOf reads a cache mark in Anthropic's form, which gateways take here too.
func cacheOf(v []byte) conversation.Cache {
	switch {
	case openai.IsBlank(v) || v[0] != '{':
		return ""
	case rawjson.String(openai.Member(v, "ttl")) == "1h":
		return conversation.Cache1h
	}
	return conversation.Cache5m
}
