package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

func TestEffortAndBudgetStandForEachOther(t *testing.T) {
	for _, c := range []struct {
		said   conversation.Reasoning
		effort string
		budget int64
	}{
		{conversation.Reasoning{}, "", 0},
		{conversation.Reasoning{Off: true}, "none", 0},
		{conversation.Reasoning{Effort: "medium"}, "medium", 16384},
		{conversation.Reasoning{Effort: "unheard-of"}, "unheard-of", 0},
		{conversation.Reasoning{Budget: 1}, "minimal", 1},
		{conversation.Reasoning{Budget: 4095}, "minimal", 4095},
		{conversation.Reasoning{Budget: 4096}, "low", 4096},
		{conversation.Reasoning{Budget: 32768}, "high", 32768},
		{conversation.Reasoning{Budget: 1 << 40}, "xhigh", 1 << 40},
		{conversation.Reasoning{Budget: conversation.Dynamic}, "medium", conversation.Dynamic},
		{conversation.Reasoning{Effort: "low", Budget: 20000}, "low", 20000},
	} {
		require.Equal(t, c.effort, c.said.EffortOf(), "%+v", c.said)
		require.Equal(t, c.budget, c.said.BudgetOf(), "%+v", c.said)
	}
}

func TestAnEffortSurvivesAsABudget(t *testing.T) {
	for _, name := range []string{"minimal", "low", "medium", "high", "xhigh"} {
		budget := conversation.Reasoning{Effort: name}.BudgetOf()
		require.Equal(t, name, conversation.Reasoning{Budget: budget}.EffortOf())
	}
}
