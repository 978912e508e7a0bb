package simulator

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"

	"github.com/tidwall/gjson"
)

const (
	defaultDimensions = 256
	maxDimensions     = 4096
	maxInputs         = 2048
)

// embeddings answers OpenAI's /v1/embeddings.
func embeddings(body gjson.Result, model string) (json.RawMessage, *refusal) {
	in := body.Get("input")
	if model == "" || !in.Exists() || in.IsArray() && len(in.Array()) == 0 {
		return nil, refuse("input", "Missing required parameter: 'input'.")
	}
	if f := body.Get("encoding_format"); f.Exists() && f.Str != "float" && f.Str != "base64" {
		return nil, oneOf("encoding_format", f.String(), "float base64")
	}
	inputs := []gjson.Result{in}
	if all := in.Array(); in.IsArray() && len(all) > 0 && all[0].Type != gjson.Number {
		inputs = all
	}
	dimensions := defaultDimensions
	if d := body.Get("dimensions"); d.Exists() {
		dimensions = int(d.Int())
	}
	if dimensions < 1 || dimensions > maxDimensions || len(inputs) > maxInputs {
		return nil, refuse("dimensions", "Invalid value for 'dimensions'.")
	}
	var data []json.RawMessage
	tokens := 0
	for i, one := range inputs {
		tokens += max(len(pieces(one.String())), 1)
		v := any(vector(one.Raw, dimensions))
		if body.Get("encoding_format").Str == "base64" {
			v = base64Of(vector(one.Raw, dimensions))
		}
		data = append(data, obj("object", "embedding", "index", i, "embedding", v))
	}
	return obj("object", "list", "data", data, "model", model,
		"usage", obj("prompt_tokens", tokens, "total_tokens", tokens)), nil
}

// vector is a unit vector that depends on the text alone.
func vector(text string, dimensions int) []float32 {
	h := fnv.New64a()
	h.Write([]byte(text))
	state := h.Sum64() | 1
	v := make([]float32, dimensions)
	var square float64
	for i := range v {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		x := float64(int64(state)) / math.MaxInt64
		v[i] = float32(x)
		square += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

func base64Of(v []float32) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func base64Text(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
