package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) byokVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify NAME|CREDENTIAL_ID", Short: "Ask the provider whether a key works", Args: cobra.ExactArgs(1),
		Long: `Ask the provider whether a key works: a gateway makes one real call with it, the cheapest that shows it. A
disabled key can be verified too; one key every ten seconds. Ends with 0 for a valid key and with 1 for any other outcome.`,
		RunE: func(c *cobra.Command, args []string) error {
			api, credential, err := a.found(c.Context(), providerKeyID, args[0])
			if err != nil {
				return err
			}
			r, err := api.VerifyByokCredentialWithResponse(c.Context(), credential, nil)
			if err := done(r, err); err != nil {
				return err
			}
			if err := a.show(r, func(t *table) { byokTable(t, r.JSON200.Data) }); err != nil {
				return err
			}
			if v := r.JSON200.Data.Verification; v != nil && v.Status != client.ByokValid {
				return errorOf(*v)
			}
			return nil
		},
	}
}

// outcomes say what a verification found, in a sentence.
var outcomes = map[client.ByokVerificationStatus]string{
	client.ByokInvalid:      "the provider refuses the key",
	client.ByokForbidden:    "the provider knows the key, which may not do this",
	client.ByokNoCredit:     "the account behind the key cannot be charged",
	client.ByokRateLimited:  "the provider limits the key at the moment, so nothing is known of it",
	client.ByokUnreachable:  "the provider gave no answer in time, so nothing is known of the key",
	client.ByokInconclusive: "the provider's answer says nothing of the key",
}

func errorOf(v client.ByokVerification) error {
	what, ok := outcomes[v.Status]
	if !ok {
		what = "the outcome is " + clean(string(v.Status))
	}
	if v.HTTPStatus != nil {
		return fmt.Errorf("%s (it answered with status %d)", what, *v.HTTPStatus)
	}
	return fmt.Errorf("%s", what)
}

func verdict(c client.ByokCredential) string {
	if c.Verification == nil {
		return "never"
	}
	return string(c.Verification.Status)
}

func verificationRows(t *table, v *client.ByokVerification) {
	if v == nil {
		t.row("VERIFIED", "never")
		return
	}
	t.row("VERIFIED", v.Status)
	t.row("VERIFIED AT", v.CheckedAt)
	called := string(v.Call)
	if v.Model != nil {
		called += " of " + *v.Model
	}
	t.row("CALLED", called)
	if v.HTTPStatus != nil {
		t.row("HTTP STATUS", *v.HTTPStatus)
	}
	t.row("LATENCY", fmt.Sprintf("%d ms", v.LatencyMs))
}
