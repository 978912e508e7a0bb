package rawjson

// Array walks the elements of the array at the start of a text, as Object
// walks members.
type Array struct {
	b             []byte
	i             int
	state         state
	valAt, valEnd int
}

// NewArray starts at the first byte of text that is not white space.
func NewArray(text []byte) Array { return Array{b: text, i: space(text, 0)} }

// Next moves to the next element.
func (a *Array) Next() bool {
	switch a.state {
	case fresh:
		if a.i >= len(a.b) || a.b[a.i] != '[' {
			a.state = broken
			return false
		}
		a.i = space(a.b, a.i+1)
		if a.i < len(a.b) && a.b[a.i] == ']' {
			a.state = done
			return false
		}
		a.state = inside
	case inside:
		if a.i < len(a.b) && a.b[a.i] == ']' {
			a.state = done
			return false
		}
		if a.i >= len(a.b) || a.b[a.i] != ',' {
			a.state = broken
			return false
		}
		a.i = space(a.b, a.i+1)
	default:
		return false
	}
	a.valAt = a.i
	if a.valEnd = Skip(a.b, a.i); a.valEnd < 0 {
		a.state = broken
		return false
	}
	a.i = space(a.b, a.valEnd)
	return true
}

// Value returns the element as it is written.
func (a *Array) Value() []byte { return a.b[a.valAt:a.valEnd] }

// OK reports, after Next returned false, that the array was sound.
func (a *Array) OK() bool { return a.state == done }
