package simulator

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// prompt is a request of any format, reduced to what an answer depends on.
type prompt struct {
	model     string
	stream    bool
	usage     bool // stream: the caller wants the usage event
	system    string
	user      string // text of the last user turn
	results   []toolResult
	images    int
	tools     []tool
	choice    toolChoice
	serial    bool         // one tool call at most
	schema    gjson.Result // of the structured output; not set when none
	object    bool         // any JSON object
	maxTokens int
	stops     []string
	choices   int
	reasoning bool
	logprobs  bool
	input     int // tokens
}

type tool struct {
	name   string
	schema gjson.Result
}

type toolResult struct {
	name string
	text string
}

type choiceMode int

const (
	choiceAuto choiceMode = iota
	choiceNone
	choiceRequired
)

type toolChoice struct {
	mode choiceMode
	name string // of the one demanded tool
}

// imageTokens is what an image counts for.
const imageTokens = 85

// add counts text towards the input and returns it.
func (p *prompt) add(text string) string {
	p.input += len(pieces(text))
	return text
}

func (p *prompt) addImage() {
	p.images++
	p.input += imageTokens
}

// addUser begins a new user turn: tool results before it are history.
func (p *prompt) addUser(text string) {
	p.user, p.results = text, nil
}

// piece is a word with the white space before it; joined, pieces are the text.
var piece = regexp.MustCompile(`\s*\S+|\s+$`)

func pieces(text string) []string { return piece.FindAllString(text, -1) }

// wanted returns the tools to call, in the order in which they were declared.
func (p *prompt) wanted() []tool {
	if len(p.tools) == 0 || len(p.results) > 0 || p.choice.mode == choiceNone {
		return nil
	}
	if p.choice.name != "" {
		for _, t := range p.tools {
			if t.name == p.choice.name {
				return []tool{t}
			}
		}
	}
	text := strings.ToLower(p.user)
	var named []tool
	for _, t := range p.tools {
		name := strings.ToLower(t.name)
		if strings.Contains(text, name) || strings.Contains(text, strings.ReplaceAll(name, "_", " ")) {
			named = append(named, t)
		}
	}
	if len(named) == 0 && (p.choice.mode == choiceRequired || strings.Contains(text, "tool")) {
		named = p.tools[:1]
	}
	if len(named) == 1 && strings.Contains(text, "parallel") {
		named = append(named, named[0])
	}
	if p.serial && len(named) > 1 {
		named = named[:1]
	}
	return named
}

// proper matches what a tool argument is taken from: quoted text, or a
// capitalised word that does not begin the sentence.
var proper = regexp.MustCompile(`["“']([^"”']{1,64})["”']|[a-z,:;] ([A-Z][\pL]+)`)

// hints are words of the prompt that make good string arguments.
func (p *prompt) hints() []string {
	var found []string
	for _, m := range proper.FindAllStringSubmatch(p.user, 8) {
		found = append(found, m[1]+m[2])
	}
	return found
}

func firstText(values ...gjson.Result) string {
	for _, v := range values {
		if v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}

func strs(v gjson.Result) []string {
	if v.Type == gjson.String {
		return []string{v.Str}
	}
	var out []string
	for _, s := range v.Array() {
		out = append(out, s.String())
	}
	return out
}
