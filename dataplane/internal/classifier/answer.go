package classifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/classify"
)

const (
	maxAnswerBytes = 2 << 10 // of the object
	maxWorkloads   = 3
	sumTolerance   = 0.05 // by how much the parts may miss 1, since models round
)

// Answer reads the reply to a question: the result, and whether it is one. Only
// what question asks for is one: an object of its three members, known
// workloads, numbers in their ranges. Anything else is no answer at all, since
// nothing tells which part of it was meant.
func (*Classifier) Answer(reply []byte) (classify.Result, bool) {
	content := gjson.GetBytes(reply, "choices.0.message.content")
	if content.Type != gjson.String || len(content.Str) > maxAnswerBytes {
		return classify.Result{}, false
	}
	var said struct {
		Workloads  map[string]float64 `json:"workloads"`
		Complexity *float64           `json:"complexity"`
		Confidence *float64           `json:"confidence"`
	}
	d := json.NewDecoder(bytes.NewReader(unfenced([]byte(content.Str))))
	d.DisallowUnknownFields()
	if d.Decode(&said) != nil || !ended(d) || said.Complexity == nil || said.Confidence == nil {
		return classify.Result{}, false
	}
	mix, ok := mixOf(said.Workloads)
	if !ok || !share(*said.Complexity) || !share(*said.Confidence) {
		return classify.Result{}, false
	}
	return classify.Result{Mix: mix, Complexity: *said.Complexity, Confidence: *said.Confidence}, true
}

func ended(d *json.Decoder) bool {
	_, err := d.Token()
	return errors.Is(err, io.EOF)
}

// unfenced takes off the code fence that some models cannot leave away.
func unfenced(text []byte) []byte {
	text = bytes.TrimSpace(text)
	for _, fence := range []string{"```json\n", "```\n"} {
		if inner, ok := bytes.CutPrefix(text, []byte(fence)); ok {
			if inner, ok = bytes.CutSuffix(inner, []byte("```")); ok {
				return inner
			}
		}
	}
	return text
}

func mixOf(parts map[string]float64) (mix classify.Mix, ok bool) {
	if len(parts) == 0 || len(parts) > maxWorkloads {
		return mix, false
	}
	sum := 0.0
	for name, v := range parts {
		w, known := classify.Parse(name)
		if !known || !share(v) || v == 0 {
			return mix, false
		}
		mix[w] = v
	}
	for _, v := range mix {
		sum += v
	}
	if math.Abs(sum-1) > sumTolerance {
		return mix, false
	}
	for w := range mix {
		mix[w] /= sum
	}
	return mix, true
}

// share: from 0 to 1, and a number.
func share(v float64) bool { return v >= 0 && v <= 1 }
