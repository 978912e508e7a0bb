package facts

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Embeddings is the body of POST /v1/embeddings
// (https://platform.openai.com/docs/api-reference/embeddings/create).
var Embeddings = Format{member: embeddings, required: []required{
	{[]string{"input"}, "must be a string, an array of strings, or tokens"},
}}

// Moderations is the body of POST /v1/moderations
// (https://platform.openai.com/docs/api-reference/moderations/create).
var Moderations = Format{member: moderations, required: []required{
	{[]string{"input"}, "must be a string, or an array of strings or parts"},
}}

// Rerank is the body of POST /v1/rerank (https://docs.cohere.com/reference/rerank).
var Rerank = Format{member: rerank, required: []required{
	{[]string{"query"}, "must be a string"}, {[]string{"documents"}, "must be an array of strings or objects"},
}}

// unstreamed reads what the formats have in common that never stream; what
// their "stream" says is still looked at, so that it is not ignored silently.
func (r *reader) unstreamed(key string, value []byte) bool {
	return r.common(key, value) || r.user(key, value)
}

func embeddings(r *reader, key string, value []byte) {
	switch {
	case r.unstreamed(key, value):
	case key == "input":
		r.texts("input", value)
	default:
		r.parameter(key, value)
	}
}

func moderations(r *reader, key string, value []byte) {
	switch {
	case r.unstreamed(key, value):
	case key == "input":
		r.texts("input", value)
		if len(value) > 0 && value[0] == '[' {
			r.media(value, kinds{{"image_url", catalog.Image}})
		}
	default:
		r.parameter(key, value)
	}
}

func rerank(r *reader, key string, value []byte) {
	switch {
	case r.unstreamed(key, value):
	case key == "query":
		if r.string("query", value) {
			r.textBytes += int64(len(value))
		}
	case key == "documents":
		if r.array("documents", value) {
			r.textBytes += int64(len(value))
		}
	default:
		r.parameter(key, value)
	}
}

// texts reads a string, an array of them, or what stands for text in tokens:
// an array of numbers, or an array of such.
func (r *reader) texts(path string, value []byte) {
	switch {
	case rawjson.IsNull(value):
	case value[0] == '"':
		r.textBytes += int64(len(value))
	case value[0] == '[':
		r.elements(value, true)
	default:
		r.wrong(path, wrongType, "must be a string or an array")
	}
}

func (r *reader) elements(value []byte, deeper bool) {
	for a := rawjson.NewArray(value); a.Next(); {
		switch v := a.Value(); {
		case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
			r.tokens++
		case v[0] == '[' && deeper:
			r.elements(v, false)
		default:
			r.textBytes += int64(len(v))
		}
	}
}
