package upstream

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// detail is what an error says, in whatever shape its provider has for it. The
// members are the upstream's own words: nothing of them is shown before it
// went through show.
type detail struct {
	message, kind, code, param string

	status int           // an HTTP status given as the code; 0 when none was
	hints  []string      // further names of what is wrong, which are not shown
	wait   time.Duration // asked for in the body; 0 when it was not
}

const (
	// maxNested is how many errors inside of each other are followed: OpenRouter
	// wraps a provider's in its own, and gateways are put in a row.
	maxNested = 4
	maxHints  = 8
)

// detailOf reads an error. These are the shapes, each of which may hold
// another in place of its message:
//
//	{"error":{"message","type","code","param"}}          OpenAI and its like
//	{"error":{"code","message","metadata":{"raw"}}}      OpenRouter: raw is the provider's own
//	{"error":{"code","message","innererror":{"code"}}}   Azure
//	{"type":"error","error":{"type","message"}}          Anthropic
//	{"error":{"code","message","status","details":[]}}   Google, sometimes in a list
//	{"message","__type"}, {"Message"}, {"throttlingException":{"message"}}   AWS
//	{"object":"error","message","type","code"}           vLLM, Mistral
//	{"detail":[{"loc","msg"}]}, {"detail"}               FastAPI, which many are built on
//	{"error":"…","error_type"}, {"error":["…"]}          TGI, Hugging Face, Ollama
//	{"errors":[…]}, {"code","message"}, {"msg"}, text    others
//	{"title","detail","status"}                          RFC 9457
func detailOf(body []byte, deeper int) detail {
	value := body
	if list := rawjson.NewArray(value); list.Next() {
		value = list.Value()
	}
	o := rawjson.NewObject(value)
	var d detail
	var inner, title []byte
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("error"), o.Is("errors") && inner == nil:
			inner = v
		case o.Is("message"), o.Is("Message"), o.Is("detail"), o.Is("msg"):
			d.say(v, deeper)
		case o.Is("title"):
			title = v
		case o.Is("type"), o.Is("__type"), o.Is("error_type"):
			d.kind = firstText(d.kind, v)
		case o.Is("code"):
			d.number(v)
		case o.Is("status"):
			d.readStatus(v)
		case o.Is("param"):
			d.param = rawjson.String(v)
		case o.Is("innererror"), o.Is("inner_error"), o.Is("metadata"), o.Is("details"):
			d.aside(v, deeper)
		case deeper > 0 && bytes.HasSuffix(o.Key(), []byte("Exception")):
			d.kind, inner = string(o.Key()), v
		}
	}
	d.message = firstText(d.message, title)
	switch {
	case !o.OK():
		return detail{message: plainText(value)}
	case rawjson.IsString(inner):
		d.say(inner, deeper)
	case !rawjson.IsNull(inner) && deeper > 0:
		d = detailOf(inner, deeper-1).within(d)
	}
	return d
}

// within takes from the error around it what d lacks.
func (d detail) within(outer detail) detail {
	if outer.kind == "error" { // Anthropic's word for an error of any type
		outer.kind = ""
	}
	for _, m := range []struct {
		to   *string
		from string
	}{
		{&d.message, outer.message},
		{&d.kind, outer.kind},
		{&d.code, outer.code},
		{&d.param, outer.param},
	} {
		if *m.to == "" {
			*m.to = m.from
		}
	}
	if d.status == 0 {
		d.status = outer.status
	}
	if d.wait == 0 {
		d.wait = outer.wait
	}
	d.hint(outer.hints...)
	return d
}

func (d *detail) hint(names ...string) {
	for _, name := range names {
		if name != "" && len(d.hints) < maxHints {
			d.hints = append(d.hints, name)
		}
	}
}

// say reads what stands in the place of a message: a text, a text that is an
// error written as JSON, or a list of what is wrong.
func (d *detail) say(v []byte, deeper int) {
	switch {
	case rawjson.IsString(v):
		text := rawjson.String(v)
		if deeper > 0 && strings.HasPrefix(strings.TrimSpace(text), "{") {
			if inner := detailOf([]byte(text), deeper-1); inner.message != "" {
				*d = inner.within(*d)
				return
			}
		}
		d.message = firstText(d.message, v)
	case len(v) > 0 && (v[0] == '{' || v[0] == '[') && deeper > 0:
		if list := rawjson.NewArray(v); list.Next() {
			v = list.Value()
		}
		if rawjson.IsString(v) {
			d.message = firstText(d.message, v)
			return
		}
		d.param = strings.Trim(d.param+located(v), ".")
		*d = detailOf(v, deeper-1).within(*d)
	default:
		d.message = firstText(d.message, v)
	}
}

// located is the path in a FastAPI detail, without the word for the body.
func located(v []byte) string {
	var path []string
	o := rawjson.NewObject(v)
	for o.Next() {
		if !o.Is("loc") {
			continue
		}
		parts := rawjson.NewArray(o.Value())
		for parts.Next() && len(path) < maxHints {
			if part := firstText("", parts.Value()); part != "body" {
				path = append(path, part)
			}
		}
	}
	return strings.Join(path, ".")
}

// number reads a code: a word, or a status as a number or as text.
func (d *detail) number(v []byte) {
	d.code = firstText(d.code, v)
	if n, err := strconv.Atoi(d.code); err == nil && n >= 400 && n < 600 {
		d.status = n
	}
}

// readStatus: Google has a word in it, others the status.
func (d *detail) readStatus(v []byte) {
	text := firstText("", v)
	if _, err := strconv.Atoi(text); err != nil {
		if d.kind == "" {
			d.kind = text
		}
		d.hint(text)
		return
	}
	if d.code == "" {
		d.number(v)
	}
}

// aside reads what stands beside a message: further names of the error, the
// error of whoever was behind the provider, and how long to wait.
func (d *detail) aside(v []byte, deeper int) {
	if deeper == 0 {
		return
	}
	list := rawjson.NewArray(v)
	for n := 0; n < maxHints && list.Next(); n++ {
		d.aside(list.Value(), deeper-1)
	}
	o := rawjson.NewObject(v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("code"), o.Is("reason"), o.Is("error_type"):
			d.hint(firstText("", v))
		case o.Is("raw"):
			if raw := rawOf(v, deeper); raw.message != "" {
				raw.status = 0 // that of the error around it is the one that was decided on
				*d = raw.within(*d)
			}
		case o.Is("retryDelay"):
			if wait, err := time.ParseDuration(rawjson.String(v)); err == nil && wait > 0 {
				d.wait = min(wait, 24*time.Hour)
			}
		case o.Is("fieldViolations"), o.Is("field_violations"):
			if fields := rawjson.NewArray(v); fields.Next() {
				d.param = firstMember(d.param, fields.Value(), "field")
			}
		case o.Is("innererror"):
			d.aside(v, deeper-1)
		}
	}
}

// rawOf: text that is JSON, or JSON.
func rawOf(v []byte, deeper int) detail {
	if rawjson.IsString(v) {
		return detailOf([]byte(rawjson.String(v)), deeper-1)
	}
	return detailOf(v, deeper-1)
}

func firstMember(had string, object []byte, name string) string {
	o := rawjson.NewObject(object)
	for o.Next() {
		if o.Is(name) {
			had = firstText(had, o.Value())
		}
	}
	return had
}

// firstText keeps had, else reads a string, or a number as it is written.
func firstText(had string, value []byte) string {
	if had != "" || len(value) == 0 {
		return had
	}
	if c := value[0]; c >= '0' && c <= '9' {
		return string(value)
	}
	return rawjson.String(value)
}

// plainText is the body when it may be read by a person: no markup.
func plainText(body []byte) string {
	for _, c := range body {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '<', '{', '[':
			return ""
		}
		break
	}
	if rawjson.IsString(body) {
		return rawjson.String(body)
	}
	return string(body)
}

// show puts the safe part of d into f.
func (d *detail) show(f *fault.Error) {
	if message := Sanitize(d.message); message != "" {
		f.Message = message
	}
	if code := sanitizeWord(d.code); code != "" {
		_ = f.With("upstream_code", code)
	}
	if kind := sanitizeWord(d.kind); kind != "" {
		_ = f.With("type", kind)
	}
	if param := sanitizeWord(d.param); param != "" {
		_ = f.With("param", param)
	}
}
