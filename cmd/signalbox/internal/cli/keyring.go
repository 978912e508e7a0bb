package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// keyring works on a file of this machine and speaks to nobody.
func (a *app) keyring() *cobra.Command {
	return group("keyring", "Make and rotate the keyring that seals provider keys",
		a.keyringCreate(), a.keyringShow(),
		a.keyringChange("append", "Add a fresh key, which opens but does not seal yet",
			`Add a fresh key, which opens but does not seal yet. To rotate: append, give the file to every
process and restart them, then promote, and restart the control planes.`, (*seal.Keyring).Append),
		a.keyringChange("promote", "Seal with the newest key from now on",
			`Seal with the newest key from now on. Every gateway must have the file with that key already, or
it cannot open what is sealed next. Older keys stay, and open what they sealed.`, (*seal.Keyring).Promote),
		a.keyringChange("drop", "Keep the key that seals and drop the older ones",
			`Keep the key that seals and drop the older ones. First wait until every control plane, restarted after
the promotion, has logged that no provider key is sealed by an older key. What the older keys sealed cannot be opened
any more: the ids of jobs and files that were made before the promotion are not found then.`, (*seal.Keyring).Drop))
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

func (a *app) keyringChange(use, short, long string, change func(*seal.Keyring) (*seal.Keyring, error)) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs}
	file := keyringFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		k, err := seal.LoadFile(*file)
		if err != nil {
			return err
		}
		if k, err = change(k); err != nil {
			return err
		}
		if err := k.WriteFile(*file); err != nil {
			return err
		}
		return a.showKeyring(k)
	}
	return c
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
