package chat

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// choices looks for content, finish reasons and the size of the output.
func (o *Observer) choices(value []byte, sight *dialect.Sight, inBand upstream.Class) {
	a := rawjson.NewArray(value)
	for a.Next() {
		var index int64
		var finish, text []byte
		members := rawjson.NewObject(a.Value())
		for members.Next() {
			switch {
			case members.Is("index"):
				index = rawjson.Int(members.Value())
			case members.Is("finish_reason"):
				finish = members.Value()
			case members.Is("delta"), members.Is("message"):
				sight.Content = o.message(members.Value()) || sight.Content
			case members.Is("text"):
				text = members.Value()
			}
		}
		sight.Content = o.emit(text) || sight.Content
		o.lanes.Begin(index)
		if rawjson.IsString(finish) && len(finish) > 2 {
			o.lanes.End(index)
			sight.Content = true
		}
		if string(finish) == `"error"` {
			sight.Failure = upstream.InBand(inBand, 0, nil)
		}
	}
}

// message reads a delta of a stream or the message of a reply.
func (o *Observer) message(value []byte) (content bool) {
	members := rawjson.NewObject(value)
	for members.Next() {
		v := members.Value()
		switch {
		case members.Is("content"), members.Is("tool_calls"), members.Is("function_call"), members.Is("refusal"),
			members.Is("audio"), members.Is("images"):
			content = o.emit(v) || content
		case members.Is("reasoning_content"), members.Is("reasoning"), members.Is("reasoning_details"), members.Is("thinking"):
			if !openai.IsBlank(v) {
				o.estimate(v)
				content = true
			}
		}
	}
	return content
}

// emit counts a value that is output, and reports whether it holds anything.
func (o *Observer) emit(v []byte) bool {
	if openai.IsBlank(v) {
		return false
	}
	o.estimate(v)
	o.output = true
	return true
}

func (o *Observer) estimate(v []byte) {
	if !o.uncount {
		o.said.Add(v)
	}
}
