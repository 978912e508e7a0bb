package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// versionNumber reads the argument that names a version.
func versionNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, misuse("want the number of a version, from 1, as the command versions shows it")
	}
	return n, nil
}

// wantedPreset is the version of a preset that an argument gives, or the latest.
func wantedPreset(ctx context.Context, api *client.ClientWithResponses, preset string, args []string) (int, error) {
	if len(args) > 0 && args[0] != "latest" {
		return versionNumber(args[0])
	}
	r, err := api.GetPresetWithResponse(ctx, presetName(preset))
	if err := doneWithPreset(preset, r, err); err != nil {
		return 0, err
	}
	latest, err := r.JSON200.Data.LatestVersion.Get()
	if err != nil {
		return 0, misuse("the preset has no version: publish its draft")
	}
	return latest, nil
}

func (a *app) presetsPublish() *cobra.Command {
	c := &cobra.Command{
		Use: "publish PRESET", Short: "Publish a preset's draft as its next version", Args: cobra.ExactArgs(1),
		Example: "  signalbox presets publish support --notes 'Answers in one paragraph' --deploy --wait 5s",
	}
	label := c.Flags().String("label", "", "the version's label, with versioning semver")
	notes := c.Flags().String("notes", "", "release notes")
	deploy := c.Flags().Bool("deploy", false, "deploy it at once")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.PublishPresetWithResponse(c.Context(), presetName(args[0]), &client.PublishPresetParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.PresetRelease{VersionLabel: optional(*label), ReleaseNotes: optional(*notes), Deploy: deploy})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { versionTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) presetsVersions() *cobra.Command {
	c := &cobra.Command{Use: "versions PRESET [VERSION]", Short: "List a preset's versions, newest first, or show one", Args: cobra.RangeArgs(1, 2)}
	limit, file := limitFlag(c), saveFlag(c, "the configuration of VERSION alone")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *file != "" && len(args) < 2 {
			return misuse("name the version to write, or latest")
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		if len(args) > 1 {
			n, err := wantedPreset(c.Context(), api, args[0], args[1:])
			if err != nil {
				return err
			}
			r, err := api.GetPresetVersionWithResponse(c.Context(), presetName(args[0]), n)
			if err := done(r, err); err != nil {
				return err
			}
			if *file != "" {
				return a.save(*file, map[string]client.PresetConfig{"config": r.JSON200.Data.Config})
			}
			return a.show(r, func(t *table) { versionTable(t, r.JSON200.Data) })
		}
		body, versions, err := pages[client.PresetVersion](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListPresetVersionsWithResponse(c.Context(), presetName(args[0]), &client.ListPresetVersionsParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("VERSION", "LABEL", "STATUS", "PUBLIC", "PUBLISHED", "NOTES")
			for _, v := range versions {
				t.row(v.Version, v.VersionLabel, string(v.Status), v.Public, v.PublishedAt, v.ReleaseNotes)
			}
		})
	}
	return c
}

func (a *app) presetsDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff PRESET VERSION OTHER", Short: "Show what another version of a preset has otherwise; either may be latest", Args: cobra.ExactArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			from, err := wantedPreset(c.Context(), api, args[0], args[1:2])
			if err != nil {
				return err
			}
			to, err := wantedPreset(c.Context(), api, args[0], args[2:])
			if err != nil {
				return err
			}
			r, err := api.ComparePresetVersionsWithResponse(c.Context(), presetName(args[0]), from, to)
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) {
				t.row("FIELD", fmt.Sprint("VERSION ", from), fmt.Sprint("VERSION ", to))
				for _, d := range r.JSON200.Data {
					t.row(d.Path, fieldCell(d.Before), fieldCell(d.After))
				}
			})
		},
	}
}

func (a *app) presetsDeploy() *cobra.Command {
	c := &cobra.Command{
		Use: "deploy PRESET [VERSION]", Short: "Make a version, the latest by default, what a preset's slug means", Args: cobra.RangeArgs(1, 2),
		Example: "  signalbox presets deploy support 3 --wait 5s",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		n, err := wantedPreset(c.Context(), api, args[0], args[1:])
		if err != nil {
			return err
		}
		r, err := api.DeployPresetVersionWithResponse(c.Context(), presetName(args[0]), n,
			&client.DeployPresetVersionParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { versionTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) presetsRollback() *cobra.Command {
	c := &cobra.Command{
		Use: "rollback PRESET", Short: "Deploy the version that the present deployment replaced", Args: cobra.ExactArgs(1),
		Long: "Deploy the version that the present deployment replaced. Repeated, it walks back.",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.RollBackPresetWithResponse(c.Context(), presetName(args[0]), &client.RollBackPresetParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { versionTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) presetsFork() *cobra.Command {
	var flags presetFlags
	var version int
	c := &cobra.Command{
		Use: "fork SOURCE SLUG", Short: "Make a preset of an exact version of another", Args: cobra.ExactArgs(2),
		Long:    "Make a preset whose draft is an exact version of another: the workspace's own by id or slug, or a public one as @handle/slug.",
		Example: "  signalbox presets fork @acme/support our-support --version 3",
	}
	flags.add(c)
	c.Flags().IntVar(&version, "version", 0, "the version; the deployed one without it")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		d := client.NewPreset{Slug: presetName(args[1])}
		if err := flags.over(c, &d); err != nil {
			return err
		}
		fork := client.PresetFork{From: args[0], Slug: d.Slug, Name: d.Name, Description: d.Description, Visibility: d.Visibility, Versioning: d.Versioning}
		set(version != 0, &fork.Version, version)
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.ForkPresetWithResponse(c.Context(), &client.ForkPresetParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, fork)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { presetTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) presetsUpstream() *cobra.Command {
	c := &cobra.Command{
		Use: "upstream PRESET [VERSION]", Short: "Take another version of what a fork is a fork of, as its draft", Args: cobra.RangeArgs(1, 2),
		Long: "Take another version of what a fork is a fork of, the deployed one if none is named. It becomes the whole draft.",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var body client.PresetUpstream
		if len(args) > 1 {
			n, err := versionNumber(args[1])
			if err != nil {
				return err
			}
			body.Version = &n
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.UpdatePresetUpstreamWithResponse(c.Context(), presetName(args[0]),
			&client.UpdatePresetUpstreamParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { presetTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) presetsPublisher() *cobra.Command {
	c := &cobra.Command{
		Use: "publisher [HANDLE]", Short: "Show or choose the handle of the workspace's public presets", Args: cobra.MaximumNArgs(1),
		Long: "Show or choose the handle under which the workspace's presets are public. Once one was, the handle stays.",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			r, err := api.GetPublisherWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { publisherTable(t, r.JSON200.Data) })
		}
		r, err := api.PutPublisherWithResponse(c.Context(), &client.PutPublisherParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.PublisherPut{Handle: args[0]})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { publisherTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func publisherTable(t *table, p client.Publisher) {
	handle, err := p.Handle.Get()
	if err != nil {
		handle = "–"
	}
	t.row("HANDLE", handle)
}
