package simulator

import (
	"encoding/json"
	"strings"
)

// generate answers a conversation.
func (x *exchange) generate() {
	d := x.format()
	p, refused := d.read(x)
	if refused != nil {
		x.refuse(refused)
		return
	}
	a := answerTo(p, x.body)
	a.created = x.server.options.Now()
	if text := x.r.Header.Get("X-Sim-Text"); text != "" {
		a.text, a.calls, a.finish = text, nil, finishStop
	}
	if x.fault.LongKiB > 0 {
		a.text, a.whole = strings.Repeat("long ", x.fault.LongKiB<<10/5), true
	}
	x.server.cached.account(x.owner, x.server.options.Now(), p.marks, a.usage)
	if x.fault.NoUsage {
		a.usage = nil
	}
	if x.route.path == "/responses" {
		x.remember(d.plain(p, a))
	}
	if p.stream {
		x.stream(d.frames(p, a))
		return
	}
	x.plain(d.plain(p, a))
}

// counter formats can count a prompt's tokens.
type counter interface {
	counted(p *prompt) json.RawMessage
}

func (x *exchange) countTokens() {
	p, refused := x.format().read(x)
	if refused != nil {
		x.refuse(refused)
		return
	}
	x.plain(x.format().(counter).counted(p))
}
