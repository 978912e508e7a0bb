package gemini

import "strings"

// generation is what a model's name tells of what it takes. Names that tell
// nothing are taken for the newest: Google's aliases point there.
type generation struct {
	number    int // 2 for gemini-2.5-flash, 0 unknown
	pro, lite bool
}

// generationOf reads a name such as gemini-2.5-pro or
// publishers/google/models/gemini-3-flash-preview.
func generationOf(model string) generation {
	_, rest, found := strings.Cut(model, "gemini-")
	g := generation{pro: strings.Contains(rest, "pro"), lite: strings.Contains(rest, "lite")}
	if found && rest != "" && isDigit(rest[0]) && (len(rest) == 1 || !isDigit(rest[1])) {
		g.number = int(rest[0] - '0')
	}
	return g
}

// isOld reports a model of the first two generations.
func (g generation) isOld() bool { return g.number == 1 || g.number == 2 }

// demandsProof reports a model that refuses calls of the current turn without
// a thought signature.
func (g generation) demandsProof() bool { return g.number >= 3 }

// DemandsProof reports a model that refuses calls of the current turn without a
// thought signature.
func DemandsProof(model string) bool { return generationOf(model).demandsProof() }

// budgets are the least and the most tokens that a model of the second
// generation may be told to think with
// (https://ai.google.dev/gemini-api/docs/thinking#set-budget).
func (g generation) budgets() (least, most int64) {
	switch {
	case g.pro:
		return 128, 32768
	case g.lite:
		return 512, 24576
	}
	return 1, 24576
}

// level is the word of the later generations for an effort, "" for one that
// is not known. They have no word above HIGH, and pro models none below LOW
// (https://ai.google.dev/gemini-api/docs/gemini-3#thinking_level).
func (g generation) level(effort string) string {
	switch effort {
	case "minimal":
		if g.pro {
			return "LOW"
		}
		return "MINIMAL"
	case "low", "medium", "high":
		return strings.ToUpper(effort)
	case "xhigh", "max":
		return "HIGH"
	}
	return ""
}
