package facts

import (
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

var someMessages = required{[]string{"messages"}, "must be an array of messages"}

// Messages is the body of POST /v1/messages
// (https://docs.anthropic.com/en/api/messages).
var Messages = Format{member: messages, required: []required{
	someMessages, {[]string{"max_tokens"}, "must be a whole number of at least 1"},
}}

// MessagesCount is the body of POST /v1/messages/count_tokens
// (https://docs.anthropic.com/en/api/messages-count-tokens).
var MessagesCount = Format{member: messages, required: []required{someMessages}}

var messagesKinds = kinds{{"image", catalog.Image}, {"document", catalog.File}}

// messagesNames are the parameters that endpoints list under another name.
var messagesNames = map[string]string{
	"stop_sequences": "stop", "thinking": "reasoning", "output_config": "response_format", "output_format": "response_format",
}

func messages(r *reader, key string, value []byte) {
	r.caching(key, value)
	if r.common(key, value) {
		if key == "metadata" {
			r.userOf(value)
		}
		return
	}
	switch key {
	case "messages":
		if r.array("messages", value) {
			r.turns(value)
			r.textBytes += int64(len(value))
			r.media(value, messagesKinds)
		}
	case "system":
		if r.textOrArray("system", value) {
			r.system(value)
			r.textBytes += int64(len(value))
		}
	case "max_tokens":
		r.parameter(key, value)
		r.request.OutputTokens = r.count("max_tokens", value)
	case "tools":
		if r.array("tools", value) {
			r.tools(value)
			r.textBytes += int64(len(value))
			r.parameter(key, value)
		}
	default:
		r.parameter(named(messagesNames, key), value)
	}
}

// named is a parameter's name as endpoints list it.
func named(names map[string]string, key string) string {
	if name, ok := names[key]; ok {
		return name
	}
	return key
}

// userOf reads metadata.user_id.
func (r *reader) userOf(metadata []byte) {
	id := gjson.GetBytes(metadata, "user_id")
	if id.Exists() {
		r.request.EndUser, r.session = parted(r.text("metadata.user_id", []byte(id.Raw), MaxIDBytes))
	}
}

// parted tells a user from the conversation that some clients put beside it.
// Claude Code sends user_<hash>_account_<uuid>_session_<uuid>, and in newer
// versions a JSON object with session_id.
func parted(id string) (user, session string) {
	const mark = "_session_"
	if i := strings.LastIndex(id, mark); i > 0 && isUUID(id[i+len(mark):]) {
		return id[:i], id[i+len(mark):]
	}
	if strings.HasPrefix(id, "{") && gjson.Valid(id) {
		object := gjson.Parse(id)
		session = object.Get("session_id").String()
		user = firstOf(object.Get("account_uuid").String(), object.Get("device_id").String())
		if session != "" && user != "" {
			return user, session
		}
	}
	return id, ""
}

func isUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }
