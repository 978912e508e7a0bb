package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
)

// maxDepth bounds the nesting of a body; the deepest of the contract is 3.
const maxDepth = 32

// readBody reads the whole body within its limits, checks that it is one JSON
// value, and puts it back for the validator and the handler.
func (s *Server) readBody(c *gin.Context, wanted bool) ([]byte, error) {
	httpserver.LimitBody(c.Writer, c.Request, s.limits.MaxBody, s.limits.BodyTimeout)
	var body []byte
	if c.Request.Body != nil {
		var err error
		if body, err = io.ReadAll(c.Request.Body); err != nil {
			return nil, bodyFault(err, s.limits.MaxBody)
		}
	}
	switch {
	case len(body) == 0:
		c.Request.Body = http.NoBody
		return nil, nil // the contract says whether one is required
	case !wanted:
		return nil, fault.Invalid(fault.Violation{Code: "unexpected_body", Message: "this operation takes no body"})
	}
	if kind, params, err := mime.ParseMediaType(c.GetHeader("Content-Type")); err != nil || kind != "application/json" || !utf8Charset(params) {
		return nil, fault.New(fault.UnsupportedMediaType, "The body must be JSON in UTF-8, with the header Content-Type: application/json.")
	}
	if err := checkJSON(body); err != nil {
		return nil, err
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	c.Request.ContentLength = int64(len(body))
	return body, nil
}

func utf8Charset(params map[string]string) bool {
	charset, given := params["charset"]
	return !given || charset == "utf-8" || charset == "UTF-8"
}

func bodyFault(err error, limit int64) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.Newf(fault.PayloadTooLarge, "The body is over the limit of %d bytes.", limit)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return fault.Wrap(err, fault.InvalidJSON, "The body did not arrive in time.")
	}
	return fault.Wrap(err, fault.InvalidJSON, "The body could not be read to its end.")
}

// checkJSON accepts exactly one JSON value in UTF-8 without repeated names,
// which the decoders after it would resolve in different ways.
func checkJSON(body []byte) error {
	malformed := fault.New(fault.InvalidJSON, "The body is not valid JSON.")
	if !utf8.Valid(body) {
		return fault.New(fault.InvalidJSON, "The body is not valid UTF-8.")
	}
	if !json.Valid(body) {
		return malformed
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var open []*frame
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return malformed
		}
		if delim, ok := token.(json.Delim); ok {
			switch delim {
			case '{', '[':
				begin(open)
				if len(open) == maxDepth {
					return fault.New(fault.InvalidJSON, "The body is nested too deeply.")
				}
				open = append(open, &frame{object: delim == '{', names: map[string]bool{}})
			default:
				open = open[:len(open)-1]
			}
			continue
		}
		if name, isName := nameIn(open, token); isName {
			if !open[len(open)-1].add(name) {
				return fault.Invalid(misnamed("", name, nil, "repeated_field", "give this field once"))
			}
			continue
		}
		begin(open)
	}
}

// frame is one open object or array.
type frame struct {
	object  bool
	inValue bool // an object's name has been read and its value is due
	names   map[string]bool
}

func (f *frame) add(name string) bool {
	if f.names[name] {
		return false
	}
	f.names[name], f.inValue = true, true
	return true
}

// begin notes that a value begins in the innermost open object.
func begin(open []*frame) {
	if len(open) > 0 {
		open[len(open)-1].inValue = false
	}
}

func nameIn(open []*frame, token json.Token) (string, bool) {
	if len(open) == 0 {
		return "", false
	}
	if f := open[len(open)-1]; !f.object || f.inValue {
		return "", false
	}
	name, ok := token.(string)
	return name, ok
}
