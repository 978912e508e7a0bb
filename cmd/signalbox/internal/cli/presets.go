package cli

import (
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) presets() *cobra.Command {
	return group("presets", "Manage presets: drafts, versions, deployments, forks",
		a.presetsCreate(), a.presetsList(), a.presetsGet(), a.presetsUpdate(), a.presetsPublish(), a.presetsVersions(), a.presetsDiff(),
		a.presetsDeploy(), a.presetsRollback(), a.presetsFork(), a.presetsUpstream(), a.presetsArchive(), a.presetsPublisher())
}

// presetName is what the API finds a preset by: its id or its slug, which may
// be written as requests write it.
func presetName(text string) string { return strings.TrimPrefix(text, "@") }

// presetFlags are the flags that say what a preset is beside its configuration.
type presetFlags struct{ name, description, visibility, versioning string }

func (p *presetFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.name, "name", "", "a name for people")
	f.StringVar(&p.description, "description", "", "what it is for")
	f.StringVar(&p.visibility, "visibility", "", "who may use it: private, team or public")
	f.StringVar(&p.versioning, "versioning", "", "how versions are labeled: sequential, semver or date")
}

// over puts what the flags say over what a file says.
func (p *presetFlags) over(c *cobra.Command, d *client.NewPreset) error {
	given := c.Flags().Changed
	set(given("name"), &d.Name, p.name)
	set(given("description"), &d.Description, p.description)
	set(given("visibility"), &d.Visibility, client.PresetVisibility(p.visibility))
	set(given("versioning"), &d.Versioning, client.PresetVersioning(p.versioning))
	if err := oneOf("--visibility", p.visibility, "", "private", "team", "public"); err != nil {
		return err
	}
	return oneOf("--versioning", p.versioning, "", "sequential", "semver", "date")
}

func (a *app) presetsCreate() *cobra.Command {
	var flags presetFlags
	var file, label, notes string
	var publish bool
	c := &cobra.Command{
		Use: "create [SLUG]", Short: "Create a preset from a file", Args: cobra.MaximumNArgs(1),
		Long: `Create a preset from a file, whose form is docs/reference/preset.schema.json: slug, name, description, visibility,
versioning and config. The slug may be given as an argument. The configuration is the draft; --publish makes the first
version of it and deploys it.`,
		Example: "  signalbox presets create -f support.yaml --publish --wait 5s",
	}
	flags.add(c)
	c.Flags().StringVarP(&file, "file", "f", "", "a YAML or JSON file with the preset, or - for the standard input")
	c.Flags().BoolVar(&publish, "publish", false, "publish the first version and deploy it")
	c.Flags().StringVar(&label, "label", "", "the first version's label, with versioning semver")
	c.Flags().StringVar(&notes, "notes", "", "the first version's release notes")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := a.presetDocument(file, args)
		if err != nil {
			return err
		}
		if err := flags.over(c, &d); err != nil {
			return err
		}
		if d.Slug == "" {
			return misuse("give the preset's slug as an argument, or with slug: in the file")
		}
		set(c.Flags().Changed("publish"), &d.Publish, publish)
		set(label != "", &d.VersionLabel, label)
		set(notes != "", &d.ReleaseNotes, notes)
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.CreatePresetWithResponse(c.Context(), &client.CreatePresetParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, d)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { presetTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

// presetDocument reads a file, if there is one, and the slug of the arguments.
func (a *app) presetDocument(file string, args []string) (d client.NewPreset, err error) {
	if file != "" {
		if err := readDocument(a, file, "preset", &d); err != nil {
			return d, err
		}
	}
	if len(args) > 0 {
		d.Slug = presetName(args[0])
	}
	return d, nil
}

func (a *app) presetsList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List presets, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	visibility := c.Flags().String("visibility", "", "only those that are private, team or public")
	archived := c.Flags().Bool("archived", false, "archived ones too")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--visibility", *visibility, "", "private", "team", "public"); err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		params := client.ListPresetsParams{Archived: archived}
		set(*visibility != "", &params.Visibility, client.PresetVisibility(*visibility))
		body, presets, err := pages[client.Preset](*limit, func(cursor *string, size int) (answer, error) {
			params.Cursor, params.Limit = cursor, &size
			return api.ListPresetsWithResponse(c.Context(), &params)
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "MODEL", "NAME", "VISIBILITY", "DEPLOYED", "LATEST", "DRAFT", "UPDATED")
			for _, p := range presets {
				t.row(p.ID, p.CanonicalModel, p.Name, string(p.Visibility), versionCell(p.DeployedVersion), versionCell(p.LatestVersion), drafted(p), p.UpdatedAt)
			}
		})
	}
	return c
}

func (a *app) presetsGet() *cobra.Command {
	c := &cobra.Command{
		Use: "get PRESET", Short: "Show a preset with its draft, by id or slug", Args: cobra.ExactArgs(1),
		Long:    "Show a preset with its draft, by id or slug. --file writes the draft alone, to be edited and given to update -f.",
		Example: "  signalbox presets get support --file support.yaml",
	}
	file := saveFlag(c, "the draft alone")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.GetPresetWithResponse(c.Context(), presetName(args[0]))
		if err := doneWithPreset(args[0], r, err); err != nil {
			return err
		}
		if *file != "" {
			return a.save(*file, map[string]client.PresetConfig{"config": r.JSON200.Data.Config})
		}
		return a.show(r, func(t *table) { presetTable(t, r.JSON200.Data) })
	}
	return c
}

// doneWithPreset is done of a call that finds a preset alone: what it does not
// find is the preset that was named.
func doneWithPreset(name string, r answer, err error) error {
	err = done(r, err)
	var no refusal
	if errors.As(err, &no) && no.status == http.StatusNotFound {
		no.problem.Detail = "There is no preset with the name " + clean(name) + " in this workspace."
		return no
	}
	return err
}

func (a *app) presetsUpdate() *cobra.Command {
	var flags presetFlags
	var file string
	c := &cobra.Command{
		Use: "update PRESET", Short: "Change a preset's draft, or who may use it", Args: cobra.ExactArgs(1),
		Long: `Change a preset's draft, or who may use it. The config of a file becomes the whole draft; with --merge its fields
replace those of the draft. The visibility changes at once, the draft with its next publication.`,
		Example: "  signalbox presets update support -f support.yaml\n  signalbox presets update support --visibility public",
	}
	flags.add(c)
	c.Flags().StringVarP(&file, "file", "f", "", "a YAML or JSON file with the preset, or - for the standard input")
	merge := c.Flags().Bool("merge", false, "leave the fields of the draft that the file does not have")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := a.presetDocument(file, nil)
		if err != nil {
			return err
		}
		if err := flags.over(c, &d); err != nil {
			return err
		}
		if d.Publish != nil || d.VersionLabel != nil || d.ReleaseNotes != nil {
			return misuse("publish, version_label and release_notes are for a new preset: see presets publish")
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		before, err := api.GetPresetWithResponse(c.Context(), presetName(args[0]))
		if err := doneWithPreset(args[0], before, err); err != nil {
			return err
		}
		if d.Slug != "" && d.Slug != before.JSON200.Data.Slug {
			return misuse("the file is of the preset %s: a slug stays", clean(d.Slug))
		}
		patch := client.PresetPatch{Name: d.Name, Description: d.Description, Visibility: d.Visibility, Versioning: d.Versioning, Config: d.Config}
		set(d.Config != nil && !*merge, &patch.ReplaceConfig, true)
		seen := before.HTTPResponse.Header.Get("ETag")
		r, err := api.UpdatePresetWithResponse(c.Context(), before.JSON200.Data.ID,
			&client.UpdatePresetParams{Wait: f.waitFor(), IdempotencyKey: f.key(), IfMatch: &seen}, patch)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { presetTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) presetsArchive() *cobra.Command {
	c := &cobra.Command{
		Use: "archive PRESET", Short: "Have a preset answer no request any more", Args: cobra.ExactArgs(1),
		Long: "Have a preset answer no request any more. Its versions stay readable, and its slug is not given out again.",
	}
	confirm := c.Flags().String("confirm-name", "", "the preset's name, exactly")
	must(c.MarkFlagRequired("confirm-name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.ArchivePresetWithResponse(c.Context(), presetName(args[0]),
			&client.ArchivePresetParams{ConfirmName: *confirm, Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { presetTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}
