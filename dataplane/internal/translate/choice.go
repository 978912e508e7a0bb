package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// readChoices looks for content, finish reasons and the size of the output.
func (c *codec) readChoices(value []byte, r *reading, inBand upstream.Class) (content bool) {
	a := rawjson.NewArray(value)
	for a.Next() {
		var index int64
		var finish, text []byte
		o := rawjson.NewObject(a.Value())
		for o.Next() {
			switch {
			case o.Is("index"):
				index = rawjson.Int(o.Value())
			case o.Is("finish_reason"):
				finish = o.Value()
			case o.Is("delta"), o.Is("message"):
				content = c.readMessage(o.Value()) || content
			case o.Is("text"):
				text = o.Value()
			}
		}
		content = c.emit(text) || content
		bit := uint64(1) << (index & 63)
		c.open |= bit
		if rawjson.IsString(finish) && len(finish) > 2 {
			c.finished |= bit
			content = true
		}
		if string(finish) == `"error"` {
			r.failure = upstream.InBand(inBand, 0, nil)
		}
	}
	return content
}

// readMessage reads a delta of a stream or the message of a reply.
func (c *codec) readMessage(value []byte) (content bool) {
	o := rawjson.NewObject(value)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("content"), o.Is("tool_calls"), o.Is("function_call"), o.Is("refusal"), o.Is("audio"):
			content = c.emit(v) || content
		case o.Is("reasoning_content"), o.Is("reasoning"), o.Is("reasoning_details"), o.Is("thinking"):
			if !isBlank(v) {
				c.text += int64(len(v))
				content = true
			}
		}
	}
	return content
}

// emit counts a value that is output, and reports whether it holds anything.
func (c *codec) emit(v []byte) bool {
	if isBlank(v) {
		return false
	}
	size := len(v)
	if rawjson.IsString(v) {
		size -= 2
	}
	c.text += int64(size)
	c.output = true
	return true
}

// isBlank reports null, "", [] and {}.
func isBlank(v []byte) bool { return rawjson.IsNull(v) || len(v) == 2 }
