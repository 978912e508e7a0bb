package surface

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/body"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// read fills the call from the request; model is the path's, "" when the body
// names it. What is wrong goes along as the call's Malformed and is answered
// once the caller is known.
func (e *Edge) read(g *gin.Context, row *row, c *call.Call, model string) {
	c.Surface, c.Action = row.surface, row.action
	if c.Object = g.Param("id"); c.Object != "" {
		c.Kept = row.surface
	}
	c.Query = queryOf(g.Request)
	o := facts.Options{MaxFirstByte: e.options.MaxFirstByte, Model: model, Stream: row.streams}
	if row.surface == catalog.Realtime {
		o.Model = c.Query.Get("model")
	}
	boundary, refusal := row.boundary(c.Header["Content-Type"])
	if refusal == nil && row.surface == catalog.Realtime {
		refusal = upgrades(g.Request)
		if refusal == nil && c.Query.Has("models") {
			refusal = oneModel()
		}
	}
	if refusal != nil || row.body == noBody {
		body.Skip(g.Writer, g.Request)
		if c.Malformed = refusal; refusal == nil {
			c.Request, c.Malformed = facts.ReadHead(c.Header, o)
		}
		return
	}
	data, refusal := body.Read(g.Writer, g.Request, e.limits(boundary))
	if refusal != nil {
		c.Malformed = refusal
		return
	}
	c.Body, c.Form = data.Bytes, boundary
	if data.Held != nil {
		c.Store = data.Held
	}
	if boundary != "" {
		c.Request, c.Malformed = facts.ReadForm(row.facts, data.Bytes, boundary, c.Header, o)
	} else {
		c.Request, c.Malformed = facts.Read(row.facts, data.Bytes, c.Header, o)
	}
	if c.Malformed == nil {
		c.Malformed = row.unsupported(&c.Request)
	}
	if file := c.Request.InputFile; file != "" {
		c.Object, c.Kept = file, catalog.Files
	}
}

// limits bound a body, which is a form when it has a boundary.
func (e *Edge) limits(boundary string) body.Limits {
	l := body.Limits{MaxBytes: e.options.MaxJSON, Time: e.options.BodyTime, Spool: e.bodies}
	if boundary != "" {
		l.MaxBytes = e.options.MaxMultipart
	}
	return l
}

// unsupported refuses what the surface does not have.
func (r *row) unsupported(q *call.Request) *fault.Error {
	switch {
	case len(q.Models) > 0 && !r.models:
		return oneModel()
	case q.Stream && !r.stream:
		return fault.Invalid(fault.Violation{Path: "stream", Code: "not_supported", Message: "this surface does not stream"})
	}
	return nil
}

func oneModel() *fault.Error {
	return fault.Invalid(fault.Violation{Path: "models", Code: "not_supported", Message: "this surface takes one model"})
}

const formType = "multipart/form-data"

// boundary is that of a form, "" for a JSON body. Bodies that are certainly of
// a kind that the surface does not take are refused. A missing or careless
// content-type, such as curl's default, is no reason to refuse JSON.
func (r *row) boundary(values []string) (string, *fault.Error) {
	if len(values) == 0 || values[0] == typeJSON {
		return "", r.takesJSON()
	}
	kind, parameters, err := mime.ParseMediaType(values[0])
	switch {
	case kind != formType && !strings.HasPrefix(strings.ToLower(values[0]), formType):
		return "", r.takesJSON()
	case r.body == jsonBody:
		return "", fault.New(fault.UnsupportedMediaType, "This surface takes a JSON body. Send content-type: application/json.")
	case r.body == noBody:
		return "", nil
	case err != nil || parameters["boundary"] == "":
		return "", fault.New(fault.ValidationError, "The content-type of a form must name its boundary, as in multipart/form-data; boundary=….")
	}
	return parameters["boundary"], nil
}

func (r *row) takesJSON() *fault.Error {
	if r.body == formBody {
		return fault.New(fault.UnsupportedMediaType, "This surface takes a form. Send content-type: multipart/form-data, with a boundary.")
	}
	return nil
}

// queryOf is the caller's query without the credential.
func queryOf(r *http.Request) url.Values {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // what of it cannot be read is not there
	delete(query, "key")
	if len(query) == 0 {
		return nil
	}
	return query
}
