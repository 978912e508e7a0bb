package claude_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/claude"
)

func TestVersionOf(t *testing.T) {
	for model, want := range map[string]claude.Version{
		"claude-3-7-sonnet-20250219":                    {Major: 3, Minor: 7},
		"claude-3-haiku@20240307":                       {Major: 3},
		"claude-sonnet-4-20250514":                      {Major: 4},
		"claude-opus-4-1-20250805":                      {Major: 4, Minor: 1},
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0":  {Major: 4, Minor: 5},
		"anthropic.claude-opus-4-6-v1":                  {Major: 4, Minor: 6},
		"anthropic/claude-opus-4.7":                     {Major: 4, Minor: 7},
		"Claude-Haiku-5-5":                              {Major: 5, Minor: 5},
		"claude-sonnet-5":                               {Major: 5},
		"publishers/anthropic/models/claude-opus-10-12": {Major: 10, Minor: 12},
		"claude-instant":                                {},
		"kimi-k2-5":                                     {},
		"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc12": {},
		"": {},
	} {
		require.Equal(t, want, claude.VersionOf(model), model)
	}
}

func TestThink(t *testing.T) {
	old, middle, young := claude.Version{Major: 4, Minor: 5}, claude.Version{Major: 4, Minor: 6}, claude.Version{Major: 5}
	for name, c := range map[string]struct {
		v      claude.Version
		r      conversation.Reasoning
		l      claude.Limits
		config string
		effort string
		limit  int64
		lost   bool
	}{
		"nothing said":                {r: conversation.Reasoning{}},
		"off":                         {r: conversation.Reasoning{Off: true}, config: `{"type":"disabled"}`},
		"none":                        {v: young, r: conversation.Reasoning{Effort: "none"}, config: `{"type":"disabled"}`},
		"only to be shown":            {r: conversation.Reasoning{Summary: "auto"}, lost: true},
		"effort of an unknown model":  {r: conversation.Reasoning{Effort: "low"}, config: `{"type":"enabled","budget_tokens":4096}`, limit: 12_288},
		"shown by an unknown model":   {r: conversation.Reasoning{Budget: 2000, Summary: "auto"}, config: `{"type":"enabled","budget_tokens":2000,"display":"summarized"}`, limit: 10_192},
		"shown by an old model":       {v: old, r: conversation.Reasoning{Budget: 2000, Summary: "auto"}, config: `{"type":"enabled","budget_tokens":2000}`, limit: 10_192},
		"dynamic, unknown model":      {r: conversation.Reasoning{Budget: conversation.Dynamic}, config: `{"type":"adaptive"}`},
		"dynamic, old model":          {v: old, r: conversation.Reasoning{Budget: conversation.Dynamic}, config: `{"type":"enabled","budget_tokens":16384}`, limit: 24_576},
		"dynamic":                     {v: young, r: conversation.Reasoning{Budget: conversation.Dynamic}, config: `{"type":"adaptive"}`},
		"effort":                      {v: middle, r: conversation.Reasoning{Effort: "medium"}, config: `{"type":"adaptive"}`, effort: "medium"},
		"effort beside dynamic":       {v: middle, r: conversation.Reasoning{Effort: "low", Budget: conversation.Dynamic}, config: `{"type":"adaptive"}`, effort: "low"},
		"least":                       {v: young, r: conversation.Reasoning{Effort: "minimal"}, config: `{"type":"adaptive"}`, effort: "low"},
		"most of 4.6":                 {v: middle, r: conversation.Reasoning{Effort: "xhigh"}, config: `{"type":"adaptive"}`, effort: "max"},
		"most":                        {v: young, r: conversation.Reasoning{Effort: "xhigh", Summary: "auto"}, config: `{"type":"adaptive","display":"summarized"}`, effort: "xhigh"},
		"a budget of 4.6":             {v: middle, r: conversation.Reasoning{Budget: 2000}, l: claude.Limits{Asked: 4000}, config: `{"type":"enabled","budget_tokens":2000}`, limit: 4000},
		"a budget is no more":         {v: young, r: conversation.Reasoning{Budget: 40_000}, l: claude.Limits{Asked: 4000}, config: `{"type":"adaptive"}`, effort: "high", limit: 4000},
		"as much as the limit":        {r: conversation.Reasoning{Budget: 4000}, l: claude.Limits{Asked: 4000}, config: `{"type":"enabled","budget_tokens":2000}`, limit: 4000},
		"more than the endpoint has":  {r: conversation.Reasoning{Effort: "high"}, l: claude.Limits{Most: 8000}, config: `{"type":"enabled","budget_tokens":4000}`, limit: 8000},
		"less than the least":         {r: conversation.Reasoning{Effort: "high"}, l: claude.Limits{Asked: 2000}, limit: 2000, lost: true},
		"an effort that is not known": {r: conversation.Reasoning{Effort: "extreme"}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := claude.Think(c.v, c.r, c.l)
			require.Equal(t, c.config, string(got.Config))
			require.Equal(t, c.effort, got.Effort)
			require.Equal(t, c.limit, got.Limit)
			require.Equal(t, c.lost, got.Degraded)
			require.Equal(t, c.config != "" && c.config != `{"type":"disabled"}`, got.On)
		})
	}
}

func TestSample(t *testing.T) {
	for name, c := range map[string]struct {
		v        claude.Version
		thinking bool
		s, want  claude.Sampling
		lost     []string
	}{
		"as it is":            {s: claude.Sampling{Temperature: "0.50", TopP: "0.9", TopK: "5"}, want: claude.Sampling{Temperature: "0.50", TopP: "0.9", TopK: "5"}},
		"hot":                 {s: claude.Sampling{Temperature: "1e400"}, want: claude.Sampling{Temperature: "1"}, lost: []string{"temperature"}},
		"one of two":          {v: claude.Version{Major: 4, Minor: 5}, s: claude.Sampling{Temperature: "0.5", TopP: "0.9"}, want: claude.Sampling{Temperature: "0.5"}, lost: []string{"top_p"}},
		"one of two, default": {v: claude.Version{Major: 4, Minor: 1}, s: claude.Sampling{Temperature: "0.5", TopP: "1.0"}, want: claude.Sampling{Temperature: "0.5"}},
		"both":                {v: claude.Version{Major: 4}, s: claude.Sampling{Temperature: "0.5", TopP: "0.9"}, want: claude.Sampling{Temperature: "0.5", TopP: "0.9"}},
		"none any more":       {v: claude.Version{Major: 4, Minor: 7}, s: claude.Sampling{Temperature: "0.5", TopP: "0.9", TopK: "1"}, lost: []string{"temperature", "top_p", "top_k"}},
		"defaults of old":     {v: claude.Version{Major: 5}, s: claude.Sampling{Temperature: "1", TopP: "1"}},
		"thinking":            {thinking: true, s: claude.Sampling{Temperature: "0", TopP: "0.5", TopK: "1"}, lost: []string{"temperature", "top_k", "top_p"}},
		"thinking, allowed":   {thinking: true, s: claude.Sampling{Temperature: "1.0", TopP: "0.95"}, want: claude.Sampling{TopP: "0.95"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, lost := claude.Sample(c.v, c.thinking, c.s)
			require.Equal(t, c.want, got)
			require.Equal(t, c.lost, lost)
		})
	}
}

func TestHasSchemas(t *testing.T) {
	for v, want := range map[claude.Version]bool{
		{}: true, {Major: 3, Minor: 7}: false, {Major: 4}: false, {Major: 4, Minor: 1}: true, {Major: 4, Minor: 5}: true, {Major: 5}: true,
	} {
		require.Equal(t, want, v.HasSchemas(), "%v", v)
	}
}
