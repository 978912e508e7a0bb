package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// content reads a text or an array of parts.
func (r *reader) content(path string, v []byte) []conversation.Part {
	switch {
	case rawjson.IsNull(v):
		r.Wrong(path, openai.Missing, "must be a string or an array of parts")
		return nil
	case rawjson.IsString(v):
		return []conversation.Part{{Kind: conversation.Text, Text: r.Text(path, v)}}
	case v[0] != '[':
		r.Wrong(path, openai.WrongType, "must be a string or an array of parts")
		return nil
	}
	var parts []conversation.Part
	r.Each(path, v, func(path string, v []byte) {
		var raw part
		raw.read(r, path, v)
		if p, ok := r.part(path, &raw); ok {
			parts = append(parts, p)
		}
	})
	return parts
}

// part is a content part: its members as they are written.
type part struct {
	kind                        string
	text, annotations, logprobs []byte
	url, data, id, name, detail []byte
	audio, mark                 []byte
}

func (p *part) read(r *reader, path string, v []byte) {
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("type"):
			p.kind = r.Text(path+".type", v)
		case o.Is("text"), o.Is("refusal"):
			p.text = v
		case o.Is("annotations"):
			p.annotations = v
		case o.Is("logprobs"):
			p.logprobs = v
		case o.Is("image_url"), o.Is("file_url"):
			p.url = v
		case o.Is("file_data"):
			p.data = v
		case o.Is("file_id"):
			p.id = v
		case o.Is("filename"):
			p.name = v
		case o.Is("detail"):
			p.detail = v
		case o.Is("input_audio"):
			p.audio = v
		case o.Is("prompt_cache_breakpoint"):
			p.mark = v
		}
	}
}

// part reads one part. The last result is false for what is none.
func (r *reader) part(path string, raw *part) (conversation.Part, bool) {
	p := conversation.Part{Cache: cacheOf(raw.mark)}
	switch raw.kind {
	case inputText, outputText:
		p.Text = r.Text(path+".text", raw.text)
		p.Citations = readCitations(raw.annotations)
	case refusal:
		p.Kind, p.Text = conversation.Refusal, r.Text(path+".refusal", raw.text)
	case inputImage:
		p.Kind, p.Media = conversation.Image, r.picture(path, raw)
	case inputFile:
		p.Kind, p.Media = conversation.File, r.file(path, raw)
	case inputAudio:
		p.Kind, p.Media = conversation.Audio, r.sound(path+".input_audio", raw.audio)
	default:
		r.Wrong(path+".type", openai.UnknownValue, "must be input_text, input_image, input_file, input_audio, output_text or refusal")
		return p, false
	}
	return p, true
}

func (r *reader) picture(path string, raw *part) *conversation.Media {
	m := &conversation.Media{}
	switch {
	case !openai.IsBlank(raw.url):
		m = openai.Located(r.Text(path+".image_url", raw.url))
	case !openai.IsBlank(raw.id):
		m.FileID = r.Text(path+".file_id", raw.id)
	default:
		r.Wrong(path, openai.Missing, "must have image_url or file_id")
	}
	m.Detail = r.Text(path+".detail", raw.detail)
	return m
}

func (r *reader) file(path string, raw *part) *conversation.Media {
	m := &conversation.Media{}
	switch {
	case !openai.IsBlank(raw.data):
		data := r.Text(path+".file_data", raw.data)
		if m = openai.Located(data); m.URL != "" {
			m = &conversation.Media{Data: data} // base64 alone
		}
	case !openai.IsBlank(raw.url):
		m.URL = r.Text(path+".file_url", raw.url)
	case !openai.IsBlank(raw.id):
		m.FileID = r.Text(path+".file_id", raw.id)
	default:
		r.Wrong(path, openai.Missing, "must have file_data, file_url or file_id")
	}
	m.Name = r.Text(path+".filename", raw.name)
	m.Detail = r.Text(path+".detail", raw.detail)
	return m
}

// sound reads {"data":…,"format":"wav"}.
func (r *reader) sound(path string, v []byte) *conversation.Media {
	m := &conversation.Media{}
	var data, format []byte
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("data"):
			data = o.Value()
		case o.Is("format"):
			format = o.Value()
		}
	}
	m.Data = r.Need(path+".data", data, "must be the sound in base64")
	m.MIME = openai.SoundType(r.Text(path+".format", format))
	return m
}

// cacheOf reads a prompt_cache_breakpoint. The lifetimes of this format are
// half an hour and twelve: one that was asked for lasts an hour elsewhere, and
// one that was not lasts as long as the provider thinks.
func cacheOf(v []byte) conversation.Cache {
	switch {
	case openai.IsBlank(v) || v[0] != '{':
		return ""
	case openai.IsBlank(openai.Member(v, "ttl")):
		return conversation.Cache5m
	}
	return conversation.Cache1h
}
