package facts

import "github.com/signalbox-dev/signalbox/shared/catalog"

var somePrompt = required{[]string{"prompt"}, "must be a string"}

// Images is the body of POST /v1/images/generations
// (https://platform.openai.com/docs/api-reference/images/create).
var Images = Format{member: images, required: []required{somePrompt}}

// ImageEdits is the form of POST /v1/images/edits
// (https://platform.openai.com/docs/api-reference/images/createEdit).
var ImageEdits = Format{field: imageEdits, required: []required{
	{[]string{"image"}, "must be one or more image files"}, somePrompt,
}}

func images(r *reader, key string, value []byte) {
	switch {
	case r.common(key, value), r.user(key, value):
	case key == "prompt":
		if r.string("prompt", value) {
			r.textBytes += int64(len(value))
		}
	default:
		r.parameter(key, value)
	}
}

func imageEdits(r *reader, f *field) {
	switch f.part.Base() {
	case "image":
		// Some endpoints take an address or an id in place of a file.
		if f.part.File {
			r.file(catalog.Image)
		}
	case "mask":
		if f.part.File {
			r.file(catalog.Image)
		}
		r.request.Parameters = append(r.request.Parameters, "mask")
	case "prompt":
		r.textBytes += int64(len(r.plain(f)))
	default:
		r.optional(f)
	}
}
