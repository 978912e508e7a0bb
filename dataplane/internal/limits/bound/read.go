package bound

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawform"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Request is what the cost of a request depends on, as its body has it.
type Request struct {
	surface catalog.Surface
	text    int64 // bytes of the body: it holds no text of more
	most    int64 // output tokens that the caller allows; 0: not said
	thought int64 // tokens to think for, beside them
	guessed int64 // bytes of predicted output, which is paid for where it is wrong
	answers int64 // to each prompt
	prompts int64
	listed  int64 // documents, each of which is read together with the rest
	beyond  bool  // the provider reads more than the body holds: media, or what it keeps
	tools   bool  // that the provider runs itself, as often as it likes
}

// beyondCounting is what is not multiplied any more: nobody serves as much.
const beyondCounting = 1 << 32

// Read takes from a call what its cost depends on.
func Read(c *call.Call) *Request {
	r := &Request{surface: c.Surface, text: int64(len(c.Body)), answers: 1, prompts: 1, most: c.Request.OutputTokens}
	r.beyond = len(c.Request.Needs) > 0 || c.Request.InputFile != ""
	if c.Form != "" {
		parts, _ := rawform.Parse(c.Body, c.Form) // the surface has read it before
		for i := range parts {
			r.beyond = r.beyond || parts[i].File
			if parts[i].Base() == "n" {
				r.answers = max(r.answers, whole(string(parts[i].Value(c.Body))))
			}
		}
		return r
	}
	for o := rawjson.NewObject(c.Body); o.Next(); {
		r.member(o.Name(), o.Value())
	}
	return r
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

// member reads one member of a body, of whatever format: where formats share a
// name it means the same, or the larger counts.
func (r *Request) member(name string, value []byte) {
	switch name {
	case "max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens":
		r.most = max(r.most, count(value))
	case "n", "best_of", "candidateCount", "candidate_count":
		r.answers = max(r.answers, count(value))
	case "generationConfig", "generation_config":
		for o := rawjson.NewObject(value); o.Next(); {
			r.member(o.Name(), o.Value())
		}
	case "thinking", "thinkingConfig", "thinking_config":
		for _, path := range [...]string{"budget_tokens", "thinkingBudget", "thinking_budget"} {
			r.thought = max(r.thought, gjson.GetBytes(value, path).Int())
		}
	case "prediction":
		r.guessed = int64(len(value))
	case "prompt":
		r.prompt(value)
	case "documents":
		r.listed = gjson.GetBytes(value, "#").Int()
	case "previous_response_id", "conversation", "cachedContent", "cached_content", "container":
		r.beyond = r.beyond || !rawjson.IsNull(value)
	case "input":
		r.beyond = r.beyond || strings.Contains(string(value), "item_reference")
	case "tools":
		r.tools = r.tools || runs(value)
	case "web_search_options", "mcp_servers", "plugins":
		r.tools = r.tools || !rawjson.IsNull(value)
	}
}

// prompt is a text, a list of texts or of tokens, or one that the provider keeps.
func (r *Request) prompt(value []byte) {
	switch {
	case len(value) > 0 && value[0] == '{':
		r.beyond = true
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
		case !named && (!declared || more):
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
func count(value []byte) int64 { return whole(string(value)) }

func whole(text string) int64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n < 1 {
		return 0
	}
	return int64(min(n, beyondCounting))
}
