package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// keyring works on a file of this machine. Only status and drop speak to the
// control plane, as the operator.
func (a *app) keyring() *cobra.Command {
	return group("keyring", "Make and rotate the keyring that seals provider keys",
		a.keyringCreate(), a.keyringShow(), a.keyringStatus(),
		a.keyringAppend(), a.keyringPromote(),
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
		return a.showRing(ringOf(k))
	}
	return c
}

func (a *app) keyringShow() *cobra.Command {
	c := &cobra.Command{Use: "show", Short: "Show the ids of the keys, the oldest first, and which one seals", Args: cobra.NoArgs}
	file := keyringFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		k, err := seal.LoadFile(*file)
		if err != nil {
			return err
		}
		return a.showRing(ringOf(k))
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
	if len(k.Keys) == 1 && k.Droppable {
		t.row("DROPPABLE", "nothing to drop")
	} else {
		t.row("DROPPABLE", k.Droppable)
	}
	t.row("UNCONFIRMED WORKSPACES", k.UnconfirmedWorkspaces)
	t.row("GATEWAYS BEHIND", k.GatewaysBehind)
}

// keyringDrop asks the control plane first: what is lost by dropping a key too
// early cannot be had again.
func (a *app) keyringDrop() *cobra.Command {
	c := &cobra.Command{
		Use: "drop", Short: "Drop the keys older than the one that seals", Args: cobra.NoArgs,
		Long: `Drop the keys older than the one that seals; those that are appended and not promoted yet stay. The control plane is
asked first, with the operator token, and it is refused while anything that is stored or published was sealed by one
of them, which ends with 5 and the reason. What the older keys sealed cannot be opened any more: the ids of jobs and files that were made before the promotion are not found then.`,
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
		return a.rewrite(k, *file, (*seal.Keyring).Drop, "nothing to drop: no key is older than the one that seals")
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
		return wrongState{fmt.Sprintf("the control plane seals with key %d, and this file with %d: give it the file first", held.SealingKeyID, k.PrimaryID())}
	case lacking >= 0: // given to every process, this file would take that key from them
		return wrongState{fmt.Sprintf("the control plane has key %d, which this file lacks: use the file that it has", held.Keys[lacking].ID)}
	case !held.Droppable && k.PrimaryID() != k.IDs()[0]: // else nothing is dropped
		return wrongState{undroppable(held)}
	}
	return nil
}

// undroppable says what still needs an older key, each reason on its own line.
func undroppable(k client.PlatformKeyring) string {
	var reasons []string
	for _, key := range k.Keys {
		if sealed := key.WorkspaceKeys + key.PlatformKeys + key.PublishedKeys; sealed > 0 && (key.Role == client.Older || key.Role == client.Missing) {
			reasons = append(reasons, fmt.Sprintf("what key %d (%s) sealed is still in use: %d keys of workspaces, %d of the operator, %d published",
				key.ID, key.Role, key.WorkspaceKeys, key.PlatformKeys, key.PublishedKeys))
		}
	}
	if k.UnconfirmedWorkspaces > 0 {
		reasons = append(reasons, fmt.Sprintf("workspaces unconfirmed: %d, which were sealed anew and which some gateway may not have yet", k.UnconfirmedWorkspaces))
	}
	if k.GatewaysBehind > 0 {
		reasons = append(reasons, fmt.Sprintf("gateways behind: %d, with an older catalog or without what was sealed anew", k.GatewaysBehind))
	}
	if len(reasons) == 0 {
		reasons = append(reasons, "the control plane does not allow it yet")
	}
	return "the older keys cannot be dropped yet:\n  " + strings.Join(reasons, "\n  ") + "\nsee signalbox keyring status"
}

func (a *app) keyringAppend() *cobra.Command {
	return a.keyringChange("append", "Add a fresh key, which opens but does not seal yet",
		`Add a fresh key, which opens but does not seal yet. To rotate: append, give the file to every
process, then promote, and give it to every process again. They take it while they run.`, (*seal.Keyring).Append, "")
}

func (a *app) keyringPromote() *cobra.Command {
	return a.keyringChange("promote", "Seal with the newest key from now on",
		`Seal with the newest key from now on. Every gateway must have the file with that key already, or
it cannot open what is sealed next. Older keys stay, and open what they sealed.`, (*seal.Keyring).Promote, "nothing changed: the newest key seals already")
}

func (a *app) keyringChange(use, short, long string, change func(*seal.Keyring) (*seal.Keyring, error), idle string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs}
	file := keyringFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		k, err := seal.LoadFile(*file)
		if err != nil {
			return err
		}
		return a.rewrite(k, *file, change, idle)
	}
	return c
}

// rewrite changes a file and tells which keys came and went. A change that comes
// to nothing leaves the file alone, and idle says why it did.
func (a *app) rewrite(k *seal.Keyring, file string, change func(*seal.Keyring) (*seal.Keyring, error), idle string) error {
	changed, err := change(k)
	if err != nil {
		return err
	}
	shown := ringOf(changed)
	if changed.Equal(k) {
		shown.Note = idle
		return a.showRing(shown)
	}
	if err := changed.WriteFile(file); err != nil {
		return err
	}
	shown.Fresh, shown.Dropped = without(changed.IDs(), k.IDs()), without(k.IDs(), changed.IDs())
	return a.showRing(shown)
}

func without(ids, others []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(ids), func(id uint32) bool { return slices.Contains(others, id) })
}

func keyringFlag(c *cobra.Command) *string {
	file := c.Flags().String("file", "", "the keyring's file")
	must(c.MarkFlagRequired("file"))
	return file
}

// ring is what is no secret about a keyring.
type ring struct {
	Keys    int         `json:"keys"`
	Sealing uint32      `json:"sealing_key_id"`
	List    []keyOfRing `json:"key_list"`
	Fresh   []uint32    `json:"new_key_ids,omitempty"`
	Dropped []uint32    `json:"dropped_key_ids,omitempty"`
	Note    string      `json:"note,omitempty"`
}

type keyOfRing struct {
	ID   uint32                        `json:"id"`
	Role client.PlatformKeyringKeyRole `json:"role"`
}

// ringOf lists the keys as the control plane does, the oldest first.
func ringOf(k *seal.Keyring) ring {
	shown := ring{Keys: k.Keys(), Sealing: k.PrimaryID()}
	role := client.Older
	for _, id := range k.IDs() {
		if id == shown.Sealing {
			shown.List = append(shown.List, keyOfRing{id, client.Sealing})
			role = client.Newer
			continue
		}
		shown.List = append(shown.List, keyOfRing{id, role})
	}
	return shown
}

func (a *app) showRing(r ring) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return a.showBody(body, func(t *table) {
		t.row("KEYS", r.Keys)
		t.row("SEALING KEY ID", r.Sealing)
		for _, key := range r.List {
			t.row("KEY", key.ID, key.Role)
		}
		for _, id := range r.Fresh {
			t.row("NEW KEY ID", id)
		}
		for _, id := range r.Dropped {
			t.row("DROPPED", id)
		}
		if r.Note != "" {
			t.row("NOTE", r.Note)
		}
	})
}
