package decide

import "strings"

// Opening is what is settled of a request before any model is looked at: which
// name its chain begins with, once the key's dynamic route and the preset that is
// named have had their say, and the ladder for it. It is frozen.
type Opening struct {
	Ladder
	walker *walker // nil: the key has no dynamic route that applies
	first  link
	needs  string // the key of a preset; "": it is settled
}

// Open works the opening out; nil without a policy or a catalog. It depends on
// what Climb depends on, and on what the route looks at. Where it Needs a preset
// it is not settled, and worked out again once Input.Presets has it.
func Open(in *Input) *Opening {
	if in.Policy == nil || in.Catalog == nil {
		return nil
	}
	o := &Opening{}
	o.open(in)
	return o
}

// Needs is the key of a preset that has to be looked up first; "" when none has.
func (o *Opening) Needs() string {
	if o == nil {
		return ""
	}
	return o.needs
}

// opened is the opening of an input, which is worked out unless it was before.
func (in *Input) opened() *Opening {
	if in.Opening != nil {
		return in.Opening
	}
	return Open(in)
}

func (o *Opening) open(in *Input) {
	f, l := &in.Facts, &o.first
	l.name, l.rung, l.caller = f.Model, RungRequest, true
	if f.Model == "" && len(f.Models) > 0 {
		l.name = f.Models[0]
	}
	l.said = l.name
	if f.Child {
		o.inherit(in)
		return
	}
	if o.walker = walkerOf(in); o.walker != nil {
		l.walk = o.walker.walk(l.name)
		if l.walk.unknownAt != "" {
			return
		}
		if l.walk.action.Reject != nil {
			l.refusal = o.walker.rejected(l.walk)
		}
		if l.routed() {
			l.reason = SwitchDynamicRoute
		}
	}
	l.caller = l.caller && l.name != ""
	if l.refusal == nil && o.need(l.asPreset(in)) {
		return
	}
	o.ascend(in)
	if l.name != "" || l.refusal != nil || o.prefer.defaultModel.rung == RungPlatform {
		return
	}
	o.standing(in)
}

// standing opens with the ladder's default model, where nobody else names one. A
// preset that is the default may name none itself.
func (o *Opening) standing(in *Input) {
	l := &o.first
	l.name, l.rung = o.prefer.defaultModel.value, o.prefer.defaultModel.rung
	if _, isPreset := PresetKey(l.name); !isPreset {
		return
	}
	if l.preset == nil {
		if o.need(l.asPreset(in)) || l.refusal != nil {
			return
		}
		o.Ladder = Ladder{}
		if o.ascend(in); l.name != "" {
			return
		}
		l.name, l.rung = o.prefer.defaultModel.value, o.prefer.defaultModel.rung
		if _, isPreset := PresetKey(l.name); !isPreset {
			return
		}
	}
	l.refusal = noPreset("The preset names no model, and the default model is a preset, which cannot be followed. Name a model in the preset.")
}

// ascend works out the ladder for the first entry.
func (o *Opening) ascend(in *Input) {
	if l := &o.first; l.preset == nil && l.walk == nil && in.Ladder != nil {
		o.Ladder = *in.Ladder
	} else {
		o.climb(in, l.preset, l.walk)
	}
}

// inherit opens a request that the gateway makes within another one: it has the
// model that it names, and is held to what the other one is held to.
func (o *Opening) inherit(in *Input) {
	if in.Within == nil {
		o.ascend(in)
		return
	}
	o.climb(in, in.Within.first.preset, in.Within.first.walk)
}

func (o *Opening) need(key string) bool {
	o.needs = key
	return key != ""
}

// routed puts the model that the route fixes in an entry's place, and reports
// whether it is another one. A name that has a provider before it is not
// overridden.
func (l *link) routed() bool {
	fixed := l.walk.action.Model
	if fixed == "" || qualified(l.name) {
		return false
	}
	other := fixed != l.name
	l.replaced = true
	l.name, l.rung, l.caller = fixed, RungRoute, false
	return other
}

// qualified reports whether a name has a provider before it.
func qualified(name string) bool {
	slash, colon := strings.IndexByte(name, '/'), strings.IndexByte(name, ':')
	return colon >= 0 && colon < slash && !strings.HasPrefix(name, "@")
}
