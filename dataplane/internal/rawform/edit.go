package rawform

import (
	"errors"
	"strings"
)

// Edits say what becomes of a form.
type Edits struct {
	// Set are fields that get a value, wherever they stand; one that stands
	// nowhere is put in front.
	Set []Field
	// Drop reports parts that are left out, unless Set names them. It may be
	// nil.
	Drop func(p *Part) bool
	// Rewrite gives a part's value another form, in pieces; nil leaves it as it
	// is. It may be nil.
	Rewrite func(p *Part) [][]byte
}

// Field is a name and its value.
type Field struct{ Name, Value string }

var errHoldsBoundary = errors.New("a value that holds the form's boundary")

// Edit returns the form with the edits made, in pieces. Whatever stays shares
// memory with body. The error is a *SyntaxError, or says that a new value
// cannot stand in this form.
func Edit(body []byte, boundary string, e Edits) ([][]byte, error) {
	parts, syntax := Parse(body, boundary)
	if syntax != nil {
		return nil, syntax
	}
	pieces := [][]byte{nil} // the fields that go in front
	done := begin(body)
	cut := func(start, end int) {
		if start > done {
			pieces = append(pieces, body[done:start])
		}
		done = end
	}
	stands := make([]bool, len(e.Set))
	for i := range parts {
		p := &parts[i]
		set := field(e.Set, p.Name)
		switch {
		case set >= 0:
			stands[set] = true
			cut(p.Start, p.End)
			pieces = append(pieces, []byte(e.Set[set].Value))
		case e.Drop != nil && e.Drop(p):
			cut(p.at, p.End+len(crlf))
		case e.Rewrite != nil:
			if value := e.Rewrite(p); value != nil {
				cut(p.Start, p.End)
				pieces = append(pieces, value...)
			}
		}
	}
	pieces = append(pieces, body[done:])
	for i, f := range e.Set {
		if strings.Contains("\n"+f.Value, "\n--"+boundary) {
			return nil, errHoldsBoundary
		}
		if !stands[i] {
			pieces[0] = appendField(pieces[0], boundary, f)
		}
	}
	return pieces, nil
}

func field(set []Field, name string) int {
	for i := range set {
		if set[i].Name == name {
			return i
		}
	}
	return -1
}

var quoted = strings.NewReplacer("\\", "\\\\", `"`, "\\\"", "\r", "%0D", "\n", "%0A")

func appendField(dst []byte, boundary string, f Field) []byte {
	dst = append(append(dst, "--"...), boundary...)
	dst = append(dst, "\r\nContent-Disposition: form-data; name=\""...)
	dst = append(append(dst, quoted.Replace(f.Name)...), "\"\r\n\r\n"...)
	return append(append(dst, f.Value...), crlf...)
}
