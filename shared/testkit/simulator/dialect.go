package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// dialect is one wire format.
type dialect interface {
	strict
	unhappy
	// read takes a request apart. The body is a JSON object.
	read(x *exchange) (*prompt, *refusal)
	// plain is the reply in one piece.
	plain(p *prompt, a answer) json.RawMessage
	// frames is the reply as a stream.
	frames(p *prompt, a answer) []frame
}

// unhappy is how a wire format tells errors.
type unhappy interface {
	// failure is an error envelope.
	failure(e refusal) json.RawMessage
	// failureFrame is an error inside a stream.
	failureFrame(e refusal) frame
	// worded is an error in the words that its provider is known for.
	worded(t trouble) refusal
}

// trouble is an error that every provider words differently.
type trouble string

const (
	troubleQuota   trouble = "quota"
	troubleContext trouble = "context"
	troublePolicy  trouble = "policy"
	troubleAuth    trouble = "auth"
)

// frame is one event of a stream.
type frame struct {
	event     string // "" for none
	data      string
	kind      frameKind
	exception bool // an error, where frames say so themselves
}

type frameKind int

const (
	frameOther    frameKind = iota
	frameContent            // text, reasoning or a tool call: what faults count
	frameUsage              // only usage
	frameTerminal           // the marker that the stream is complete
)

// refusal is an error answer before it has a format.
type refusal struct {
	status  int
	message string
	param   string
	code    string
	kind    string // the format's name of the error, where the status does not say it
}

// refuse is a bad request.
func refuse(param, format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

// obj is a JSON object with its members in the written order: names and
// values in turn. The value omitted leaves its member out.
func obj(pairs ...any) json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	first := true
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == omitted {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(encoded(pairs[i]))
		b.WriteByte(':')
		b.Write(encoded(pairs[i+1]))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

type omission struct{}

var omitted = any(omission{})

// list is a JSON array, never null.
func list[T any](items ...T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func orOmit[T comparable](v T) any {
	var zero T
	if v == zero {
		return omitted
	}
	return v
}

func encoded(v any) []byte {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // providers do not escape
	if err := enc.Encode(v); err != nil {
		panic(err) // only values of this package come here
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
