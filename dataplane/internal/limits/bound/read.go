package bound

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawform"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Request is what the cost of a request depends on, as its body has it.
type Request struct {
	surface  catalog.Surface
	text     int64 // bytes of the body: it holds no text of more
	estimate int64 // tokens that an upstream which reports none is taken to have read
	most     int64 // output tokens that the caller allows; 0: not said
	thought  int64 // tokens to think for, beside them
	guessed  int64 // bytes of predicted output, which is paid for where it is wrong
	answers  int64 // to each prompt
	prompts  int64
	listed   int64 // texts or documents that are read one by one, each within the context
	beyond   bool  // the provider reads more than the body holds: media, or what it keeps
	tools    bool  // that the provider runs itself, as often as it likes
	kept     bool  // the prompt is one that the provider keeps, with tools and limits of its own
}

// beyondCounting is what is not multiplied any more: nobody serves as much.
const beyondCounting = 1 << 32

// Read takes from a call what its cost depends on.
func Read(c *call.Call) *Request {
	r := &Request{
		surface: c.Surface, text: int64(len(c.Body)), estimate: c.Request.InputTokens, answers: 1, prompts: 1, most: c.Request.OutputTokens,
	}
	r.beyond = len(c.Request.Needs) > 0 || c.Request.InputFile != "" || reads(c.Surface)
	if c.Form != "" {
		parts, _ := rawform.Parse(c.Body, c.Form) // the surface has read it before
		for i := range parts {
			r.field(&parts[i], c.Body)
		}
		return r
	}
	for o := rawjson.NewObject(c.Body); o.Next(); {
		r.member(o.Name(), o.Value())
	}
	return r
}

// reads says that a surface is there to read media.
func reads(s catalog.Surface) bool {
	switch s {
	case catalog.ImageEdits, catalog.Transcriptions, catalog.Translations, catalog.OCR, catalog.Parse, catalog.Decisions:
		return true
	default:
		return false
	}
}

// field reads one field of a form.
func (r *Request) field(p *rawform.Part, body []byte) {
	name := policy.FoldParam(p.Base())
	r.beyond = r.beyond || p.File || media[name]
	switch name {
	case "n":
		r.answers = max(r.answers, count(p.Value(body)))
	case "maxtokens", "maxoutputtokens":
		r.most = max(r.most, count(p.Value(body)))
	}
}

// with is r with what a preset adds to the body. Its parameters stand in for those
// that the body leaves out; where both have one the larger is taken.
func (r *Request) with(p *policy.PresetVersion) *Request {
	if p == nil {
		return r
	}
	more := *r
	more.text += int64(len(p.Config.SystemPrompt))
	for name, value := range p.Config.Params {
		more.text += int64(len(name) + len(value))
		more.member(name, value)
	}
	return &more
}

// member reads one member of a body, of whatever format and however its name is
// spelled: some upstreams go by names without their case, and presets by names
// without underscores. Where formats share a name it means the same, or the larger
// counts, as it does of one that stands twice.
func (r *Request) member(name string, value []byte) {
	switch name = policy.FoldParam(name); name {
	case "maxtokens", "maxcompletiontokens", "maxoutputtokens":
		r.most = max(r.most, count(value))
	case "n", "bestof", "candidatecount":
		r.answers = max(r.answers, count(value))
	case policy.GenerationConfig:
		for o := rawjson.NewObject(value); o.Next(); {
			r.member(o.Name(), o.Value())
		}
	case "thinking", "thinkingconfig", "reasoning":
		r.thoughts(value)
	case "prediction":
		r.guessed = max(r.guessed, int64(len(value)))
	case "prompt":
		r.prompt(value)
	case "documents", "input":
		r.list(value)
		r.beyond = r.beyond || refers(value) || r.surface == catalog.Responses && recalls(value)
	case "messages", "contents", "system", "instructions", "systeminstruction":
		r.beyond = r.beyond || refers(value)
	case "previousresponseid", "conversation", "cachedcontent", "container":
		r.beyond = r.beyond || !rawjson.IsNull(value)
	case "tools":
		r.tools = r.tools || runs(value)
	case "websearchoptions", "websearch", "searchparameters", "enablesearch", "mcpservers", "plugins", "connectors":
		r.tools = r.tools || !rawjson.IsNull(value) && string(value) != "false"
	default:
		r.beyond = r.beyond || name != "audio" && media[name] && !rawjson.IsNull(value) // audio is how to answer
	}
}

// thoughts are how many tokens may be thought for.
func (r *Request) thoughts(value []byte) {
	for o := rawjson.NewObject(value); o.Next(); {
		switch policy.FoldParam(o.Name()) {
		case "budgettokens", "thinkingbudget", "maxtokens":
			r.thought = max(r.thought, count(o.Value()))
		}
	}
}

// list counts what is read one by one.
func (r *Request) list(value []byte) {
	switch r.surface {
	case catalog.Rerank, catalog.Embeddings, catalog.Moderations:
	default:
		return
	}
	n := int64(0)
	for a := rawjson.NewArray(value); a.Next(); {
		n++
	}
	r.listed = max(r.listed, n)
}

// prompt is a text, a list of texts or of tokens, or one that the provider keeps.
func (r *Request) prompt(value []byte) {
	switch {
	case len(value) > 0 && value[0] == '{':
		r.kept = true
	case len(value) > 0 && value[0] == '[':
		n := int64(0)
		for a := rawjson.NewArray(value); a.Next(); {
			if v := a.Value(); v[0] == '"' || v[0] == '[' {
				n++
			}
		}
		r.prompts = max(r.prompts, n)
	}
}

// callersOwn are the beginnings of the types of tools that the caller runs.
var callersOwn = [...]string{"function", "custom", "bash_", "text_editor_", "memory_", "computer_", "local_shell", "apply_patch"}

// runs reports whether a list of tools has one that the provider runs itself.
func runs(list []byte) bool {
	if !rawjson.IsNull(list) && list[0] != '[' {
		return true
	}
	for a := rawjson.NewArray(list); a.Next(); {
		kind, named, declared, more := "", false, false, false
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			switch {
			case o.Is("type"):
				kind, _ = rawjson.Text(o.Value())
			case o.Is("name"), o.Is("function"):
				named = true
			case o.Is("functionDeclarations"), o.Is("function_declarations"):
				declared = true
			default:
				more = true
			}
		}
		switch {
		case kind != "":
			if !begins(kind) {
				return true
			}
		case declared && (named || more), !declared && !named:
			return true
		}
	}
	return false
}

func begins(kind string) bool {
	for _, own := range callersOwn {
		if strings.HasPrefix(kind, own) {
			return true
		}
	}
	return false
}

// count is a number of a body; what is none, or less than one, is 0.
func count(value []byte) int64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(string(value)), 64)
	if err != nil || n < 1 {
		return 0
	}
	return int64(min(n, beyondCounting))
}
