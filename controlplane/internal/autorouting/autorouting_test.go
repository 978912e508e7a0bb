package autorouting

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// A patch can change every field but the version, changes nothing else, and
// each change shows in the audit diff.
func TestAPatchReachesEveryField(t *testing.T) {
	base := fill.Value[Config](2) // every bool false
	all := fill.Value[Patch](1)
	fields := reflect.TypeFor[policy.Auto]().NumField() - 1 // but the version
	require.Equal(t, fields, reflect.TypeFor[Patch]().NumField())
	changed := all.apply(base)
	require.Len(t, diff(base.Auto, changed.Auto), fields+1, "the prices are two")
	require.Equal(t, base, Patch{}.apply(base))
	require.Empty(t, diff(base.Auto, base.Auto))

	custom := policy.SpendCustom
	all.Spend = &custom // any other takes the prices away
	for f := range reflect.TypeFor[Patch]().Fields() {
		one := Patch{}
		reflect.ValueOf(&one).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(all).FieldByIndex(f.Index))
		want := base
		field, value := reflect.ValueOf(&want).Elem().FieldByName(f.Name), reflect.ValueOf(all).FieldByIndex(f.Index)
		if field.Kind() != reflect.Pointer {
			value = value.Elem()
		}
		field.Set(value)
		got := one.apply(base)
		require.Equal(t, want, got, "the field of the same name, and no other")
		require.NotEmpty(t, diff(base.Auto, got.Auto), f.Name)
	}
}

func TestPricesGoWithTheCustomProfile(t *testing.T) {
	base := Default()
	base.Spend, base.Prices = policy.SpendCustom, &policy.SpendLimit{Input: 1, Output: 2}
	premium, custom, quality := policy.SpendPremium, policy.SpendCustom, policy.ForQuality
	require.Nil(t, Patch{Spend: &premium}.apply(base).Prices)
	require.Equal(t, base.Prices, Patch{Spend: &custom}.apply(base).Prices)
	require.Equal(t, base.Prices, Patch{Objective: &quality}.apply(base).Prices)
}

func TestTheDefaultIsValid(t *testing.T) { require.NoError(t, validate(policy.DefaultAuto())) }

func TestEdges(t *testing.T) {
	patterns := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("acme/m%d", i)
		}
		return list
	}
	custom := func(l *policy.SpendLimit) func(*policy.Auto) {
		return func(a *policy.Auto) { a.Spend, a.Prices = policy.SpendCustom, l }
	}
	cases := map[string]struct {
		edit  func(*policy.Auto)
		paths []string // none when valid
	}{
		"free models only":         {custom(&policy.SpendLimit{}), nil},
		"the highest prices":       {custom(&policy.SpendLimit{Input: maxPrice, Output: maxPrice}), nil},
		"too high":                 {custom(&policy.SpendLimit{Input: maxPrice + 1, Output: maxPrice + 1}), []string{"prices.input", "prices.output"}},
		"negative":                 {custom(&policy.SpendLimit{Input: -1, Output: 1}), []string{"prices.input"}},
		"custom without prices":    {custom(nil), []string{"prices"}},
		"prices without custom":    {func(a *policy.Auto) { a.Prices = &policy.SpendLimit{} }, []string{"prices"}},
		"most patterns":            {func(a *policy.Auto) { a.Models = patterns(16) }, nil},
		"too many patterns":        {func(a *policy.Auto) { a.Models = patterns(17) }, []string{"models"}},
		"every kind of pattern":    {func(a *policy.Auto) { a.Models = []string{"acme/*", "small", "*:free"} }, nil},
		"too many stars":           {func(a *policy.Auto) { a.Models = []string{"*a*b*c*d*e*f*g*h*"} }, []string{"models[0]"}},
		"an empty pattern":         {func(a *policy.Auto) { a.Models = []string{""} }, []string{"models[0]"}},
		"the same pattern twice":   {func(a *policy.Auto) { a.Models = []string{"a/b", "a/b"} }, []string{"models[1]"}},
		"no pattern":               {func(a *policy.Auto) { a.Models = []string{"a b"} }, []string{"models[0]"}},
		"a long pattern":           {func(a *policy.Auto) { a.Models = []string{strings.Repeat("x", maxPattern+1)} }, []string{"models[0]"}},
		"an unknown objective":     {func(a *policy.Auto) { a.Objective = "speed" }, []string{"objective"}},
		"an unknown spend profile": {func(a *policy.Auto) { a.Spend = "lavish" }, []string{"spend_profile"}},
		"several at once": {
			func(a *policy.Auto) { *a = policy.Auto{Prices: &policy.SpendLimit{Output: -1}, Models: []string{"ä"}} },
			[]string{"objective", "spend_profile", "prices", "prices.output", "models[0]"},
		},
	}
	for _, objective := range policy.Objectives() {
		cases[string(objective)] = struct {
			edit  func(*policy.Auto)
			paths []string
		}{func(a *policy.Auto) { a.Objective = objective }, nil}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := policy.DefaultAuto()
			c.edit(&a)
			err := validate(a)
			if c.paths == nil {
				require.NoError(t, err)
				return
			}
			require.True(t, fault.Is(err, fault.ValidationError))
			var paths []string
			for _, v := range fault.Of(err).Violations {
				paths = append(paths, v.Path)
			}
			require.Equal(t, c.paths, paths)
		})
	}
}
