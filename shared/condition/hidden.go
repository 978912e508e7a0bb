package condition

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Hider hides texts under a key of a workspace's own, so that of a recorded
// text only this can be told: whether it equals another one.
type Hider struct{ key []byte }

// NewHider takes a key that hides nothing else.
func NewHider(key []byte) Hider { return Hider{key: slices.Clone(key)} }

// digestLen is how many bytes of the HMAC are kept.
const digestLen = 16

// Hide is the HMAC-SHA-256 of a text, in lower case as tests compare it, cut to
// 16 bytes. Beside it stays whether the text reads as a number. Numbers,
// booleans and null stay as they are.
func (h Hider) Hide(v Value) Value {
	if v.kind != text {
		return v
	}
	out := Value{kind: hidden, text: h.digest(fold(v.text))}
	if _, ok := v.numeric(); ok {
		out.kind = hiddenNumeric
	}
	return out
}

func (h Hider) digest(folded string) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(folded))
	return hex.EncodeToString(mac.Sum(nil)[:digestLen])
}

// Unrecorded stands for whatever a request may have had: nothing is known of
// it, not even whether it was there.
func Unrecorded() Value { return Value{kind: unrecorded} }

// Hidden reports whether a value is a hidden text.
func (v Value) Hidden() bool { return v.kind == hidden || v.kind == hiddenNumeric }

// Recorded is a value as it is written in a record: a hidden text is an object,
// {"hmac": hex} with "numeric": true where it reads as a number.
type Recorded struct{ Value }

type hiddenForm struct {
	HMAC    string `json:"hmac"`
	Numeric bool   `json:"numeric,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r Recorded) MarshalJSON() ([]byte, error) {
	if r.Hidden() {
		return json.Marshal(hiddenForm{HMAC: r.text, Numeric: r.kind == hiddenNumeric})
	}
	return r.Value.MarshalJSON()
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Recorded) UnmarshalJSON(raw []byte) error {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		return r.Value.UnmarshalJSON(raw)
	}
	var form hiddenForm
	if err := json.Unmarshal(raw, &form); err != nil {
		return err
	}
	r.Value = Value{kind: hidden, text: form.HMAC}
	if form.Numeric {
		r.kind = hiddenNumeric
	}
	return nil
}

// Judge is Holds for recorded facts, in which texts may be hidden by h and
// values may be unrecorded. What it knows is what Holds would have said of the
// request itself.
func (p *Program) Judge(f Facts, h Hider) Truth {
	judge := func(c *Program) Truth { return c.Judge(f, h) }
	switch {
	case p.all != nil:
		return conjoin(p.all, judge)
	case p.any != nil:
		return disjoin(p.any, judge)
	case p.not != nil:
		return p.not.Judge(f, h).Not()
	}
	found := False
	for _, v := range f.Look(p.source, p.path) {
		switch p.meetsRecorded(v, h) {
		case True:
			found = True
		case Unknown:
			if found == False {
				found = Unknown
			}
		default:
		}
	}
	if p.negated {
		return found.Not()
	}
	return found
}

// meetsRecorded is meets for a value of a record.
func (p *Program) meetsRecorded(v Value, h Hider) Truth {
	switch {
	case v.kind == unrecorded:
		return Unknown
	case !v.Hidden():
		return truth(p.meets(v))
	}
	switch p.op {
	case Exists:
		return True
	case Equals, In:
		answer := False
		for i := range p.values {
			switch p.values[i].equalsHidden(v, h) {
			case True:
				return True
			case Unknown:
				answer = Unknown
			default:
			}
		}
		return answer
	case GreaterThan, LessThan:
		// A text that is no number has no order against what is no text.
		if o := &p.values[0]; o.kind != text && v.kind == hidden {
			return False
		}
	default:
	}
	return Unknown
}

// equalsHidden is equals for a hidden text: 12 and "12.0" are equal, but the
// digest of one tells nothing of the other.
func (o *operand) equalsHidden(v Value, h Hider) Truth {
	if o.kind == null {
		return False
	}
	same := h.digest(o.folded) == v.text
	if o.kind == number && v.kind == hiddenNumeric && (!same || !exact(o.number)) {
		return Unknown
	}
	return truth(same)
}
