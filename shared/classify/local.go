package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The constants of the local classifier. The golden cases show what they do.
const (
	// What the parts of a request say, of what its last turn says: an earlier
	// turn and the system instructions set the scene, and the last turn is what
	// is asked for now.
	firstWeight  = 0.4
	systemWeight = 0.3

	// generalWeight is what speaks for general work in every request: one clear
	// cue (weight 1) outweighs it.
	generalWeight = 0.6

	// mostEvidence bounds what all cues of one workload in one text count for, so
	// that a list of words does not outweigh what the rest says.
	mostEvidence = 3.0

	// longText in bytes is where a request is likely to be about the text that it
	// brings, and longWeight what that says for summarization.
	longText   = 8_000
	longWeight = 0.5
)

// Local classifies by rules alone.
func Local(t Text) Result {
	last := read(Excerpt(t.Last, MaxTurn))
	first := read(Head(t.First, MaxFirst))
	system := read(Head(t.System, MaxSystem))
	var weights Mix
	for w := range weights {
		weights[w] = last.evidence[w] + firstWeight*first.evidence[w] + systemWeight*system.evidence[w]
	}
	if t.Bytes >= longText && weights[Summarization] > 0 {
		weights[Summarization] += longWeight
	}
	found := 0.0
	for _, v := range weights {
		found += v
	}
	weights[General] += generalWeight
	r := Result{Mix: weights.shared(), Complexity: complexity(t, last)}
	// Certain to the degree that one workload stands out and that anything was
	// found at all. Rules on words are never sure.
	r.Confidence = clamp(0.2 + 0.6*r.Mix[r.Mix.Primary()]*found/(found+1))
	return r.WithFacts(t.Tools, t.Structured)
}

// complexity adds up what makes a request hard: its length, what it demands,
// how far it has to be thought through.
func complexity(t Text, last reading) float64 {
	c := 0.1
	c += 0.15 * saturated(float64(last.words), 150)
	c += 0.1 * saturated(float64(t.Bytes), 20_000)
	c += min(0.3, 0.1*last.evidence[Reasoning])
	c += min(0.15, 0.05*last.evidence[Code])
	c += min(0.2, 0.04*float64(last.demands))
	c += 0.05 * saturated(float64(t.Turns), 8)
	if t.Tools {
		c += 0.1
	}
	return clamp(c)
}

func saturated(x, half float64) float64 { return x / (x + half) }

func clamp(v float64) float64 { return min(1, max(0, v)) }

// reading is what was found in one text.
type reading struct {
	evidence Mix
	words    int
	demands  int // conditions, list items and questions
}

// read looks for the cues of each workload. Each counts once.
func read(text string) reading {
	r := reading{}
	if text == "" {
		return r
	}
	seen := make(map[string]struct{}, 32)
	note := func(key string) {
		c, ok := cues[key]
		if !ok {
			return
		}
		if _, twice := seen[key]; twice {
			return
		}
		seen[key] = struct{}{}
		r.evidence[c.workload] += c.weight
	}
	var before string
	for rest := text; rest != ""; {
		var word string
		word, rest = nextWord(rest)
		if word == "" {
			break
		}
		r.words++
		note(word)
		if before != "" {
			note(before + " " + word)
			if isLanguage(word) && leadsToLanguage(before) {
				note("into french") // any language
			}
		}
		if demanding[word] {
			r.demands++
		}
		before = word
	}
	for _, c := range unspaced {
		if strings.Contains(text, c.text) {
			r.evidence[c.workload] += c.weight
		}
	}
	r.evidence[Code] += codeLooks(text)
	r.evidence[Reasoning] += mathLooks(text)
	r.demands += items(text)
	for w := range r.evidence {
		r.evidence[w] = min(mostEvidence, r.evidence[w])
	}
	return r
}

// nextWord takes the next run of letters, lower case, and what follows it.
// Runs longer than any cue are cut: they are no words.
func nextWord(text string) (word, rest string) {
	start := strings.IndexFunc(text, unicode.IsLetter)
	if start < 0 {
		return "", ""
	}
	text = text[start:]
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '+' && r != '#' })
	if end < 0 {
		end = len(text)
	}
	return strings.ToLower(Head(text[:end], longestWord)), text[end:]
}

const longestWord = 40

// codeLooks finds what only source text has.
func codeLooks(text string) float64 {
	evidence := 0.0
	if strings.Contains(text, "```") {
		evidence += 1.5
	}
	for _, mark := range codeMarks {
		if strings.Contains(text, mark) {
			evidence += 0.7
		}
	}
	signs := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '}', ';', '=', '<', '>', '(', ')', '[', ']', '_':
			signs++
		}
	}
	if len(text) > 80 && signs*20 > len(text) { // one in twenty; prose has one in a hundred
		evidence++
	}
	return evidence
}

// mathLooks finds formulas.
func mathLooks(text string) float64 {
	evidence := 0.0
	for _, mark := range mathMarks {
		if strings.Contains(text, mark) {
			evidence += 0.7
		}
	}
	digits, operators := 0, 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '+' || r == '^' || r == '×' || r == '÷' || r == '=':
			operators++
		}
	}
	if digits > 2 && operators > 0 && utf8.RuneCountInString(text) < 400 {
		evidence += 0.6
	}
	return evidence
}

// items counts the lines that are items of a list, and the questions.
func items(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "):
			n++
		case len(line) > 2 && line[0] >= '0' && line[0] <= '9' && strings.ContainsAny(line[1:min(4, len(line))], ".)"):
			n++
		}
	}
	return n + min(3, strings.Count(text, "?")/2)
}
