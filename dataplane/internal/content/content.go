// Package content owns what conditions of dynamic routes may look at in a
// request's body and headers. It reads no more than is asked for, and never a
// header that may hold a secret. It knows nothing of routes.
package content

import (
	"net/http"
	"net/textproto"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/condition"
)

// Content is the body and the headers of one call. The first look at the body
// reads all that may be looked at in one pass. It is for one goroutine.
type Content struct {
	body   []byte // nil where it is no JSON
	header http.Header
	paths  []string // of the body, not read yet
	known  map[string][]condition.Value
}

// The longest text and number of a body that are compared, in bytes: comparing
// takes copies. A longer one is there, and equals and contains nothing.
const (
	maxText   = 256 << 10
	maxNumber = 1 << 10
)

// Of is the content of a call. A form has no body to look into. paths are those
// of the body that may be looked at; one that is not among them takes a pass of
// its own.
func Of(c *call.Call, paths []string) condition.Facts {
	k := &Content{header: c.Header, paths: paths}
	if c.Form == "" {
		k.body = c.Body
	}
	return k
}

// Look implements condition.Facts for the sources body and header.
func (k *Content) Look(s condition.Source, path string) []condition.Value {
	switch s {
	case condition.Header:
		return k.headers(path)
	case condition.Body:
		if values, ok := k.known[path]; ok {
			return values
		}
		k.read(path)
		return k.known[path]
	default: // the others are known without the content
		return nil
	}
}

// read looks up a path and all that are not read yet.
func (k *Content) read(path string) {
	if k.known == nil {
		k.known = make(map[string][]condition.Value, len(k.paths)+1)
	}
	var wants []want
	for _, one := range append(slices.Clip(k.paths), path) {
		if _, there := k.known[one]; !there {
			k.known[one] = nil
			wants = append(wants, want{one, one, true})
		}
	}
	k.paths = nil
	k.walk(k.body, wants)
}

// headers are the values of a header, each line its own.
func (k *Content) headers(name string) []condition.Value {
	if condition.SecretHeader(name) {
		return nil
	}
	lines := k.header[textproto.CanonicalMIMEHeaderKey(name)]
	if len(lines) == 0 {
		return nil
	}
	values := make([]condition.Value, len(lines))
	for i, line := range lines {
		values[i] = condition.Text(line)
	}
	return values
}

// first is the first byte of a value that is not white space; 0 for none.
func first(text []byte) byte {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// valueOf reads a JSON value; none for what is none.
func valueOf(text []byte) []condition.Value {
	var v condition.Value
	switch first(text) {
	case 0:
		return nil
	case '{', '[':
		v = condition.Compound()
	case '"':
		if len(text) > maxText {
			v = condition.Compound()
			break
		}
		said, ok := rawjson.Text(text)
		if !ok {
			return nil
		}
		v = condition.Folded(said)
	case 't', 'f':
		v = condition.Bool(first(text) == 't')
	case 'n':
		v = condition.Null()
	default:
		if len(text) > maxNumber {
			v = condition.Compound()
			break
		}
		number, ok := condition.Number(string(text))
		if !ok {
			return nil
		}
		v = number
	}
	return []condition.Value{v}
}
