package cli

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// autoKinds are the fields of client.AutoRoutingPatch.
var autoKinds = map[string]settingKind{
	"objective":       textSetting,
	"spend_profile":   textSetting,
	"prices":          pricesSetting,
	"models":          listSetting,
	"allow_fallbacks": boolSetting,
}

func (a *app) auto() *cobra.Command {
	return group("auto", "Show and change how signalbox/auto chooses for the workspace", a.autoGet(), a.autoSet())
}

func (a *app) autoGet() *cobra.Command {
	return &cobra.Command{
		Use: "get", Short: "Show how signalbox/auto chooses", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.GetAutoRoutingWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { settingsTable(t, r.GetBody()) })
		},
	}
}

func (a *app) autoSet() *cobra.Command {
	c := &cobra.Command{
		Use: "set NAME=VALUE…", Short: "Change how signalbox/auto chooses, several settings at once",
		Example: "  signalbox auto set objective=cost models=openai/*,anthropic/*\n  signalbox auto set spend_profile=custom prices=0.25,2",
		Args:    cobra.MinimumNArgs(1),
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		body, err := patchBody(autoKinds, "objective=cost", args)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.UpdateAutoRoutingWithBodyWithResponse(c.Context(),
			&client.UpdateAutoRoutingParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, "application/json", bytes.NewReader(body))
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { settingsTable(t, r.GetBody()) })
	}
	return c
}
