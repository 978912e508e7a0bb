package rule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func codes(check func(v *rule.Violations)) []string {
	var v rule.Violations
	check(&v)
	var list []string
	if err := v.Err(); err != nil {
		for _, one := range fault.Of(err).Violations {
			list = append(list, one.Path+" "+one.Code)
		}
	}
	return list
}

func TestRules(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	later := now.Add(1)
	known := func(s string) bool { return s != "x" }
	cases := map[string]struct {
		check func(v *rule.Violations)
		want  []string
	}{
		"name":               {func(v *rule.Violations) { v.Name("p", "Söhne 北京 🙂") }, nil},
		"no name":            {func(v *rule.Violations) { v.Name("p", " \t") }, []string{"p required"}},
		"padded name":        {func(v *rule.Violations) { v.Name("p", "a ") }, []string{"p malformed"}},
		"longest name":       {func(v *rule.Violations) { v.Name("p", strings.Repeat("ö", 100)) }, nil},
		"long name":          {func(v *rule.Violations) { v.Name("p", strings.Repeat("ö", 101)) }, []string{"p too_long"}},
		"control in name":    {func(v *rule.Violations) { v.Name("p", "a\x00b") }, []string{"p malformed"}},
		"turned text":        {func(v *rule.Violations) { v.Name("p", "a\u202egnp.exe") }, []string{"p malformed"}},
		"isolated text":      {func(v *rule.Violations) { v.Name("p", "a\u2067b") }, []string{"p malformed"}},
		"lost character":     {func(v *rule.Violations) { v.Name("p", "a\ufffd") }, []string{"p malformed"}},
		"second line":        {func(v *rule.Violations) { v.Name("p", "a\u2028b") }, []string{"p malformed"}},
		"right to left":      {func(v *rule.Violations) { v.Name("p", "שלום\u200f (a)") }, nil},
		"joined letters":     {func(v *rule.Violations) { v.Name("p", "می\u200cخواهم 👩\u200d🚀 ❤\ufe0f\u200d🔥") }, nil},
		"joined Latin":       {func(v *rule.Violations) { v.Name("p", "in\u200dterns") }, []string{"p malformed"}},
		"joined to nothing":  {func(v *rule.Violations) { v.Name("p", "internés\u200d") }, []string{"p malformed"}},
		"joined twice":       {func(v *rule.Violations) { v.Name("p", "é\u200d\u200dé") }, []string{"p malformed"}},
		"no width":           {func(v *rule.Violations) { v.Name("p", "é\u200bé") }, []string{"p malformed"}},
		"soft hyphen":        {func(v *rule.Violations) { v.Name("p", "in\u00adterns") }, []string{"p malformed"}},
		"byte order mark":    {func(v *rule.Violations) { v.Text("p", "\ufeffa", 9) }, []string{"p malformed"}},
		"tags":               {func(v *rule.Violations) { v.Text("p", "a\U000e0041", 9) }, []string{"p malformed"}},
		"nothing that shows": {func(v *rule.Violations) { v.Name("p", "\u200b\u2060") }, []string{"p malformed"}},
		"a filler":           {func(v *rule.Violations) { v.Name("p", "\u3164") }, []string{"p malformed"}},
		"no dots":            {func(v *rule.Violations) { v.Name("p", "\u2800\ufe0f") }, []string{"p malformed"}},
		"broken UTF-8":       {func(v *rule.Violations) { v.Text("p", "\xff", 9) }, []string{"p malformed"}},
		"no expiry":          {func(v *rule.Violations) { v.Future("p", nil, now) }, nil},
		"future":             {func(v *rule.Violations) { v.Future("p", &later, now) }, nil},
		"now":                {func(v *rule.Violations) { v.Future("p", &now, now) }, []string{"p in_the_past"}},
		"edges":              {func(v *rule.Violations) { v.Between("p", 1, 1, 2); v.Between("p", 2, 1, 2) }, nil},
		"beyond the edges":   {func(v *rule.Violations) { v.Between("p", 0, 1, 2); v.Between("q", 3, 1, 2) }, []string{"p out_of_range", "q out_of_range"}},
		"list":               {func(v *rule.Violations) { v.Strings("p", []string{"a", "b"}, 2, 1, known) }, nil},
		"bad list": {
			func(v *rule.Violations) { v.Strings("p", []string{"a", "", "a", "x", "long"}, 9, 3, known) },
			[]string{"p[1] required", "p[2] duplicate", "p[3] not_allowed", "p[4] too_long"},
		},
		"models": {func(v *rule.Violations) { v.Models("p", []string{"openai/gpt-5", "openai/*", "*"}, 3, 20) }, nil},
		"bad models": {
			func(v *rule.Violations) {
				v.Models("p", []string{"a b", "openai/gpt-5", "a,b", "", "openai/gpt-5"}, 9, 20)
			},
			[]string{"p[0] not_allowed", "p[2] not_allowed", "p[3] required", "p[4] duplicate"},
		},
		"stars": {func(v *rule.Violations) {
			v.Models("p", []string{"a*b*c*d*e*f*g*h*", strings.Repeat("*", 99) + "/b" + strings.Repeat("*", 99)}, 2, 200)
		}, nil},
		"many stars": {
			func(v *rule.Violations) {
				v.Models("p", []string{"*", "*a*b*c*d*e*f*g*h*", "a b*1*2*3*4*5*6*7*8*9"}, 3, 200)
			},
			[]string{"p[1] too_long", "p[2] not_allowed", "p[2] too_long"},
		},
		"long list": {func(v *rule.Violations) { v.Strings("p", []string{"", ""}, 1, 1, nil) }, []string{"p too_long"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, codes(c.check)) })
	}
}

func TestModelPattern(t *testing.T) {
	for _, good := range []string{"openai/gpt-5", "openai/*", "*:free", "@preset", "a/b:1.0"} {
		require.True(t, rule.ModelPattern(good), good)
	}
	for _, bad := range []string{"a b", "a,b", "a\n", `a"`, "ä", "a;b", `a\b`} {
		require.False(t, rule.ModelPattern(bad), bad)
	}
}

func TestARefusalNamesSomeUsesAndCountsTheRest(t *testing.T) {
	refused := func(more int, what ...string) *fault.Error {
		var uses rule.Uses
		for _, w := range what {
			uses.Add("keys", w)
		}
		return fault.Of(uses.Refuse("The thing", "binds", "Take it off.", more))
	}
	require.Equal(t, "The thing binds a. Take it off.", refused(0, "a").Message)
	require.Equal(t, "The thing binds a, b, c. Take it off.", refused(0, "a", "b", "c").Message)
	require.Equal(t, "The thing binds a, b, c and 3 more. Take it off.", refused(2, "a", "b", "c", "d").Message)
	e := refused(2, "a", "b", "c", "d")
	require.Equal(t, fault.Conflict, e.Code)
	require.Len(t, e.Violations, 4, "all of them")
	require.Equal(t, fault.Violation{Path: "keys", Code: rule.InUse, Message: "binds d"}, e.Violations[3])
}
