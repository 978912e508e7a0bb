package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// keyring works on a file of this machine. Only status and drop speak to the
// control plane, as the operator.
func (a *app) keyring() *cobra.Command {
	return group("keyring", "Make and rotate the keyring that seals provider keys",
		a.keyringCreate(), a.keyringShow(), a.keyringStatus(),
		a.keyringChange("append", "Add a fresh key, which opens but does not seal yet",
			`Add a fresh key, which opens but does not seal yet. To rotate: append, give the file to every
process, then promote, and give it to every process again. They take it while they run.`, (*seal.Keyring).Append),
		a.keyringChange("promote", "Seal with the newest key from now on",
			`Seal with the newest key from now on. Every gateway must have the file with that key already, or
it cannot open what is sealed next. Older keys stay, and open what they sealed.`, (*seal.Keyring).Promote),
		a.keyringDrop())
}

func (a *app) keyringCreate() *cobra.Command {
	c := &cobra.Command{
		Use: "create", Short: "Write a new keyring with one fresh key", Args: cobra.NoArgs,
		Long: "Write a new keyring with one fresh key to a file that only you can read. A file that is there is never replaced.",
	}
	out := c.Flags().String("out", "", "the file to write")
	must(c.MarkFlagRequired("out"))
	c.RunE = func(*cobra.Command, []string) error {
		k, err := seal.CreateFile(*out)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already, and what it sealed could not be opened without it", *out)
		}
		if err != nil {
			return err
		}
		return a.showKeyring(k)
	}
	return c
}

func (a *app) keyringShow() *cobra.Command {
	c := &cobra.Command{Use: "show", Short: "Show how many keys there are and which one seals", Args: cobra.NoArgs}
	file := keyringFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		k, err := seal.LoadFile(*file)
		if err != nil {
			return err
		}
		return a.showKeyring(k)
	}
	return c
}

func (a *app) keyringStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show which key of the running platform's keyring seals what", Args: cobra.NoArgs,
		Long: `Show which key of the running platform's keyring seals what, as the control plane that answers sees it. The older
keys can be dropped when DROPPABLE says yes.`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.operator()
			if err != nil {
				return err
			}
			r, err := api.GetPlatformKeyringWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { keyringTable(t, r.JSON200.Data) })
		},
	}
}

func keyringTable(t *table, k client.PlatformKeyring) {
	t.row("KEY", "ROLE", "WORKSPACES' KEYS", "OPERATOR'S KEYS", "PUBLISHED")
	for _, key := range k.Keys {
		t.row(key.ID, key.Role, key.WorkspaceKeys, key.PlatformKeys, key.PublishedKeys)
	}
	t.row("DROPPABLE", k.Droppable)
	t.row("UNCONFIRMED WORKSPACES", k.UnconfirmedWorkspaces)
	t.row("GATEWAYS BEHIND", k.GatewaysBehind)
}

// keyringDrop asks the control plane first: what is lost by dropping a key too
// early cannot be had again.
func (a *app) keyringDrop() *cobra.Command {
	c := &cobra.Command{
		Use: "drop", Short: "Drop the keys older than the one that seals", Args: cobra.NoArgs,
		Long: `Drop the keys older than the one that seals; those that are appended and not promoted yet stay. The control plane is asked first, with the operator token, and it is
refused while anything that is stored or published was sealed by one of them. What the older keys sealed cannot be opened any more:
the ids of jobs and files that were made before the promotion are not found then.`,
	}
	file := keyringFlag(c)
	unchecked := c.Flags().Bool("unchecked", false, "ask nobody; what is still sealed by an older key is lost")
	c.RunE = func(c *cobra.Command, _ []string) error {
		k, err := seal.LoadFile(*file)
		if err != nil {
			return err
		}
		if !*unchecked {
			if err := a.mayDrop(c.Context(), k); err != nil {
				return err
			}
		}
		return a.rewrite(k, *file, (*seal.Keyring).Drop)
	}
	return c
}

func (a *app) mayDrop(ctx context.Context, k *seal.Keyring) error {
	api, err := a.operator()
	if err != nil {
		return err
	}
	r, err := api.GetPlatformKeyringWithResponse(ctx)
	if err := done(r, err); err != nil {
		return err
	}
	held := r.JSON200.Data
	lacking := slices.IndexFunc(held.Keys, func(key client.PlatformKeyringKey) bool {
		return key.Role == client.Newer && !slices.Contains(k.IDs(), uint32(key.ID))
	})
	switch {
	case held.SealingKeyID != int64(k.PrimaryID()):
		return fmt.Errorf("the control plane seals with key %d, and this file with %d: give it the file first", held.SealingKeyID, k.PrimaryID())
	case lacking >= 0: // given to every process, this file would take that key from them
		return fmt.Errorf("the control plane has key %d, which this file lacks: use the file that it has", held.Keys[lacking].ID)
	case !held.Droppable:
		return errors.New("something is still sealed by an older key, or not in every gateway yet: see signalbox keyring status")
	}
	return nil
}

func (a *app) keyringChange(use, short, long string, change func(*seal.Keyring) (*seal.Keyring, error)) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs}
	file := keyringFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		k, err := seal.LoadFile(*file)
		if err != nil {
			return err
		}
		return a.rewrite(k, *file, change)
	}
	return c
}

func (a *app) rewrite(k *seal.Keyring, file string, change func(*seal.Keyring) (*seal.Keyring, error)) error {
	changed, err := change(k)
	if err != nil {
		return err
	}
	if err := changed.WriteFile(file); err != nil {
		return err
	}
	return a.showKeyring(changed)
}

func keyringFlag(c *cobra.Command) *string {
	file := c.Flags().String("file", "", "the keyring's file")
	must(c.MarkFlagRequired("file"))
	return file
}

// showKeyring shows what is no secret.
func (a *app) showKeyring(k *seal.Keyring) error {
	body, err := json.Marshal(map[string]any{"keys": k.Keys(), "sealing_key_id": k.PrimaryID()})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return a.showBody(body, func(t *table) {
		t.row("KEYS", k.Keys())
		t.row("SEALING KEY ID", k.PrimaryID())
	})
}
