package rawjson

// Array walks the elements of the array at the start of a text, as Object
// walks members.
type Array struct {
	s             scanner
	state         state
	valAt, valEnd int
}

// NewArray starts at the first byte of text that is not white space.
func NewArray(text []byte) Array {
	a := Array{s: scanner{b: text}}
	a.s.space()
	return a
}

// Next moves to the next element.
func (a *Array) Next() bool {
	s := &a.s
	var more bool
	switch a.state {
	case fresh:
		more = s.at('[') || s.fail("expected a JSON array")
		more = more && s.enter(']')
	case inside:
		more = s.more(']')
	case over:
		return false
	}
	a.valAt = s.i
	if !more || !s.value() {
		a.state = over
		return false
	}
	a.valEnd = s.i
	a.state = inside
	return true
}

// Value returns the element as it is written.
func (a *Array) Value() []byte { return a.s.b[a.valAt:a.valEnd] }

// ValueSpan returns where the element stands.
func (a *Array) ValueSpan() (start, end int) { return a.valAt, a.valEnd }

// OK reports, after Next returned false, that the array was sound.
func (a *Array) OK() bool { return a.state == over && a.s.want == "" }
