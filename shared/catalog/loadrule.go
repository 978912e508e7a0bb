package catalog

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

func (l *loader) rule(at place, m *ModelPatch) {
	var r RulePatch
	if !l.mapping(at,
		field{"name", func(at place) { r.Name = deref(l.text(at)) }},
		field{"disabled", func(at place) { r.Disabled = l.flag(at) }},
		field{"when", func(at place) { c := l.condition(at); r.When = &c }},
		field{"then", func(at place) { t := l.then(at); r.Then = &t }},
	) {
		return
	}
	parent := at.path[:strings.LastIndex(at.path, ".rules[")]
	if l.claim(at, "name", r.Name, ruleEntry(parent, r.Name)) {
		m.Rules = append(m.Rules, r)
	}
}

func (l *loader) then(at place) Then {
	var t Then
	l.mapping(at, append(l.targetFields(&t.Target), field{"fallbacks", func(at place) {
		l.list(at, func(at place) {
			var fallback Target
			l.mapping(at, l.targetFields(&fallback)...)
			t.Fallbacks = append(t.Fallbacks, fallback)
		})
	}})...)
	return t
}

func (l *loader) targetFields(t *Target) []field {
	return []field{
		{"model", func(at place) { t.Model = deref(l.text(at)) }},
		{"provider", func(at place) { t.Provider = deref(l.text(at)) }},
		{"region", func(at place) { t.Region = deref(l.text(at)) }},
		{"upstream_model", func(at place) { t.UpstreamModel = deref(l.text(at)) }},
		{"credential", func(at place) { t.Credential = Credential(deref(l.text(at))) }},
	}
}

// condition reads the form of a condition; what it says is for its Check.
func (l *loader) condition(at place) condition.Condition {
	var c condition.Condition
	l.mapping(at,
		field{"all", func(at place) { c.All = l.conditions(at) }},
		field{"any", func(at place) { c.Any = l.conditions(at) }},
		field{"not", func(at place) { not := l.condition(at); c.Not = &not }},
		field{"source", func(at place) { c.Source = condition.Source(deref(l.text(at))) }},
		field{"path", func(at place) { c.Path = deref(l.text(at)) }},
		field{"op", func(at place) { c.Op = condition.Op(deref(l.text(at))) }},
		field{"value", func(at place) { c.Value = l.operand(at) }},
	)
	if hasNull(at.node, "value") {
		c.Value = condition.One(condition.Null()) // a value of its own here
	}
	return c
}

// hasNull reports whether a mapping has a member that is null, which mapping
// reads as not being there.
func hasNull(n *yaml.Node, name string) bool {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name && isNull(n.Content[i+1]) {
			return true
		}
	}
	return false
}

func (l *loader) conditions(at place) []condition.Condition {
	list := []condition.Condition{}
	l.list(at, func(at place) { list = append(list, l.condition(at)) })
	return list
}

func (l *loader) operand(at place) condition.Operand {
	at, ok := l.resolve(at)
	if !ok {
		return condition.Operand{}
	}
	if at.node.Kind != yaml.SequenceNode {
		return condition.One(l.value(at))
	}
	o := condition.List()
	l.list(at, func(at place) { o.Values = append(o.Values, l.value(at)) })
	return o
}

// value reads a primitive. Numbers keep the digits that they are written with.
func (l *loader) value(at place) condition.Value {
	at, ok := l.resolve(at)
	if !ok {
		return condition.Null()
	}
	if at.node.Kind == yaml.ScalarNode {
		switch at.node.Tag {
		case "!!null":
			return condition.Null()
		case "!!bool":
			return condition.Bool(strings.EqualFold(at.node.Value, "true"))
		case "!!str", "!!timestamp":
			return condition.Text(at.node.Value)
		case "!!int", "!!float":
			if v, ok := condition.Number(at.node.Value); ok {
				return v
			}
			l.refuse(at, "want a number as JSON writes it")
			return condition.Null()
		}
	}
	l.refuse(at, "want text, a number, true, false or null")
	return condition.Null()
}
