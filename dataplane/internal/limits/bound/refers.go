package bound

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// media are the members, and the types of parts, that stand for something of which
// the provider reads more than there is in the body; folded.
var media = folded("image", "images", "image_url", "input_image", "mask", "audio", "audio_url", "input_audio", "video", "video_url",
	"input_video", "document", "document_url", "file", "file_id", "file_ids", "file_uri", "file_url", "file_data", "input_file",
	"inline_data", "input_reference", "computer_screenshot", "container_upload", "item_reference")

// callersData are the members that hold what a model gave a tool, or what that
// gave back: nothing in them means anything to the provider.
var callersData = folded("input", "args", "arguments", "response")

func folded(names ...string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[policy.FoldParam(name)] = true
	}
	return out
}

// deepest is how deep parts are looked for: no format has any deeper.
const deepest = 16

// refers reports whether there is a part in a value that stands for more than its
// text. It goes through the value once, however deep that is.
func refers(value []byte) bool {
	c := rawjson.NewCursor(value)
	return within(&c, deepest)
}

func within(c *rawjson.Cursor, depth int) (found bool) {
	switch kind := c.Kind(); {
	case depth == 0:
		c.Value()
	case kind == '[':
		for more := c.Open(); more && !found; more = c.More(']') {
			found = within(c, depth-1)
		}
	case kind == '{':
		for more := c.Open(); more && !found; more = c.More('}') {
			c.Name()
			found = part(c, depth-1)
		}
	default:
		c.Value()
	}
	return found
}

// part looks at one member.
func part(c *rawjson.Cursor, depth int) bool {
	name := policy.FoldParam(c.Text())
	switch kind := c.Kind(); {
	case name == "type" && kind == '"':
		return media[policy.FoldParam(rawjson.String(c.Value()))]
	case media[name]:
		return !rawjson.IsNull(c.Value())
	case callersData[name] && kind == '{':
		c.Value()
		return false
	}
	return within(c, depth)
}

// whole are the types of items that have all that is read of them.
var whole = folded("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "computer_call",
	"computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call",
	"apply_patch_call_output")

// recalls reports whether there is an item in the input of a response that the
// provider looks up: one by its id alone, thoughts that are not sealed in it, what
// a tool of the provider found.
func recalls(value []byte) bool {
	for a := rawjson.NewArray(value); a.Next(); {
		kind, said, sealed := "", false, false
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			switch {
			case o.Is("type"):
				kind = rawjson.String(o.Value())
			case o.Is("role"):
				said = true
			case o.Is("encrypted_content"):
				sealed = sealed || len(o.Value()) > len(`""`) && rawjson.IsString(o.Value())
			}
		}
		switch {
		case whole[policy.FoldParam(kind)], kind == "" && said:
		case sealed && (kind == "reasoning" || kind == "compaction"):
		default:
			return true
		}
	}
	return false
}
