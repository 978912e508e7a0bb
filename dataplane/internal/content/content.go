// Package content owns what conditions of dynamic routes may look at in a
// request's body and headers. It reads no more than is asked for, and never a
// header that may hold a secret. It knows nothing of routes.
package content

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/condition"
)

// Content is the body and the headers of one call. What was looked up once is
// remembered: a value of a large body takes a pass over it. It is for one
// goroutine.
type Content struct {
	body   []byte // nil where it is no JSON
	header http.Header
	known  []looked
}

// looked is what stands at a path of the body.
type looked struct {
	path   string
	values []condition.Value
}

// maxText is the longest text of a body that is compared, in bytes: comparing
// takes a copy of it. A longer one is there, and equals and contains nothing.
const maxText = 256 << 10

// Of is the content of a call. A form has no body to look into.
func Of(c *call.Call) condition.Facts {
	k := &Content{header: c.Header}
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
		for i := range k.known {
			if k.known[i].path == path {
				return k.known[i].values
			}
		}
		values := valueOf(at(k.body, path))
		k.known = append(k.known, looked{path, values})
		return values
	default: // the others are known without the content
		return nil
	}
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

// at is the JSON at a dotted path, nil where nothing is there. A segment is the
// name of a member, or in an array the place of an element, from 0. Of members
// with one name the last counts, as for every parser that upstreams use.
func at(text []byte, path string) []byte {
	for rest, more := path, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, ".")
		switch {
		case len(text) == 0:
			return nil
		case first(text) == '{':
			text = member(text, segment)
		case first(text) == '[':
			text = element(text, segment)
		default:
			return nil
		}
	}
	return text
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

func member(object []byte, name string) (value []byte) {
	for m := rawjson.NewObject(object); m.Next(); {
		if m.Is(name) {
			value = m.Value()
		}
	}
	return value
}

func element(array []byte, place string) []byte {
	index, err := strconv.Atoi(place)
	if err != nil || index < 0 || place[0] == '+' {
		return nil
	}
	for a := rawjson.NewArray(array); a.Next(); index-- {
		if index == 0 {
			return a.Value()
		}
	}
	return nil
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
		v = condition.Text(said)
	case 't', 'f':
		v = condition.Bool(first(text) == 't')
	case 'n':
		v = condition.Null()
	default:
		number, ok := condition.Number(string(text))
		if !ok {
			return nil
		}
		v = number
	}
	return []condition.Value{v}
}
