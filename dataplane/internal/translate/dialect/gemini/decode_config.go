package gemini

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// generation reads generationConfig
// (https://ai.google.dev/api/generate-content#generationconfig).
func (r *requestReader) generation(at string, v []byte) {
	if !r.object(at, v) {
		return
	}
	var f outputForm
	q := &r.request
	for o := rawjson.NewObject(v); o.Next(); {
		value := o.Value()
		if rawjson.IsNull(value) {
			continue
		}
		name := at + "." + nameOf(&o)
		switch {
		case is(&o, "stopSequences"):
			q.Stop = r.texts(name, value)
		case o.Is("temperature"):
			q.Temperature = r.number(name, value)
		case is(&o, "topP"):
			q.TopP = r.number(name, value)
		case is(&o, "topK"):
			q.TopK = r.number(name, value)
		case o.Is("seed"):
			q.Seed = r.number(name, value)
		case is(&o, "presencePenalty"):
			q.PresencePenalty = r.number(name, value)
		case is(&o, "frequencyPenalty"):
			q.FrequencyPenalty = r.number(name, value)
		case is(&o, "maxOutputTokens"):
			q.MaxTokens = r.whole(name, value, 0)
		case is(&o, "candidateCount"):
			q.Choices = r.whole(name, value, 0)
		case is(&o, "responseLogprobs"):
			q.Logprobs = r.flag(name, value)
		case o.Is("logprobs"):
			q.TopLogprobs = r.number(name, value)
		case is(&o, "thinkingConfig"):
			r.thinking(name, value)
		case is(&o, "responseModalities"):
			if modalities := r.texts(name, value); !slices.Equal(modalities, []string{"TEXT"}) && len(modalities) > 0 {
				r.other(name)
			}
		case !r.outputMember(name, &o, &f):
			r.other(name)
		}
	}
	r.output(at, f)
}

// outputForm is what generationConfig says of the reply's form, in any of the
// three ways that it has for it.
type outputForm struct {
	mime             string
	schema, openAPI  []byte
	mimeAt, schemaAt string
}

func (r *requestReader) outputMember(name string, o *rawjson.Object, f *outputForm) bool {
	switch {
	case is(o, "responseMimeType"):
		f.mime, f.mimeAt = r.text(name, o.Value()), name
	case is(o, "responseSchema"):
		f.openAPI, f.schemaAt = o.Value(), name
	case is(o, "responseJsonSchema"):
		f.schema, f.schemaAt = o.Value(), name
	case is(o, "responseFormat"): // Vertex's newer way
		r.each(name, o.Value(), func(at string, v []byte) { r.responseFormat(at, v, f) })
	default:
		return false
	}
	return true
}

func (r *requestReader) responseFormat(at string, v []byte, f *outputForm) {
	if !r.object(at, v) {
		return
	}
	for o := rawjson.NewObject(v); o.Next(); {
		if !o.Is("text") {
			r.other(at + "." + nameOf(&o))
			continue
		}
		for text := rawjson.NewObject(o.Value()); text.Next(); {
			name := at + ".text." + nameOf(&text)
			switch {
			case is(&text, "mimeType"):
				f.mime, f.mimeAt = r.text(name, text.Value()), name
				if f.mime == "APPLICATION_JSON" {
					f.mime = "application/json"
				}
			case text.Is("schema"):
				f.schema, f.schemaAt = text.Value(), name
			}
		}
	}
}

func (r *requestReader) output(at string, f outputForm) {
	var schema []byte
	switch {
	case f.schema != nil && r.object(f.schemaAt, f.schema):
		schema = slices.Clone(f.schema)
	case f.openAPI != nil && r.object(f.schemaAt, f.openAPI):
		schema = jsonSchema(f.openAPI)
	}
	switch {
	case f.mime == "text/x.enum": // one of a schema's words, without quotes
		r.other(f.mimeAt)
	case schema != nil:
		r.request.Output = &conversation.Output{Kind: conversation.JSONSchema, Schema: schema}
	case f.mime == "application/json":
		r.request.Output = &conversation.Output{Kind: conversation.JSONObject}
	case f.mime == "text/plain":
		r.request.Output = &conversation.Output{Kind: conversation.PlainText}
	case f.mime != "":
		r.wrong(at+".responseMimeType", outOfRange, "must be text/plain, application/json or text/x.enum")
	}
}

// thinking reads thinkingConfig
// (https://ai.google.dev/gemini-api/docs/thinking).
func (r *requestReader) thinking(at string, v []byte) {
	if !r.object(at, v) {
		return
	}
	var said conversation.Reasoning
	for o := rawjson.NewObject(v); o.Next(); {
		value, name := o.Value(), at+"."+nameOf(&o)
		switch {
		case rawjson.IsNull(value):
		case is(&o, "includeThoughts"):
			if r.flag(name, value) {
				said.Summary = "auto"
			}
		case is(&o, "thinkingBudget"):
			said.Budget = r.whole(name, value, conversation.Dynamic)
			said.Off = said.Budget == 0
		case is(&o, "thinkingLevel"):
			switch level := strings.ToLower(r.text(name, value)); level {
			case "", "thinking_level_unspecified":
			case "minimal", "low", "medium", "high":
				said.Effort = level
			default:
				r.wrong(name, outOfRange, "must be MINIMAL, LOW, MEDIUM or HIGH")
			}
		default:
			r.other(name)
		}
	}
	r.request.Reasoning = said
}
