package gemini

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// decoder implements dialect.StreamDecoder for ?alt=sse.
type decoder struct{ answer }

// DecodeStream implements dialect.Codec.
func (Codec) DecodeStream() dialect.StreamDecoder { return &decoder{} }

// Decode implements dialect.StreamDecoder.
func (d *decoder) Decode(e sse.Event, out []conversation.Event) ([]conversation.Event, *upstream.Failure, error) {
	data := bytes.TrimSpace(e.Data)
	if string(e.Name) == "error" {
		return out, upstream.InBand(upstream.ErrorInStream, 0, data), nil
	}
	if len(data) == 0 || string(data) == "[DONE]" { // what proxies add that think of OpenAI
		return out, nil, nil
	}
	r, err := scanResponse(data)
	if err != nil {
		return out, nil, err
	}
	if status, failed := r.failed(); failed {
		return out, upstream.InBand(upstream.ErrorInStream, status, data), nil
	}
	d.out = out
	d.read(&r)
	out, d.out = d.out, nil
	return out, nil, nil
}

// End implements dialect.StreamDecoder. The ends of the candidates come here
// and not with their finish reasons, which older models repeat.
func (d *decoder) End(out []conversation.Event) ([]conversation.Event, *upstream.Failure) {
	if !d.complete() {
		return out, upstream.Fail(upstream.StreamCut, nil)
	}
	d.out = out
	d.end()
	out, d.out = d.out, nil
	return out, nil
}

// Done implements dialect.StreamDecoder. The format has no terminal marker,
// and a candidate may begin after another has ended: only the end of the
// stream is its end.
func (d *decoder) Done() bool { return false }
