package translate

import (
	"errors"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// bytesPerToken is the rule by which usage is estimated when the provider
// reports none.
const bytesPerToken = 4

// maxOutKept is the size up to which the buffer for edited events is kept.
const maxOutKept = 32 << 10

// codec reads one chat or completions answer of a provider of the OpenAI kind
// for a caller of the same format.
type codec struct {
	model     []byte // the canonical id, as JSON
	wantUsage bool   // the caller asked for the usage chunk
	input     int64  // estimate of the input, in tokens

	out []byte // the edited event

	usage     meter.Usage
	counted   bool // the provider reported usage
	served    string
	open      uint64 // choices that began, by index
	finished  uint64 // choices that have a finish reason
	done      bool   // [DONE] came
	text      int64  // bytes of output
	output    bool   // text or a tool call came
	malformed int
}

func newCodec(c call.Call, model string) *codec {
	input := c.Request.InputTokens
	if input <= 0 {
		input = int64(len(c.Body)) / bytesPerToken
	}
	return &codec{model: rawjson.Quote(model), wantUsage: c.Request.StreamUsage, input: input}
}

// Seen implements call.Meter.
func (c *codec) Seen() call.Seen {
	seen := call.Seen{
		Usage: c.usage, ServedModel: c.served, Finished: c.complete(),
		ZeroOutput: !c.output, Malformed: c.malformed,
	}
	if !c.counted {
		seen.Usage = meter.Usage{
			Input:     c.input,
			Output:    (c.text + bytesPerToken - 1) / bytesPerToken,
			Estimated: true,
		}
	}
	return seen
}

// complete reports that every choice that began has its finish reason.
func (c *codec) complete() bool { return c.open != 0 && c.open == c.finished }

// reading is what one object, a chunk or a whole reply, holds.
type reading struct {
	modelAt, modelEnd int // span of the last model's value, 0, 0 without one
	models            int
	choices           []byte
	hasUsage          bool
	failure           *upstream.Failure
	content           bool
}

var errNotJSON = errors.New("not one sound JSON object")

// read walks a chunk or a reply. The error is errNotJSON.
func (c *codec) read(text []byte, inBand upstream.Class) (reading, error) {
	var r reading
	var problem, kind []byte
	loose := false
	o := rawjson.NewObject(text)
	for o.Next() {
		switch {
		case o.Is("model"):
			r.modelAt, r.modelEnd = o.ValueSpan()
			r.models++
		case o.Is("choices"):
			r.choices = o.Value()
		case o.Is("usage"):
			r.hasUsage = c.count(o.Value())
		case o.Is("error"):
			problem = o.Value()
		case o.Is("object"), o.Is("type"):
			kind = o.Value()
		case o.Is("message"), o.Is("detail"):
			loose = true
		}
	}
	if !o.Whole() {
		return reading{}, errNotJSON
	}
	switch {
	case isProblem(problem):
		r.failure = upstream.InBand(inBand, 0, text)
	case r.choices == nil && (loose || string(kind) == `"error"`):
		r.failure = upstream.InBand(inBand, 0, text)
	default:
		r.content = c.readChoices(r.choices, &r, inBand)
	}
	if r.models > 0 && c.served == "" {
		c.served = bounded(rawjson.String(text[r.modelAt:r.modelEnd]))
	}
	return r, nil
}

// maxServed is how much of a model's name is kept, in bytes: what a provider
// calls its model goes into the account of every request.
const maxServed = 256

func bounded(name string) string {
	if len(name) <= maxServed {
		return name
	}
	return strings.ToValidUTF8(name[:maxServed], "")
}

// isProblem reports an "error" member that says something.
func isProblem(v []byte) bool { return len(v) > 2 && (v[0] == '{' || v[0] == '"' || v[0] == '[') }

// count takes a usage value in and reports whether there was one.
func (c *codec) count(value []byte) bool {
	if u, ok := readUsage(value); ok {
		c.usage, c.counted = u, true
	}
	return !rawjson.IsNull(value)
}
