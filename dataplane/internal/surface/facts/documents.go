package facts

// OCR is the body of POST /v1/ocr (https://docs.mistral.ai/api/#tag/ocr), or a
// form with the document as a file. What kinds of document an endpoint reads is
// not said by the modalities of its model, so none is needed.
var OCR = Format{member: documents, field: documentFields, required: []required{
	{[]string{"document", "file", "documents"}, "must be a document, as an object or, in a form, a file"},
}}

// Parse is the body of POST /v1/parse: like OCR, with an input that may also
// be text or an address.
var Parse = Format{member: documents, field: documentFields, required: []required{
	{[]string{"document", "file", "documents", "input", "url"}, "must be a document, as an object or, in a form, a file"},
}}

// Decisions is the body of POST /v1/decisions. Its members differ from provider
// to provider; the gateway reads its own only.
var Decisions = Format{member: documents, field: documentFields}

func documents(r *reader, key string, value []byte) {
	switch {
	case r.unstreamed(key, value):
	case key == "document":
		if r.object("document", value) {
			r.tokens += mediaTokens
		}
	case key == "input" || key == "messages":
		r.textBytes += int64(len(value))
	default:
		r.parameter(key, value)
	}
}

func documentFields(r *reader, f *field) {
	switch {
	case f.part.File:
		r.tokens += mediaTokens
	case f.part.Base() == "file":
		r.isFile(f)
	case f.part.Base() == "input":
		r.textBytes += int64(len(f.value))
	default:
		r.optional(f)
	}
}
