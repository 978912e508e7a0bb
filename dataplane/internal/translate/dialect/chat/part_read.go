package chat

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// content reads a text or an array of parts. Null is no part, "" is an empty
// one.
func (r *reader) content(path string, v []byte) []conversation.Part {
	switch {
	case rawjson.IsNull(v):
		return nil
	case rawjson.IsString(v):
		return []conversation.Part{{Kind: conversation.Text, Text: r.text(path, v)}}
	case v[0] != '[':
		r.wrong(path, wrongType, "must be a string or an array of parts")
		return nil
	}
	var parts []conversation.Part
	r.each(path, v, func(path string, v []byte) {
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
		return conversation.Part{Kind: conversation.Text, Text: r.text(path, v)}, true
	}
	o := r.object(path, v)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = r.text(path+".type", o.Value())
		case o.Is("cache_control"):
			p.Cache = cacheOf(o.Value())
		case o.Is("text"), o.Is("refusal"), o.Is("image_url"), o.Is("input_audio"), o.Is("file"), o.Is("video_url"), o.Is("thinking"):
			value = o.Value()
		}
	}
	inner := path + "." + kind
	switch kind {
	case "text":
		p.Text = r.text(inner, value)
	case "refusal":
		p.Kind, p.Text = conversation.Refusal, r.text(inner, value)
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
		r.wrong(path+".type", unknownValue, "must be text, image_url, input_audio, file, video_url or refusal")
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
		address = r.text(path, v)
	} else {
		o := r.object(path, v)
		for o.Next() {
			switch {
			case o.Is("url"):
				address = r.text(path+".url", o.Value())
			case o.Is("detail"):
				detail = r.text(path+".detail", o.Value())
			}
		}
	}
	if address == "" {
		r.wrong(path+".url", missing, "must be a URL")
	}
	m := located(address)
	m.Detail = detail
	return m
}

// located is media by URL, or what a data URL holds
// (https://www.rfc-editor.org/rfc/rfc2397).
func located(address string) *conversation.Media {
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

func dataURL(m *conversation.Media) string {
	mime := m.Type()
	if mime == "" {
		mime = "application/octet-stream"
	}
	return "data:" + mime + ";base64," + m.Data
}

// sound reads {"data":…,"format":"wav"}.
func (r *reader) sound(path string, v []byte) *conversation.Media {
	m := &conversation.Media{}
	o := r.object(path, v)
	for o.Next() {
		switch {
		case o.Is("data"):
			m.Data = r.text(path+".data", o.Value())
		case o.Is("format"):
			m.MIME = soundType(r.text(path+".format", o.Value()))
		}
	}
	if m.Data == "" {
		r.wrong(path+".data", missing, "must be the sound in base64")
	}
	return m
}

func soundType(format string) string {
	switch format {
	case "":
		return ""
	case "mp3":
		return "audio/mpeg"
	}
	return "audio/" + format
}

// soundFormat is the name of a type; the format has these two.
func soundFormat(mime string) string {
	switch mime {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	return ""
}

// file reads {"filename":…} with "file_data", a data URL, or "file_id".
func (r *reader) file(path string, v []byte) *conversation.Media {
	m := &conversation.Media{}
	name := ""
	o := r.object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("filename"):
			name = r.text(path+".filename", v)
		case o.Is("file_id") && !isBlank(v):
			m.FileID = r.text(path+".file_id", v)
		case o.Is("file_data") && !isBlank(v):
			id := m.FileID
			if m = located(r.text(path+".file_data", v)); m.URL != "" && !strings.Contains(m.URL, "://") {
				m = &conversation.Media{Data: m.URL} // bare base64
			}
			m.FileID = id
		}
	}
	if m.FileID != "" {
		m = &conversation.Media{FileID: m.FileID}
	} else if m.Data == "" && m.URL == "" {
		r.wrong(path, missing, "must have file_data or file_id")
	}
	m.Name = name
	return m
}

// cacheOf reads a cache mark in Anthropic's form, which gateways take here too.
func cacheOf(v []byte) conversation.Cache {
	switch {
	case isBlank(v) || v[0] != '{':
		return ""
	case rawjson.String(member(v, "ttl")) == "1h":
		return conversation.Cache1h
	}
	return conversation.Cache5m
}
