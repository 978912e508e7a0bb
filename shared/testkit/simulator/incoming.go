package simulator

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// form is a multipart body.
type form struct {
	values map[string][]string
	files  []filePart
}

type filePart struct {
	field, name, kind string
	data              []byte
}

func (f *form) value(name string) string {
	if all := f.values[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// file is the first file of a field.
func (f *form) file(field string) (filePart, bool) {
	for _, one := range f.files {
		if one.field == field {
			return one, true
		}
	}
	return filePart{}, false
}

// take reads the body and the model's name. What is wrong is said later, when
// the credential has been looked at.
func (x *exchange) take() {
	media, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err == nil && media == "multipart/form-data":
		x.form, x.bad = readForm(x.body, params["boundary"])
		if x.form != nil {
			x.model = x.form.value("model")
		}
	case gjson.ValidBytes(x.body) && gjson.ParseBytes(x.body).IsObject():
		x.json = gjson.ParseBytes(x.body)
		x.model = x.json.Get("model").String()
	}
	switch {
	case x.route == nil:
	case x.route.model != nil:
		x.model = x.route.model(x)
	case x.deployment != "":
		x.model = x.deployment
	}
}

func readForm(body []byte, boundary string) (*form, string) {
	if boundary == "" {
		return nil, "the Content-Type has no boundary"
	}
	f := &form{values: map[string][]string{}}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return f, ""
		}
		if err != nil {
			return nil, "the multipart body is broken"
		}
		data, err := io.ReadAll(part) // bounded as the body is
		if err != nil {
			return nil, "the multipart body is broken"
		}
		switch {
		case part.FormName() == "":
			return nil, "a part has no name"
		case part.FileName() == "":
			f.values[part.FormName()] = append(f.values[part.FormName()], string(data))
		default:
			f.files = append(f.files, filePart{
				field: part.FormName(), name: part.FileName(), kind: part.Header.Get("Content-Type"), data: data,
			})
		}
	}
}

// unread is the request with its body yet to be read.
func (x *exchange) unread() *http.Request {
	x.r.Body = io.NopCloser(bytes.NewReader(x.body))
	return x.r
}

// checkBody refuses a body that is not what the route takes.
func (x *exchange) checkBody() *refusal {
	kind := strings.ToLower(x.r.Header.Get("Content-Type"))
	switch want := x.route.body; {
	case x.bad != "":
		return refuse("", "Could not parse multipart form: %s.", x.bad)
	case want == noBody && len(x.body) > 0 && x.platform != compatible:
		return refuse("", "This API method takes no request body.")
	case want == noBody, want == rawBody:
	case x.form != nil && want == jsonBody:
		return unsupportedType(kind, "application/json")
	case x.form == nil && want == formBody:
		return unsupportedType(kind, "multipart/form-data")
	case x.form != nil:
	case !x.json.IsObject():
		return refuse("", "We could not parse the JSON body of your request.")
	case kind == "" && x.platform == compatible:
	case !strings.Contains(kind, "json"):
		return unsupportedType(kind, "application/json")
	}
	return nil
}

func unsupportedType(kind, want string) *refusal {
	return refuse("", "Unsupported content type: '%s'. This API method only accepts '%s' requests.", kind, want)
}
