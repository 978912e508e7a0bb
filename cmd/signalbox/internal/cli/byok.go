package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) byok() *cobra.Command {
	return group("byok", "Manage the workspace's own provider keys",
		a.byokCreate(), a.byokList(), a.byokGet(), a.byokUpdate(), a.byokOrder(), a.byokReorder(),
		a.byokVerify(), a.byokEnable(), a.byokDisable(), a.byokDelete())
}

// maxStdinKey is more than any provider key has.
const maxStdinKey = 64 << 10

// stdinKey reads a provider key from standard input, the only way to give one:
// an argument would be in the shell's history and in the list of processes.
func stdinKey(c *cobra.Command) (*string, error) {
	in := c.InOrStdin()
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return nil, misuse("--key-stdin reads the key from a file or a pipe, such as --key-stdin < key.txt: typed here, it would be shown")
		}
	}
	body, err := io.ReadAll(io.LimitReader(in, maxStdinKey+1))
	if err != nil {
		return nil, errors.New("the key could not be read from standard input")
	}
	key := string(bytes.TrimSpace(body))
	switch {
	case key == "":
		return nil, misuse("there is no key on standard input")
	case len(body) > maxStdinKey:
		return nil, misuse("what is on standard input is too long for a key")
	}
	return &key, nil
}

// byokScope are the flags that say when a provider key is used.
type byokScope struct {
	name, use       string
	models, apiKeys []string
	keyStdin        bool
}

func (s *byokScope) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.name, "name", "", "a name for people")
	c.Flags().StringVar(&s.use, "use", "", "priority: before the platform's credential; fallback: after it")
	c.Flags().StringSliceVar(&s.models, "models", nil, "model ids or patterns with * that it is used for; none: all")
	c.Flags().StringSliceVar(&s.apiKeys, "api-keys", nil, "names or ids of the API keys whose requests it serves; none: all")
	c.Flags().BoolVar(&s.keyStdin, "key-stdin", false, "read the provider's key from standard input")
}

func (a *app) byokCreate() *cobra.Command {
	var s byokScope
	c := &cobra.Command{
		Use: "create", Short: "Bring a provider key, read from standard input", Args: cobra.NoArgs,
		Example: "  signalbox byok create --provider openai --name ours --key-stdin < openai.key\n" +
			"  pass show anthropic | signalbox byok create --provider anthropic --name ours --use fallback --key-stdin",
	}
	provider := c.Flags().String("provider", "", "the provider's slug")
	disabled := c.Flags().Bool("disabled", false, "keep it without using it yet")
	s.flags(c)
	f := changeFlags(c)
	for _, required := range []string{"provider", "name", "key-stdin"} {
		must(c.MarkFlagRequired(required))
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !s.keyStdin {
			return misuse("the key is read from standard input: give --key-stdin")
		}
		key, err := stdinKey(c)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		if len(s.apiKeys) > 0 {
			if s.apiKeys, err = foundAll(c.Context(), api, keyID, s.apiKeys); err != nil {
				return err
			}
		}
		body := client.NewByokCredential{
			Provider: *provider, Name: s.name, Key: key, Use: (*client.ByokUse)(optional(s.use)), Models: given(s.models), APIKeys: given(s.apiKeys),
		}
		if *disabled {
			body.Enabled = new(bool)
		}
		r, err := api.CreateByokCredentialWithResponse(c.Context(), &client.CreateByokCredentialParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { byokTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) byokList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List provider keys, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	provider := c.Flags().String("provider", "", "only those of this provider")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body, found, err := pages[client.ByokCredential](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListByokCredentialsWithResponse(c.Context(), &client.ListByokCredentialsParams{
				Cursor: cursor, Limit: &size, Provider: optional(*provider),
			})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) { byokListTable(t, found) })
	}
	return c
}

func (a *app) byokGet() *cobra.Command {
	return getOne(a, "get NAME|CREDENTIAL_ID", "Show a provider key, without the key", providerKeyID, byokTable,
		func(ctx context.Context, api *client.ClientWithResponses, credential string) (answer, func() client.ByokCredential, error) {
			r, err := api.GetByokCredentialWithResponse(ctx, credential)
			return r, func() client.ByokCredential { return r.JSON200.Data }, err
		})
}

func (a *app) byokUpdate() *cobra.Command {
	var s byokScope
	c := &cobra.Command{Use: "update NAME|CREDENTIAL_ID", Short: "Rename a provider key, replace it, or change when it is used", Args: cobra.ExactArgs(1)}
	s.flags(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		body := client.ByokCredentialPatch{
			Name: optional(s.name), Use: (*client.ByokUse)(optional(s.use)), Models: given(s.models), APIKeys: given(s.apiKeys),
		}
		if s.keyStdin {
			key, err := stdinKey(c)
			if err != nil {
				return err
			}
			body.Key = key
		}
		if body == (client.ByokCredentialPatch{}) {
			return misuse("nothing to change: give --name, --use, --models, --api-keys or --key-stdin")
		}
		api, credential, err := a.found(c.Context(), providerKeyID, args[0])
		if err != nil {
			return err
		}
		if len(s.apiKeys) > 0 {
			if *body.APIKeys, err = foundAll(c.Context(), api, keyID, s.apiKeys); err != nil {
				return err
			}
		}
		r, err := api.UpdateByokCredentialWithResponse(c.Context(), credential, &client.UpdateByokCredentialParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { byokTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) byokOrder() *cobra.Command {
	c := &cobra.Command{Use: "order", Short: "List a provider's keys in the order in which they are tried", Args: cobra.NoArgs}
	provider, use := groupFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.GetByokOrderWithResponse(c.Context(), &client.GetByokOrderParams{Provider: *provider, Use: (*client.ByokUse)(use)})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { byokListTable(t, r.JSON200.Data) })
	}
	return c
}

// groupFlags name the keys of one provider and use.
func groupFlags(c *cobra.Command) (provider, use *string) {
	provider = c.Flags().String("provider", "", "the provider's slug")
	use = c.Flags().String("use", "priority", "which of its keys: priority or fallback")
	must(c.MarkFlagRequired("provider"))
	return provider, use
}

func (a *app) byokReorder() *cobra.Command {
	c := &cobra.Command{
		Use: "reorder NAME|CREDENTIAL_ID…", Short: "Have a provider's keys tried in this order", Args: cobra.MinimumNArgs(1),
		Long: "Have a provider's keys tried in this order. All that the provider has of the use must be named.",
	}
	provider, use := groupFlags(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		credentials, err := foundAll(c.Context(), api, providerKeyID, args)
		if err != nil {
			return err
		}
		r, err := api.ReorderByokCredentialsWithResponse(c.Context(),
			&client.ReorderByokCredentialsParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.ByokOrder{Provider: *provider, Use: client.ByokUse(*use), Credentials: credentials})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { byokListTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) byokEnable() *cobra.Command {
	return changeOne(a, "enable NAME|CREDENTIAL_ID", "Use a provider key again", providerKeyID, byokTable,
		func(ctx context.Context, api *client.ClientWithResponses, credential string, f *change) (answer, func() client.ByokCredential, error) {
			r, err := api.EnableByokCredentialWithResponse(ctx, credential, &client.EnableByokCredentialParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.ByokCredential { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func (a *app) byokDisable() *cobra.Command {
	return changeOne(a, "disable NAME|CREDENTIAL_ID", "Keep a provider key and take it from all gateways", providerKeyID, byokTable,
		func(ctx context.Context, api *client.ClientWithResponses, credential string, f *change) (answer, func() client.ByokCredential, error) {
			r, err := api.DisableByokCredentialWithResponse(ctx, credential, &client.DisableByokCredentialParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.ByokCredential { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func (a *app) byokDelete() *cobra.Command {
	return changeOne(a, "delete NAME|CREDENTIAL_ID", "Delete a provider key, its sealed form included", providerKeyID, deletedTable,
		func(ctx context.Context, api *client.ClientWithResponses, credential string, f *change) (answer, func() client.Deleted, error) {
			r, err := api.DeleteByokCredentialWithResponse(ctx, credential, &client.DeleteByokCredentialParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.Deleted { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func byokListTable(t *table, list []client.ByokCredential) {
	t.row("ID", "PROVIDER", "NAME", "KEY", "USE", "POSITION", "ENABLED", "VERIFIED", "MODELS", "API KEYS")
	for _, c := range list {
		t.row(c.ID, c.Provider, c.Name, shown(c), c.Use, c.Position, c.Enabled, verdict(c), c.Models, c.APIKeys)
	}
}

func byokTable(t *table, c client.ByokCredential) {
	t.row("ID", c.ID)
	t.row("PROVIDER", c.Provider)
	t.row("NAME", c.Name)
	t.row("KEY", shown(c))
	t.row("USE", c.Use)
	t.row("POSITION", c.Position)
	t.row("ENABLED", c.Enabled)
	t.row("MODELS", c.Models)
	t.row("API KEYS", c.APIKeys)
	verificationRows(t, c.Verification)
	t.row("CREATED BY", c.CreatedBy)
	t.row("CREATED", c.CreatedAt)
}

// shown is as much of a key as there is to tell it by.
func shown(c client.ByokCredential) string { return c.Prefix + "…" + c.Suffix }

// given is nil for a list whose flag was not given.
func given(list []string) *[]string {
	if list == nil {
		return nil
	}
	return &list
}
