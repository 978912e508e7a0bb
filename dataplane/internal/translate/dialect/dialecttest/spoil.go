package dialecttest

import (
	"slices"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

var anyOther = rapid.SampledFrom([]string{
	`null`, `true`, `0`, `-1`, `1e400`, `12345678901234567890`, `""`, `"x"`, `[]`, `{}`, `[null]`, `[[]]`, `[{}]`, `{"type":"x"}`, `{"type":null}`, `["x"]`,
})

// spoiled puts other values into a few places of sound JSON, which stays
// sound: what decoders stumble over is a type that nobody thought of.
func spoiled(t *rapid.T, body []byte) []byte {
	out := slices.Clone(body)
	for range rapid.IntRange(1, 3).Draw(t, "places") {
		spans := spansOf(out)
		if len(spans) == 0 {
			return out
		}
		at := rapid.SampledFrom(spans).Draw(t, "place")
		out = slices.Concat(out[:at[0]], []byte(anyOther.Draw(t, "other")), out[at[1]:])
	}
	return out
}

// spansOf returns where the values of JSON stand.
func spansOf(body []byte) [][2]int {
	var spans [][2]int
	var visit func(v gjson.Result)
	visit = func(v gjson.Result) {
		v.ForEach(func(_, inner gjson.Result) bool {
			spans = append(spans, [2]int{inner.Index, inner.Index + len(inner.Raw)})
			if inner.IsObject() || inner.IsArray() {
				visit(inner)
			}
			return true
		})
	}
	if gjson.ValidBytes(body) {
		visit(gjson.ParseBytes(body))
	}
	return spans
}
