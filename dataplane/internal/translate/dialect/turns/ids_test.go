package turns_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
)

// Calls of one id, in one turn or in several, get ids of their own, and their
// results with them.
func TestIDsAreDistinct(t *testing.T) {
	call := func(id string) conversation.Part {
		return conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: id, Name: "f"}, Cache: conversation.Cache5m}
	}
	result := func(id string) conversation.Part {
		return conversation.Part{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: id}, Cache: conversation.Cache1h}
	}
	messages := []conversation.Message{
		{Role: conversation.Assistant, Parts: []conversation.Part{call("a"), call("a"), call("b")}},
		{Role: conversation.ToolRole, Parts: []conversation.Part{result("b"), result("a"), result("a"), result("nobody's")}},
		{Role: conversation.Assistant, Parts: []conversation.Part{call("a_2"), call("a")}},
		{Role: conversation.ToolRole, Parts: []conversation.Part{result("a"), result("a_2")}},
	}
	_, all, _ := turns.Of(messages, conversation.Anthropic)
	var ids []string
	for _, turn := range all {
		for _, p := range turn.Parts {
			if p.Call != nil {
				ids = append(ids, p.Call.ID)
				require.Equal(t, conversation.Cache5m, p.Cache)
			} else {
				ids = append(ids, "<"+p.Result.CallID)
				require.Equal(t, conversation.Cache1h, p.Cache)
			}
		}
	}
	require.Equal(t, []string{"a", "a_2", "b", "<b", "<a", "<a_2", "<nobody's", "a_2_2", "a_3", "<a_3", "<a_2_2"}, ids)
	require.Equal(t, "a", messages[2].Parts[1].Call.ID, "the conversation is left alone")
}
