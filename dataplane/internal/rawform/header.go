package rawform

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where a body stops being a form. Its message never repeats
// the body.
type SyntaxError struct {
	Offset int // bytes from the start
	Want   string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Want, e.Offset) }

// headers reads a part's header lines up to the empty one.
func (p *parser) headers(part *Part) bool {
	begin := p.i
	var disposed, typed bool
	for {
		name, value, more, ok := p.header(begin)
		switch {
		case !ok:
			return false
		case !more:
			return disposed || p.fail("a part without content-disposition")
		}
		switch name {
		case "content-disposition":
			if disposed {
				return p.fail("a part with two content-dispositions")
			}
			disposed = true
			if !p.disposition(part, value) {
				return false
			}
		case "content-type":
			if typed {
				return p.fail("a part with two content-types")
			}
			typed, part.Type = true, value
			if len(value) >= len(nested) && strings.EqualFold(value[:len(nested)], nested) {
				return p.fail("a form inside a part")
			}
		case "content-transfer-encoding":
			switch strings.ToLower(value) {
			case "binary", "8bit", "7bit":
			default:
				return p.fail("a part with a content-transfer-encoding, which forms do not have")
			}
		}
	}
}

const nested = "multipart/"

// header reads one line; more is false for the empty line, which ends them.
// begin is where the part's header starts.
func (p *parser) header(begin int) (name, value string, more, ok bool) {
	rest := p.body[p.i:min(len(p.body), begin+MaxHeaderBytes)]
	n := bytes.Index(rest, crlf)
	switch {
	case n < 0 && p.i+len(rest) < len(p.body):
		return "", "", false, p.fail("a part's header longer than 8 KiB")
	case n < 0:
		return "", "", false, p.fail("unexpected end inside a part's header")
	case n == 0:
		p.i += len(crlf)
		return "", "", false, true
	}
	line := rest[:n]
	key, text, found := bytes.Cut(line, []byte(":"))
	switch {
	case line[0] == ' ' || line[0] == '\t':
		return "", "", false, p.fail("a folded header line")
	case !found || !isToken(key):
		return "", "", false, p.fail("expected a header's name and a colon")
	case !isPrintable(text):
		return "", "", false, p.fail("a control character in a header")
	}
	p.i += n + len(crlf)
	return strings.ToLower(string(key)), strings.Trim(string(text), " \t"), true, true
}

// disposition reads the name and file name.
func (p *parser) disposition(part *Part, value string) bool {
	kind, parameters, err := mime.ParseMediaType(value)
	name, named := parameters["name"]
	switch {
	case err != nil || kind != "form-data":
		return p.fail("expected a content-disposition of form-data")
	case !named || name == "":
		return p.fail("a part without a name")
	case strings.Contains(strings.ReplaceAll(strings.ToLower(value), " ", ""), ";name*"):
		return p.fail("a part's name in extended notation") // which servers read or do not
	case !utf8.ValidString(name):
		return p.fail("a part's name that is not valid UTF-8")
	}
	part.Name = name
	part.Filename, part.File = parameters["filename"]
	return true
}

func isToken(b []byte) bool {
	for _, c := range b {
		if !isAlphanumeric(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

func isPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
