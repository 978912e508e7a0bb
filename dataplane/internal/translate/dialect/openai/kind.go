package openai

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"

// kindNames are for messages to people.
var kindNames = map[conversation.Kind]string{
	conversation.Text:    "a text",
	conversation.Refusal: "a refusal",
	conversation.Thought: "a thought",
	conversation.Image:   "an image",
	conversation.Audio:   "a sound",
	conversation.Video:   "a video",
	conversation.File:    "a file",
	conversation.Call:    "a tool call",
	conversation.Result:  "a tool's result",
}

// KindName is what a kind of part is called in messages to people.
func KindName(k conversation.Kind) string { return kindNames[k] }
