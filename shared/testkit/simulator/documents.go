package simulator

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

const maxDocuments = 1000

// rerank is the shape that Cohere
// (https://docs.cohere.com/reference/rerank) and Jina (https://jina.ai/reranker)
// share, with the usage of both. The score is the share of the query's words
// that a document has.
func rerank(body gjson.Result, model string) (json.RawMessage, *refusal) {
	query, documents := body.Get("query"), body.Get("documents").Array()
	top := int(body.Get("top_n").Int())
	switch {
	case model == "":
		return nil, missing("model")
	case query.Type != gjson.String || query.Str == "":
		return nil, missing("query")
	case len(documents) == 0:
		return nil, refuse("documents", "invalid request: list of documents must not be empty")
	case len(documents) > maxDocuments:
		return nil, refuse("documents", "invalid request: at most %d documents", maxDocuments)
	case body.Get("top_n").Exists() && top < 1:
		return nil, refuse("top_n", "invalid request: top_n must be at least 1")
	}
	type scored struct {
		index int
		score float64
		text  string
	}
	var all []scored
	tokens := len(pieces(query.Str))
	for i, d := range documents {
		text := firstText(d, d.Get("text"))
		if text == "" {
			return nil, refuse("documents", "invalid request: documents[%d] must be text or an object with text", i)
		}
		tokens += len(pieces(text))
		all = append(all, scored{i, likeness(query.Str, text), text})
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	if top > 0 && top < len(all) {
		all = all[:top]
	}
	var results []json.RawMessage
	for _, one := range all {
		document := any(omitted)
		if body.Get("return_documents").Bool() {
			document = obj("text", one.text)
		}
		results = append(results, obj("index", one.index, "relevance_score", one.score, "document", document))
	}
	return obj("id", hexOf([]byte(body.Raw)), "model", model, "results", results, "usage", obj("total_tokens", tokens, "prompt_tokens", tokens),
		"meta", obj("api_version", obj("version", "2"), "billed_units", obj("search_units", 1))), nil
}

func likeness(query, text string) float64 {
	words := strings.Fields(strings.ToLower(query))
	has := set(strings.ToLower(text))
	found := 0
	for _, w := range words {
		if has[w] {
			found++
		}
	}
	return float64(found+1) / float64(len(words)+2)
}

// ocr is Mistral's (https://docs.mistral.ai/api/#tag/ocr). A form has the file
// in the field "document" or "file".
func (x *exchange) ocr() (json.RawMessage, *refusal) {
	if x.model == "" {
		return nil, missing("model")
	}
	size, text := 0, ""
	document := x.json.Get("document")
	switch kind := document.Get("type").Str; {
	case x.form != nil:
		file, refused := x.document()
		if refused != nil {
			return nil, refused
		}
		size, text = len(file.data), file.name
	case kind == "document_url" && document.Get("document_url").Type == gjson.String:
		text = document.Get("document_url").Str
	case kind == "image_url" && document.Get("image_url").Exists():
		text = firstText(document.Get("image_url"), document.Get("image_url.url"))
	case kind == "file" && document.Get("file_id").Type == gjson.String:
		text = document.Get("file_id").Str
	default:
		return nil, refuse("document", "document: Input tag '%s' found using 'type' does not match any of the expected tags: 'file', 'document_url', 'image_url'", kind)
	}
	pages := max(len(x.json.Get("pages").Array()), 1)
	var all []json.RawMessage
	for i := range pages {
		all = append(all, obj("index", i, "markdown", "# Page "+itoa(i+1)+"\n\nThis is "+quote(text)+".", "images", list[int](),
			"dimensions", obj("dpi", 200, "height", 2200, "width", 1700)))
	}
	return obj("pages", all, "model", x.model, "document_annotation", nil,
		"usage_info", obj("pages_processed", pages, "doc_size_bytes", size)), nil
}

func (x *exchange) document() (filePart, *refusal) {
	for _, field := range []string{"document", "file"} {
		if f, ok := x.form.file(field); ok && len(f.data) > 0 {
			return f, nil
		}
	}
	return filePart{}, missing("document")
}

// parse is the generic shape of the package comment.
func (x *exchange) parse() (json.RawMessage, *refusal) {
	text := ""
	switch {
	case x.model == "":
		return nil, missing("model")
	case x.form != nil:
		file, refused := x.document()
		if refused != nil {
			return nil, refused
		}
		text = file.name
	default:
		text = firstText(x.json.Get("input"), x.json.Get("document.url"), x.json.Get("document.text"))
		if text == "" {
			return nil, missing("input")
		}
	}
	content := "This is " + quote(text) + "."
	return obj("id", "parse_"+hexOf(x.body), "object", "parse", "created", x.server.options.Now().Unix(), "model", x.model,
		"content", content, "chunks", list(obj("index", 0, "page", 1, "text", content)),
		"usage", tokenUsage(len(pieces(text)), len(pieces(content)))), nil
}

// decide is the generic shape of the package comment. It chooses the option
// that is most like the input.
func (x *exchange) decide() (json.RawMessage, *refusal) {
	input, options := x.json.Get("input").String(), strs(x.json.Get("options"))
	if x.form != nil {
		input, options = x.form.value("input"), append(x.form.values["options"], x.form.values["options[]"]...)
	}
	switch {
	case x.model == "":
		return nil, missing("model")
	case input == "":
		return nil, missing("input")
	case len(options) == 0:
		return nil, missing("options")
	}
	best := 0
	var scores []any
	for i, o := range options {
		score := likeness(o, input)
		scores = append(scores, o, score)
		if score > likeness(options[best], input) {
			best = i
		}
	}
	return obj("id", "decision_"+hexOf(x.body), "object", "decision", "created", x.server.options.Now().Unix(), "model", x.model,
		"decision", options[best], "scores", obj(scores...), "usage", tokenUsage(len(pieces(input)), 1)), nil
}

func tokenUsage(input, output int) json.RawMessage {
	return obj("input_tokens", input, "output_tokens", output, "total_tokens", input+output)
}
