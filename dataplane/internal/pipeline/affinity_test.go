package pipeline_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// memory is affinity that finds what it was given.
type memory struct {
	found call.Conversation

	finds  int
	peeks  int
	asked  call.Call
	rules  decide.AffinityRules
	kept   call.Call
	ended  call.Outcome
	record *decide.AffinityTrace
}

func (m *memory) Find(_ context.Context, c *call.Call, rules decide.AffinityRules) call.Conversation {
	m.finds++
	m.asked, m.rules = *c, rules
	return m.found
}

func (m *memory) Peek(c *call.Call, rules decide.AffinityRules) call.Conversation {
	m.peeks++
	m.asked, m.rules = *c, rules
	return m.found
}

func (m *memory) Keep(c *call.Call, plan *decide.Plan, o *call.Outcome) *decide.AffinityTrace {
	m.kept, m.ended = *c, *o
	if m.record != nil {
		return m.record
	}
	return plan.Record.Affinity
}

func TestConversationsAreLookedUpBeforeAndKeptAfter(t *testing.T) {
	hinted := call.Conversation{Conversation: decide.Conversation{Source: decide.FromSession, Sure: true, Model: "acme/small"}, Hint: call.Hint{1}}
	unsure := call.Conversation{Conversation: decide.Conversation{Source: decide.FromOpening}, Hint: call.Hint{1}}
	for name, c := range map[string]struct {
		found call.Conversation
		trace *decide.AffinityTrace
		hint  call.Hint
	}{
		"one that its first answer pins": {hinted, &decide.AffinityTrace{Source: "session"}, call.Hint{1}},
		"one that may not be pinned":     {unsure, &decide.AffinityTrace{Source: "opening"}, call.Hint{}},
		"one that is":                    {unsure, &decide.AffinityTrace{Source: "opening", Hit: true}, call.Hint{1}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakes{t: t, affinity: c.trace}
			m := &memory{found: c.found, record: &decide.AffinityTrace{Source: "kept"}}
			serveWith(t, f, m, call.Call{Surface: catalog.Chat, Request: call.Request{Model: "acme/small"}})
			require.Equal(t, key.Workspace, m.asked.Workspace, "never without the workspace")
			require.Equal(t, f.input.Affinity(), m.rules)
			require.Equal(t, decide.Open(&f.input), f.input.Opening, "worked out once, for the look-up and the decision")
			require.Equal(t, c.found.Conversation, f.input.Conversation)
			require.Equal(t, c.hint, m.kept.Conversation.Hint)
			require.Len(t, m.ended.Attempts, 2, "after the last upstream call")
			require.NotNil(t, m.ended.Reply)
			require.Equal(t, "kept", f.outcome.Record.Affinity.Source)
		})
	}
}

func TestARefusedCallIsKeptWithoutAReply(t *testing.T) {
	f := &fakes{t: t, fail: "attempt", err: fault.New(fault.UpstreamTimeout, "late")}
	m := &memory{}
	serveWith(t, f, m, call.Call{Surface: catalog.Chat, Request: call.Request{Model: "acme/small"}})
	require.Nil(t, m.ended.Reply)
	require.NotNil(t, m.ended.Failure)
}
