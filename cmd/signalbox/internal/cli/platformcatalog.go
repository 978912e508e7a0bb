package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) catalogGet() *cobra.Command {
	c := &cobra.Command{
		Use: "get", Short: "Show the operator's catalog, and what is wrong with it", Args: cobra.NoArgs,
		Long: "Show the operator's catalog, and what is wrong with it. With --file only its entries are shown,\nas YAML that apply takes; keys are never shown, and apply keeps them.",
	}
	version := c.Flags().Int64("version", 0, "an earlier version")
	file := c.Flags().Bool("file", false, "show what apply takes")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		params := &client.GetPlatformCatalogParams{}
		if *version > 0 {
			params.Version = version
		}
		r, err := api.GetPlatformCatalogWithResponse(c.Context(), params)
		if err := done(r, err); err != nil {
			return err
		}
		d := r.JSON200.Data
		if *file {
			body, err := json.Marshal(map[string]any{"providers": d.Providers, "models": d.Models})
			if err != nil {
				return fmt.Errorf("encode: %w", err)
			}
			return writeYAML(a.Stdout, body)
		}
		return a.show(r, func(t *table) { catalogTable(t, d) })
	}
	return c
}

func catalogTable(t *table, d client.PlatformCatalog) {
	t.row("VERSION", d.Version)
	t.row("CHANGED", d.ChangedAt)
	if d.CatalogRevision != nil {
		t.row("CATALOG REVISION", *d.CatalogRevision)
	}
	t.row("PUBLISHED", d.PublishedAt)
	for _, e := range d.Providers {
		t.row("PROVIDER", nameIn(e, "slug"))
	}
	for _, e := range d.Models {
		t.row("MODEL", nameIn(e, "id"))
	}
	for _, p := range d.Problems {
		t.row("PROBLEM", p.Path+": "+p.Message)
	}
}

func nameIn(entry json.RawMessage, member string) string {
	var e map[string]any
	if json.Unmarshal(entry, &e) != nil {
		return ""
	}
	name, _ := e[member].(string)
	return name
}

// catalogApply is apply, and diff, which is apply that changes nothing.
func (a *app) catalogApply(dry bool) *cobra.Command {
	c := &cobra.Command{
		Use: "apply", Short: "Make a file the whole of the operator's catalog", Args: cobra.NoArgs,
		Long: `Make a file the whole of the operator's catalog. It has the form of a catalog file (catalog.yaml), in YAML or JSON.
An api_key is written as ${NAME} of an environment variable of this command; a provider without one keeps the key that
it has, and null takes it away. What the file does not have is taken away: see it first with diff.`,
		Example: "  signalbox platform catalog diff -f overrides.yaml\n  signalbox platform catalog apply -f overrides.yaml --wait 10s",
	}
	if dry {
		c.Use, c.Short, c.Long, c.Example = "diff", "Show what apply would change", "", ""
	}
	file := fileFlag(c)
	var f *change
	if !dry {
		f = changeFlags(c)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		body, err := a.document(*file)
		if err != nil {
			return err
		}
		api, err := a.operator()
		if err != nil {
			return err
		}
		params := client.ReplacePlatformCatalogParams{DryRun: &dry}
		if f != nil {
			params.Wait, params.IdempotencyKey = f.waitFor(), f.key()
		}
		r, err := api.ReplacePlatformCatalogWithBodyWithResponse(c.Context(), &params, "application/json", bytes.NewReader(body))
		return a.changedCatalog(r, err)
	}
	return c
}

func (a *app) catalogRemove() *cobra.Command {
	c := &cobra.Command{
		Use: "rm provider SLUG | model ID | endpoint MODEL PROVIDER[@REGION]", Short: "Take an entry of the operator's catalog away", Args: cobra.RangeArgs(2, 3),
		Example: "  signalbox platform catalog rm provider north\n  signalbox platform catalog rm endpoint acme/small north@eu",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		wait, key, ctx := f.waitFor(), f.key(), c.Context()
		kind, name := args[0], args[1]
		if (kind == "endpoint") != (len(args) == 3) {
			return misuse("want provider SLUG, model ID, or endpoint MODEL PROVIDER")
		}
		author, model, err := modelParts(name)
		switch kind {
		case "provider":
			r, err := api.DeletePlatformProviderWithResponse(ctx, name, &client.DeletePlatformProviderParams{Wait: wait, IdempotencyKey: key})
			return a.changedCatalog(r, err)
		case "model":
			if err != nil {
				return err
			}
			r, err := api.DeletePlatformModelWithResponse(ctx, author, model, &client.DeletePlatformModelParams{Wait: wait, IdempotencyKey: key})
			return a.changedCatalog(r, err)
		case "endpoint":
			if err != nil {
				return err
			}
			r, err := api.DeletePlatformEndpointWithResponse(ctx, author, model, args[2], &client.DeletePlatformEndpointParams{Wait: wait, IdempotencyKey: key})
			return a.changedCatalog(r, err)
		}
		return misuse("want provider, model or endpoint")
	}
	return c
}

// changedCatalog shows the answer to every change of the operator's catalog.
func (a *app) changedCatalog(r answer, err error) error {
	if err := done(r, err); err != nil {
		return err
	}
	var body client.PlatformCatalogChange
	if err := json.Unmarshal(r.GetBody(), &body); err != nil {
		return fmt.Errorf("the server's answer is not readable: %w", err)
	}
	return a.show(r, func(t *table) {
		if len(body.Changes) == 0 {
			t.row("NOTHING CHANGES", fmt.Sprintf("version %d", body.Data.Version))
			return
		}
		t.row("FIELD", "BEFORE", "AFTER")
		for _, c := range body.Changes {
			t.row(c.Path, c.Before, c.After)
		}
		t.row("")
		t.row("VERSION", body.Publication.Version)
	})
}

func changedPaths(list []client.FieldChange) string {
	paths := make([]string, len(list))
	for i, c := range list {
		paths[i] = c.Path
	}
	return strings.Join(paths, ", ")
}

func modelParts(id string) (author, name string, err error) {
	author, name, ok := strings.Cut(id, "/")
	if !ok || author == "" || name == "" {
		return "", "", misuse("a model is written as author/model")
	}
	return author, name, nil
}

func fileFlag(c *cobra.Command) *string {
	file := c.Flags().StringP("file", "f", "", "YAML or JSON; - reads from standard input")
	must(c.MarkFlagRequired("file"))
	return file
}

// maxDocument is the most that a control plane takes of a catalog.
const maxDocument = 4 << 20

// document reads a file of YAML, or of JSON, which is YAML, and returns it as
// JSON with the API keys that it names filled in.
func (a *app) document(path string) (body []byte, err error) {
	defer func() { err = ofFile(path, err) }()
	text, err := a.input(path)
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocument {
		return nil, misuse("the file is larger than 4 MiB, the most that a control plane takes")
	}
	var doc yaml.Node
	if err := decodeOne(text, &doc); err != nil {
		return nil, err
	}
	value, ok := plain(&doc, 0)
	if !ok {
		return nil, misuse("the file has something that JSON cannot say, or a name twice in one place, or is nested too deeply")
	}
	if err := a.fillKeys(value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

const maxNesting = 32

// plain reads a node as what JSON can say. Decimals keep their digits, and
// dates their form.
func plain(n *yaml.Node, depth int) (value any, ok bool) {
	if depth > maxNesting {
		return nil, false
	}
	switch n.Kind {
	case 0:
		return map[string]any{}, true // an empty file
	case yaml.DocumentNode:
		return plain(n.Content[0], depth)
	case yaml.AliasNode:
		return plain(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			if list[i], ok = plain(c, depth+1); !ok {
				return nil, false
			}
		}
		return list, true
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if _, twice := object[name]; twice {
				return nil, false
			}
			if object[name], ok = plain(n.Content[i+1], depth+1); !ok {
				return nil, false
			}
		}
		return object, true
	default: // a scalar, below
	}
	switch {
	case n.Tag == "!!str" || n.Tag == "!!timestamp":
		return n.Value, true
	case (n.Tag == "!!float" || n.Tag == "!!int") && json.Valid([]byte(n.Value)):
		return json.Number(n.Value), true
	}
	return value, n.Decode(&value) == nil
}

var keyReference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// fillKeys puts the environment's values in place of ${NAME} in api_key.
func (a *app) fillKeys(value any) error {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if err := a.fillKeys(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range v {
			text, isText := item.(string)
			reference := keyReference.FindStringSubmatch(text)
			if name != "api_key" || !isText || reference == nil {
				if err := a.fillKeys(item); err != nil {
					return err
				}
				continue
			}
			if v[name] = a.Getenv(reference[1]); v[name] == "" {
				return misuse("the environment variable %s is not set", reference[1])
			}
		}
	}
	return nil
}
