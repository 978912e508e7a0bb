package turns

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// Tools returns the tools that are sent, and the neutral names of what is
// lost; schemas says that the model can be held to one. There is no word for only some of the tools: the others are left out,
// which comes to the same but for the place that the definitions have in the
// prompt, and so in its cache.
func Tools(r *conversation.Request, schemas bool, writable func(*conversation.Tool) bool) (sent []*conversation.Tool, lost []string) {
	allowed := r.ToolChoice.Allowed
	if len(allowed) > 0 {
		lost = append(lost, "tool_choice.allowed")
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		if !writable(t) || len(allowed) > 0 && !slices.Contains(allowed, t.Name) {
			lost = append(lost, "tools."+strconv.Itoa(i))
			continue
		}
		if !schemas && t.Strict != nil {
			loose := *t
			loose.Strict = nil
			if *t.Strict {
				lost = append(lost, "tools."+strconv.Itoa(i)+".strict")
			}
			t = &loose
		}
		sent = append(sent, t)
	}
	return sent, lost
}

// Choice is the mode that can be asked for with the tools that are sent, and
// whether another one was: no tool can be forced that is not there, and none
// at all while the model thinks.
func Choice(c conversation.ToolChoice, sent []*conversation.Tool, thinking bool) (mode conversation.ToolMode, lost bool) {
	switch c.Mode {
	case conversation.One:
		known := slices.ContainsFunc(sent, func(t *conversation.Tool) bool { return t.Name == c.Name })
		lost = thinking || !known
	case conversation.Required:
		lost = thinking || len(sent) == 0
	default:
		return c.Mode, false
	}
	if lost {
		return conversation.Auto, true
	}
	return c.Mode, false
}

// Lost are the neutral names of the parameters that r sets and that no format
// of this kind has a place for.
func Lost(r *conversation.Request) []string {
	var lost []string
	for _, p := range []struct {
		name string
		said bool
	}{
		{"seed", r.Seed != ""},
		{"frequency_penalty", r.FrequencyPenalty != ""},
		{"presence_penalty", r.PresencePenalty != ""},
		{"n", r.Choices > 1},
		{"logprobs", r.Logprobs},
		{"top_logprobs", r.TopLogprobs != ""},
		{"verbosity", r.Verbosity != ""},
		{"prompt_cache_key", r.CacheKey != ""},
	} {
		if p.said {
			lost = append(lost, p.name)
		}
	}
	return append(lost, r.Other...)
}

// Stops are the stop sequences that are taken, which must not be white space
// alone, and whether some are not.
func Stops(stops []string) (taken []string, lost bool) {
	for _, s := range stops {
		if isBlank(s) {
			lost = true
			continue
		}
		taken = append(taken, s)
	}
	return taken, lost
}
