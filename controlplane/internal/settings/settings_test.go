package settings

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// A patch can change every setting, changes nothing else, and each change
// shows in the audit diff.
func TestAPatchReachesEverySetting(t *testing.T) {
	base := fill.Value[Settings](2) // every bool false
	all := fill.Value[Patch](1)
	fields := reflect.TypeFor[policy.Settings]().NumField() + 1 // and the profile
	require.Equal(t, fields, reflect.TypeFor[Patch]().NumField())
	changed := all.apply(base)
	require.Len(t, diff(base, changed), fields)
	require.Equal(t, base, Patch{}.apply(base))
	require.Empty(t, diff(base, base))

	for f := range reflect.TypeFor[Patch]().Fields() {
		one := Patch{}
		reflect.ValueOf(&one).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(all).FieldByIndex(f.Index))
		got := one.apply(base)
		require.Len(t, diff(base, got), 1, f.Name)
		want := reflect.ValueOf(all).FieldByIndex(f.Index).Elem().Interface()
		require.Equal(t, want, reflect.ValueOf(got).FieldByName(f.Name).Interface(), "the field of the same name")
	}
}

func TestDefaultsAreValid(t *testing.T) {
	require.NoError(t, names{}.check(policy.DefaultSettings()))
}

func TestEdges(t *testing.T) {
	cases := map[string]struct {
		edit func(*policy.Settings)
		path string // "" when valid
	}{
		"most attempts":      {func(s *policy.Settings) { s.MaxAttempts = 20 }, ""},
		"too many attempts":  {func(s *policy.Settings) { s.MaxAttempts = 21 }, "max_attempts"},
		"most models":        {func(s *policy.Settings) { s.MaxModels = 34 }, ""},
		"no models":          {func(s *policy.Settings) { s.MaxModels = 0 }, "max_models"},
		"longest retention":  {func(s *policy.Settings) { s.LogRetentionDays = 3650 }, ""},
		"no retention":       {func(s *policy.Settings) { s.LogRetentionDays = 0 }, "log_retention_days"},
		"alpha with beta":    {func(s *policy.Settings) { s.AlphaChannel, s.BetaChannel = true, true }, ""},
		"alpha without beta": {func(s *policy.Settings) { s.AlphaChannel = true }, "alpha_channel"},
		"nine fallbacks": {
			func(s *policy.Settings) { s.FallbackModels = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} }, "fallback_models",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := policy.DefaultSettings()
			c.edit(&s)
			err := names{}.check(s)
			if c.path == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, fault.Is(err, fault.ValidationError))
			require.Equal(t, c.path, fault.Of(err).Violations[0].Path)
		})
	}
}
