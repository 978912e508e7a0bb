package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// guardrailTargets are the flags that say what to bind a guardrail to, or to
// take it off.
type guardrailTargets struct {
	workspace     bool
	keys, members []string
}

func (g *guardrailTargets) add(c *cobra.Command) {
	c.Flags().BoolVar(&g.workspace, "workspace", false, "every request of the workspace")
	c.Flags().StringSliceVar(&g.keys, "key", nil, "API keys, by their ids or names")
	c.Flags().StringSliceVar(&g.members, "member", nil, "members, by their user ids: every key that they created")
}

// check wants exactly one kind of them: each is a change of its own.
func (g *guardrailTargets) check() error {
	n := 0
	for _, given := range []bool{g.workspace, len(g.keys) > 0, len(g.members) > 0} {
		if given {
			n++
		}
	}
	if n != 1 {
		return misuse("give one of --workspace, --key and --member")
	}
	return nil
}

func (a *app) guardrailsBind() *cobra.Command {
	return a.guardrailsRebind(&cobra.Command{
		Use: "bind GUARDRAIL", Short: "Bind a guardrail to the workspace, members or keys", Args: cobra.ExactArgs(1),
		Example: "  signalbox guardrails bind interns --key ci --wait 5s",
	}, true)
}

func (a *app) guardrailsUnbind() *cobra.Command {
	return a.guardrailsRebind(&cobra.Command{
		Use: "unbind GUARDRAIL", Short: "Take a guardrail off the workspace, members or keys", Args: cobra.ExactArgs(1),
		Example: "  signalbox guardrails unbind interns --member user_…",
	}, false)
}

func (a *app) guardrailsRebind(c *cobra.Command, bind bool) *cobra.Command {
	var targets guardrailTargets
	targets.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := targets.check(); err != nil {
			return err
		}
		api, guardrail, err := a.found(c.Context(), guardrailID, args[0])
		if err != nil {
			return err
		}
		if targets.keys, err = foundAll(c.Context(), api, keyID, targets.keys); err != nil {
			return inFlags(err)
		}
		r, err := rebind(c.Context(), api, guardrail, targets, bind, f)
		if err := done(r, err); err != nil {
			return inFlags(err)
		}
		var after client.GuardrailChange
		if err := json.Unmarshal(r.GetBody(), &after); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return a.show(r, func(t *table) {
			// The change is made: where it is not allowed to look, what is said of it has to do.
			if now, err := api.GetGuardrailWithResponse(c.Context(), guardrail); done(now, err) == nil {
				boundTable(t, now.JSON200.Data)
				return
			}
			guardrailTable(t, after.Data)
		})
	}
	return c
}

// inFlags says what is wrong of the flags, which the API knows by other names.
func inFlags(err error) error {
	var no refusal
	var nothing notFound
	var usage usageError
	switch {
	case errors.As(err, &nothing):
		return notFound{nothing.what + " (--key)", nothing.name}
	case errors.As(err, &usage):
		return misuse("--key: %w", usage.cause)
	case !errors.As(err, &no):
		return err
	}
	words := strings.NewReplacer("key_ids", "--key", "user_ids", "--member")
	no.problem.Detail = words.Replace(no.problem.Detail)
	if no.problem.Violations != nil {
		told := slices.Clone(*no.problem.Violations)
		for i := range told {
			told[i].Path = words.Replace(told[i].Path)
		}
		no.problem.Violations = &told
	}
	if call, ok := errors.AsType[unanswered](err); ok {
		return unanswered{no, call.key}
	}
	return no
}

func rebind(ctx context.Context, api *client.ClientWithResponses, guardrail string, g guardrailTargets, bind bool, f *change) (answer, error) {
	wait, key := f.waitFor(), f.key()
	keys, members := client.GuardrailKeys{KeyIds: g.keys}, client.GuardrailMembers{UserIds: g.members}
	switch {
	case g.workspace:
		return api.UpdateGuardrailWithResponse(ctx, guardrail, &client.UpdateGuardrailParams{Wait: wait, IdempotencyKey: key}, client.GuardrailPatch{WholeWorkspace: &bind})
	case len(g.keys) > 0 && bind:
		return api.AddGuardrailKeysWithResponse(ctx, guardrail, &client.AddGuardrailKeysParams{Wait: wait, IdempotencyKey: key}, keys)
	case len(g.keys) > 0:
		return api.RemoveGuardrailKeysWithResponse(ctx, guardrail, &client.RemoveGuardrailKeysParams{Wait: wait, IdempotencyKey: key}, keys)
	case bind:
		return api.AddGuardrailMembersWithResponse(ctx, guardrail, &client.AddGuardrailMembersParams{Wait: wait, IdempotencyKey: key}, members)
	}
	return api.RemoveGuardrailMembersWithResponse(ctx, guardrail, &client.RemoveGuardrailMembersParams{Wait: wait, IdempotencyKey: key}, members)
}
