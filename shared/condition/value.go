package condition

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Value is a JSON primitive. The zero value is null.
type Value struct {
	kind kind
	text string // of a text its own, of a number as it was written, of a boolean its name
	low  string // the text folded; "" where it is not known
}

type kind uint8

const (
	null kind = iota
	text
	number
	boolean
	hidden        // the digest of a text of a record
	hiddenNumeric // of one that reads as a number
	unrecorded
)

// Text is a text.
func Text(s string) Value { return Value{kind: text, text: s} }

// Folded is a text that is folded once, however many tests look at it, where it
// is long enough for that to matter.
func Folded(s string) Value {
	v := Text(s)
	if len(s) > long {
		v.low = fold(s)
	}
	return v
}

// folded is the text as tests compare it.
func (v Value) folded() string {
	if v.low != "" {
		return v.low
	}
	return fold(v.text)
}

// Number is a number as JSON writes it; ok is false for what is none.
func Number(literal string) (v Value, ok bool) {
	if !json.Valid([]byte(literal)) || strings.Trim(literal, "0123456789+-.eE") != "" {
		return Value{}, false
	}
	return Value{kind: number, text: literal}, true
}

// Bool is true or false.
func Bool(b bool) Value { return Value{kind: boolean, text: strconv.FormatBool(b)} }

// Null is null.
func Null() Value { return Value{} }

// Of reads what encoding/json makes of a primitive; ok is false for anything
// else.
func Of(v any) (value Value, ok bool) {
	switch v := v.(type) {
	case nil:
		return Null(), true
	case string:
		return Text(v), true
	case bool:
		return Bool(v), true
	case json.Number:
		return Number(v.String())
	case float64:
		return Number(strconv.FormatFloat(v, 'g', -1, 64))
	case int64:
		return Number(strconv.FormatInt(v, 10))
	case int:
		return Number(strconv.Itoa(v))
	}
	return Value{}, false
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case text:
		return json.Marshal(v.text)
	case number, boolean:
		return []byte(v.text), nil
	default:
		return []byte("null"), nil
	}
}

var errPrimitive = errors.New("want text, a number, true, false or null")

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var any any
	if err := decoder.Decode(&any); err != nil {
		return err
	}
	var ok bool
	if *v, ok = Of(any); !ok {
		return errPrimitive
	}
	return nil
}

// Operand is what a test compares with: one value, or a list for in and
// not_in. The zero value is none.
type Operand struct {
	Values []Value
	List   bool
}

// One is an operand of one value.
func One(v Value) Operand { return Operand{Values: []Value{v}} }

// List is an operand of several values.
func List(values ...Value) Operand { return Operand{Values: values, List: true} }

// IsZero reports whether there is no operand; JSON leaves it out.
func (o Operand) IsZero() bool { return len(o.Values) == 0 && !o.List }

// MarshalJSON implements json.Marshaler.
func (o Operand) MarshalJSON() ([]byte, error) {
	switch {
	case o.List && o.Values == nil:
		return []byte("[]"), nil
	case o.List:
		return json.Marshal(o.Values)
	case len(o.Values) == 0:
		return []byte("null"), nil
	}
	return json.Marshal(o.Values[0])
}

// UnmarshalJSON implements json.Unmarshaler. null is the value null.
func (o *Operand) UnmarshalJSON(raw []byte) error {
	*o = Operand{}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '[' {
		o.List = true
		return json.Unmarshal(raw, &o.Values)
	}
	o.Values = make([]Value, 1)
	return json.Unmarshal(raw, &o.Values[0])
}

// long is how many bytes a text has that is folded once, and of which no longer
// one is read as a number.
const long = 1 << 10

// numeric is the value as a number: one that is a number, or a text that reads
// as one, as header values and the metadata of some SDKs are.
func (v Value) numeric() (f float64, ok bool) {
	if v.kind != number && v.kind != text || len(v.text) > long {
		return 0, false
	}
	if v.kind == text {
		if _, ok := Number(strings.TrimSpace(v.text)); !ok {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v.text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond range it is ±infinity, which still compares
		return 0, false
	}
	return f, true
}
