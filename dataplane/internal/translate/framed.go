package translate

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
)

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
