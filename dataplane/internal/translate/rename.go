package translate

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
)

// renamed appends raw to dst with the canonical id in place of the model's
// name. data is the JSON in raw, at tells where its bytes stand in raw.
func (c *codec) renamed(dst, raw, data []byte, r *reading, at func(int) int) []byte {
	if r.models <= 1 {
		if r.models == 0 {
			return append(dst, raw...)
		}
		start, end := at(r.modelAt), at(r.modelEnd)
		dst = append(append(dst, raw[:start]...), c.model...)
		return append(dst, raw[end:]...)
	}
	done := 0
	o := rawjson.NewObject(data)
	for o.Next() {
		if o.Is("model") {
			from, to := o.ValueSpan()
			dst = append(append(dst, raw[done:at(from)]...), c.model...)
			done = at(to)
		}
	}
	return append(dst, raw[done:]...)
}

// byteOrderMark at the start of a stream means nothing, and clients that do not
// expect one lose the first event to it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// framed gives an event what it lacks to be one: the "data:" before a bare
// line of JSON, and the blank line that the end of the stream cut off.
func framed(e sse.Event, raw []byte) []byte {
	raw = bytes.TrimPrefix(raw, byteOrderMark)
	if !e.Bare && !e.Partial {
		return raw
	}
	var out []byte
	if e.Bare {
		out = append(out, "data: "...)
		raw = bytes.TrimLeft(raw, "\r\n")
	}
	out = append(out, bytes.TrimRight(raw, "\r\n")...)
	return append(out, "\n\n"...)
}
