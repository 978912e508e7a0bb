package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// settingKind says how a setting's text is read.
type settingKind int

const (
	textSetting settingKind = iota
	nullableSetting
	listSetting
	boolSetting
	intSetting
	pricesSetting // INPUT,OUTPUT
)

// settingKinds are the settings of client.SettingsPatch.
var settingKinds = map[string]settingKind{
	"routing_mode":                textSetting,
	"default_model":               nullableSetting,
	"fallback_models":             listSetting,
	"beta_channel":                boolSetting,
	"alpha_channel":               boolSetting,
	"byok_fallback_enabled":       boolSetting,
	"retired_model_routing":       boolSetting,
	"models_without_model":        textSetting,
	"max_attempts":                intSetting,
	"max_models":                  intSetting,
	"cache_aware_routing":         boolSetting,
	"replay_values":               boolSetting,
	"log_retention_days":          intSetting,
	"require_zero_data_retention": boolSetting,
	"deny_training":               boolSetting,
	"routing_profile_id":          nullableSetting,
}

func (a *app) settings() *cobra.Command {
	return group("settings", "Show and change the workspace's settings", a.settingsGet(), a.settingsSet())
}

func (a *app) settingsGet() *cobra.Command {
	return &cobra.Command{
		Use: "get", Short: "Show the settings", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.GetSettingsWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { settingsTable(t, r.GetBody()) })
		},
	}
}

func (a *app) settingsSet() *cobra.Command {
	c := &cobra.Command{
		Use: "set NAME=VALUE…", Short: "Change settings, several at once",
		Example: "  signalbox settings set routing_mode=price max_attempts=4\n  signalbox settings set fallback_models=openai/gpt-5,anthropic/claude-sonnet-4.5 default_model=null",
		Args:    cobra.MinimumNArgs(1),
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		body, err := patchBody(settingKinds, "routing_mode=price", args)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.UpdateSettingsWithBodyWithResponse(c.Context(),
			&client.UpdateSettingsParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, "application/json", bytes.NewReader(body))
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { settingsTable(t, r.GetBody()) })
	}
	return c
}

// patchBody reads NAME=VALUE pairs, of which example is one, as the JSON of a
// patch of settings of these kinds.
func patchBody(kinds map[string]settingKind, example string, pairs []string) ([]byte, error) {
	patch := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		kind, known := kinds[name]
		switch {
		case !ok:
			return nil, misuse("want NAME=VALUE, such as %s", example)
		case !known:
			return nil, misuse("there is no setting %s; the settings are %s", clean(name), strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		if _, twice := patch[name]; twice {
			return nil, misuse("%s is given twice", name)
		}
		v, err := settingValue(name, kind, text)
		if err != nil {
			return nil, err
		}
		patch[name] = v
	}
	return json.Marshal(patch)
}

func settingValue(name string, kind settingKind, text string) (any, error) {
	switch kind {
	case nullableSetting:
		if text == "null" || text == "" {
			return nil, nil // null is the value
		}
	case listSetting:
		if text == "" || text == "null" {
			return []string{}, nil
		}
		return strings.Split(text, ","), nil
	case boolSetting:
		v, err := strconv.ParseBool(yesNo(text))
		if err != nil {
			return nil, misuse("%s must be true or false", name)
		}
		return v, nil
	case intSetting:
		v, err := strconv.Atoi(text)
		if err != nil {
			return nil, misuse("%s must be a whole number", name)
		}
		return v, nil
	case pricesSetting:
		input, output, ok := strings.Cut(text, ",")
		if !ok {
			return nil, misuse("%s must be two prices in USD per million tokens, INPUT,OUTPUT", name)
		}
		return map[string]string{"input": input, "output": output}, nil
	case textSetting:
	}
	return text, nil
}

// settingsTable shows the settings in the server's order of names.
func settingsTable(t *table, body []byte) {
	var answer struct {
		Data map[string]any `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(answer.Data)) {
		switch v := answer.Data[name].(type) {
		case nil:
			t.row(name, "–")
		case map[string]any: // of input and output, as they are set
			t.row(name, cell(v["input"])+","+cell(v["output"]))
		case []any:
			words := make([]string, len(v))
			for i, w := range v {
				words[i] = cell(w)
			}
			t.row(name, strings.Join(words, ","))
		default:
			t.row(name, v)
		}
	}
}

// yesNo reads a setting as the table shows it.
func yesNo(text string) string {
	switch text {
	case "yes":
		return "true"
	case "no":
		return "false"
	}
	return text
}
