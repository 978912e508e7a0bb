package plain

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// usageOf reads the usage objects of these surfaces: tokens of text, image and
// sound told apart where they are. One that counts seconds, as that of older
// transcription models does, has no tokens and counts as unknown.
func usageOf(value []byte, speech bool) conversation.Usage {
	var in, out, total, image, audio int64
	o := rawjson.NewObject(value)
	for o.Next() {
		switch {
		case o.Is("input_tokens"), o.Is("prompt_tokens"):
			in = rawjson.Int(o.Value())
		case o.Is("output_tokens"), o.Is("completion_tokens"):
			out = rawjson.Int(o.Value())
		case o.Is("total_tokens"):
			total = rawjson.Int(o.Value())
		case o.Is("input_tokens_details"), o.Is("input_token_details"), o.Is("prompt_tokens_details"):
			image, audio = parts(o.Value())
		}
	}
	if !o.OK() || max(in, out, total, image, audio) > dialect.MostTokens {
		return conversation.Usage{}
	}
	if in == 0 && out == 0 {
		in = total // rerankers tell the total alone
	}
	var u conversation.Usage
	u.Image = min(image, in)
	u.AudioInput = min(audio, in-u.Image)
	u.Input = in - u.Image - u.AudioInput
	if speech {
		u.AudioOutput = out
	} else {
		u.Output = out
	}
	u.Known = !u.IsZero()
	return u
}

func parts(value []byte) (image, audio int64) {
	o := rawjson.NewObject(value)
	for o.Next() {
		switch {
		case o.Is("image_tokens"):
			image = rawjson.Int(o.Value())
		case o.Is("audio_tokens"):
			audio = rawjson.Int(o.Value())
		}
	}
	return image, audio
}

// billedUnits reads Cohere's way to tell usage
// (https://docs.cohere.com/reference/rerank): its search units are no tokens.
func billedUnits(meta []byte) conversation.Usage {
	var u conversation.Usage
	o := rawjson.NewObject(meta)
	for o.Next() {
		if !o.Is("tokens") && !o.Is("billed_units") {
			continue
		}
		counts := rawjson.NewObject(o.Value())
		for counts.Next() {
			switch {
			case counts.Is("input_tokens"):
				u.Input = rawjson.Int(counts.Value())
			case counts.Is("output_tokens"):
				u.Output = rawjson.Int(counts.Value())
			}
		}
	}
	if max(u.Input, u.Output) > dialect.MostTokens {
		return conversation.Usage{}
	}
	u.Known = !u.IsZero()
	return u
}
