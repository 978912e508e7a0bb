package surface

import (
	"mime"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/body"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// read fills the call from the body. What is wrong with it goes along as the
// call's Malformed and is answered once the caller is known.
func (e *Edge) read(g *gin.Context, row *row, c *call.Call) {
	if refusal := checkType(g.Request.Header["Content-Type"]); refusal != nil {
		body.Skip(g.Writer, g.Request)
		c.Malformed = refusal
		return
	}
	data, refusal := body.Read(g.Writer, g.Request, body.Limits{MaxBytes: e.options.bodyCap(row.body), Time: e.options.BodyTime})
	if refusal != nil {
		c.Malformed = refusal
		return
	}
	c.Body = data
	c.Request, c.Malformed = facts.Read(row.facts, data, c.Header, facts.Options{MaxFirstByte: e.options.MaxFirstByte})
	if c.Malformed != nil {
		return
	}
	switch {
	case len(c.Request.Models) > 0 && !row.models:
		c.Malformed = fault.Invalid(fault.Violation{Path: "models", Code: "not_supported", Message: "this surface takes one model"})
	case c.Request.Stream && !row.stream:
		c.Malformed = fault.Invalid(fault.Violation{Path: "stream", Code: "not_supported", Message: "this surface does not stream"})
	}
}

// checkType refuses bodies that are certainly of another kind. A missing or
// careless content-type, such as curl's default, is no reason to refuse JSON.
func checkType(values []string) *fault.Error {
	if len(values) == 0 || values[0] == "application/json" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(values[0])
	if err == nil && kind == "multipart/form-data" {
		return fault.New(fault.UnsupportedMediaType, "This surface takes a JSON body. Send content-type: application/json.")
	}
	return nil
}
