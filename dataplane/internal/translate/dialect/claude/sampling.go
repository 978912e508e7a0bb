package claude

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// Sampling are the parameters of a request that say how tokens are chosen; ""
// is not said.
type Sampling struct {
	Temperature, TopP, TopK conversation.Number
}

// Sample returns what of s a model takes, and the neutral names of what it
// does not. Values that are the model's own anyway go without being missed.
func Sample(v Version, thinking bool, s Sampling) (Sampling, []string) {
	var lost []string
	drop := func(n *conversation.Number, name string, unless float64) {
		if *n != "" && value(*n) != unless {
			lost = append(lost, name)
		}
		*n = ""
	}
	const none = -1
	switch {
	case v.atLeast(v47):
		drop(&s.Temperature, "temperature", 1)
		drop(&s.TopP, "top_p", 1)
		drop(&s.TopK, "top_k", none)
	case thinking:
		drop(&s.Temperature, "temperature", 1)
		drop(&s.TopK, "top_k", none)
		if p := value(s.TopP); p < 0.95 || p > 1 {
			drop(&s.TopP, "top_p", none)
		}
	}
	if s.Temperature != "" && value(s.Temperature) > 1 {
		// The scale ends at 1 here and at 2 with OpenAI and Google.
		s.Temperature, lost = "1", append(lost, "temperature")
	}
	if s.Temperature != "" && (v.atLeast(v45) || v == v41) {
		drop(&s.TopP, "top_p", 1) // one of the two, not both
	}
	return s, lost
}

// value is for comparing only; a number that no float holds is an infinity.
func value(n conversation.Number) float64 {
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}
