package facts

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// The marks by which callers ask for caching: Anthropic's, and that of OpenAI's
// formats.
var cacheMarks = [...]string{"cache_control", "prompt_cache_breakpoint"}

// markStem is in every one of them.
var markStem = []byte("cache_")

// deepestMark is how far below a list of messages a mark can stand: on a part of
// a tool's result, in the content of a part, in the content of a message.
const deepestMark = 3

// caching reads what a text format's member says about the provider's cache.
// Nothing of it is refused here: it is the provider's to judge.
func (r *reader) caching(key string, value []byte) {
	c := &r.request.Caching
	switch key {
	case "prompt_cache_key":
		c.Stated = true
		if text, ok := rawjson.Text(value); ok && len(text) <= MaxIDBytes {
			c.Key = text
		}
	case "prompt_cache_retention":
		if rawjson.String(value) == "24h" {
			c.Retention = max(c.Retention, 24*time.Hour)
		}
	case "cache_control", "prompt_cache_breakpoint":
		r.mark(value)
	case "provider_options":
		if at := gjson.GetBytes(value, "anthropic.cache_control"); at.Exists() {
			r.mark([]byte(at.Raw))
		}
	}
}

// mark notes one mark. Null and false take it back.
func (r *reader) mark(value []byte) {
	if rawjson.IsNull(value) || string(value) == "false" {
		return
	}
	c := &r.request.Caching
	c.Marked = true
	if gjson.GetBytes(value, "ttl").String() == "1h" {
		c.Retention = max(c.Retention, time.Hour)
	}
}

func (r *reader) system(value []byte) {
	r.request.Caching.Opening.System = value
	r.marked(value)
}

func (r *reader) tools(value []byte) {
	r.request.Caching.Opening.Tools = value
	r.marked(value)
}

func (r *reader) turns(value []byte) {
	r.request.Caching.Opening.Turns = value
	r.marked(value)
}

// marked looks for marks in a list of objects. Most bodies have none, which is
// found out far cheaper than by a walk: by one scan for what all marks have in
// common.
func (r *reader) marked(value []byte) {
	for rest := value; ; {
		at := bytes.Index(rest, markStem)
		if at < 0 {
			return
		}
		rest = rest[at+len(markStem):]
		if bytes.HasPrefix(rest, []byte("control")) || bytes.HasPrefix(rest, []byte("breakpoint")) {
			r.findMarks(value, deepestMark)
			return
		}
	}
}

func (r *reader) findMarks(value []byte, depth int) {
	if len(value) == 0 || value[0] != '[' {
		return
	}
	for a := rawjson.NewArray(value); a.Next(); {
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			switch {
			case o.Is(cacheMarks[0]), o.Is(cacheMarks[1]):
				r.mark(o.Value())
			case o.Is("function"): // of a tool
				for f := rawjson.NewObject(o.Value()); f.Next(); {
					if f.Is(cacheMarks[0]) {
						r.mark(f.Value())
					}
				}
			case depth > 1 && (o.Is("content") || o.Is("parts")):
				r.findMarks(o.Value(), depth-1)
			}
		}
	}
}
