package simulator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// prompt is a request of any format, reduced to what an answer depends on.
type prompt struct {
	model     string
	terms     map[string]bool // of the model's name
	stream    bool
	usage     bool // stream: the caller wants the usage event
	system    string
	user      string // text of the last user turn
	results   []toolResult
	images    int
	audios    int
	documents int
	names     map[string]string // tools by the ids of their calls
	tools     []tool
	choice    toolChoice
	serial    bool         // one tool call at most
	schema    gjson.Result // of the structured output; not set when none
	object    bool         // any JSON object
	maxTokens int
	stops     []string
	choices   int
	reasoning bool
	exact     bool // the platform is as strict as OpenAI
	hidden    bool // thoughts are counted and not shown
	speaks    bool // the answer is audio
	request   gjson.Result
	sealed    bool // thoughts are given out encrypted
	draws     bool // the answer has an image
	stored    int  // tokens of the input that a cache of its own holds
	repeats   bool // the last usage of a stream says all of it again
	logprobs  bool
	top       int // alternatives for each token
	marks     []cacheMark
	input     int // tokens
}

type tool struct {
	name   string
	schema gjson.Result
	custom bool // takes text in place of JSON
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
	only []string // the tools that may be called; none is all
}

// What content other than text counts for, in tokens.
const (
	imageTokens    = 85
	audioTokens    = 50
	documentTokens = 250
)

// termsOf are the words of a model's name, up to those of its fault. A quirk
// is one term with the word after it.
func termsOf(model string) map[string]bool {
	if terms, ok := faultTerms(model); ok {
		model = strings.TrimSuffix(model, faultMark+terms)
	}
	words := strings.FieldsFunc(model, func(r rune) bool { return strings.ContainsRune("-/:.@", r) })
	out := map[string]bool{}
	for i, w := range words {
		out[w] = true
		if i > 0 && words[i-1] == "quirk" {
			out["quirk-"+w] = true
		}
	}
	return out
}

// name notes which tool a call was for.
func (p *prompt) name(id, tool string) {
	if p.names == nil {
		p.names = map[string]string{}
	}
	p.names[id] = tool
}

// named is the tool of a call, or the call's id.
func (p *prompt) named(id string) string {
	if name := p.names[id]; name != "" {
		return name
	}
	return id
}

// add counts text towards the input and returns it.
func (p *prompt) add(text string) string {
	p.input += len(pieces(text))
	return text
}

func (p *prompt) addImage() {
	p.images++
	p.input += imageTokens
}

func (p *prompt) addAudio() {
	p.audios++
	p.input += audioTokens
}

func (p *prompt) addDocument() {
	p.documents++
	p.input += documentTokens
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
	allowed := p.tools
	if len(p.choice.only) > 0 {
		allowed = slices.DeleteFunc(slices.Clone(p.tools), func(t tool) bool { return !slices.Contains(p.choice.only, t.name) })
	}
	text := strings.ToLower(p.user)
	var named []tool
	for _, t := range allowed {
		name := strings.ToLower(t.name)
		if strings.Contains(text, name) || strings.Contains(text, strings.ReplaceAll(name, "_", " ")) {
			named = append(named, t)
		}
	}
	if len(named) == 0 && len(allowed) > 0 && (p.choice.mode == choiceRequired || strings.Contains(text, "tool")) {
		named = allowed[:1]
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
