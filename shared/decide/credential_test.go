package decide_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestEveryCandidateSaysItsCredentials(t *testing.T) {
	w := newWorld()
	w.provider("south").Credential, w.provider("south").Keyless = nil, true
	plan := w.decide(t, decide.Facts{Model: "acme/small", Models: []string{"acme/big"}})
	require.Nil(t, plan.Refusal)
	got := map[string]decide.CredentialSource{}
	for _, step := range plan.Chain {
		for _, c := range step.Candidates {
			require.Len(t, c.Credentials, 1)
			require.True(t, c.Credentials[0].ID.IsZero())
			got[c.Endpoint.ID] = c.Credentials[0].Source
		}
	}
	require.Equal(t, map[string]decide.CredentialSource{
		"north:acme/small": decide.CredentialManaged, "south:acme/small": decide.CredentialNone,
		"east:acme/small": decide.CredentialManaged, "north:acme/big": decide.CredentialManaged,
	}, got)
}

var (
	key1 = id.MustParse[id.KeyKind]("key_00000000000000000000000001")
	key2 = id.MustParse[id.KeyKind]("key_00000000000000000000000002")
)

// own is a credential of the workspace's own, named by a number.
func own(n int, provider string, use policy.CredentialUse) policy.Credential {
	return policy.Credential{ID: credentialID(n), Provider: provider, Use: use, Sealed: []byte("sealed")}
}

func credentialID(n int) id.Credential {
	return id.MustParse[id.CredentialKind](fmt.Sprintf("byok_%026d", n))
}

// called is a plan as text: each candidate's provider with its credentials, m
// for the platform's, - for none.
func called(p decide.Plan) (list []string) {
	for _, step := range p.Chain {
		for _, c := range step.Candidates {
			text := c.Provider.Slug
			for _, u := range c.Credentials {
				switch u.Source {
				case decide.CredentialBYOK:
					text += " " + strings.TrimLeft(strings.TrimPrefix(u.ID.String(), "byok_"), "0")
				case decide.CredentialManaged:
					text += " m"
				default:
					text += " -"
				}
			}
			list = append(list, text)
		}
	}
	return list
}

// The plan over two providers, north and south, which are tried in that order.
func TestCredentialsPlan(t *testing.T) {
	first, second := own(1, "north", policy.UsePriority), own(2, "north", policy.UsePriority)
	last := own(3, "north", policy.UseFallback)
	scoped := func(c policy.Credential, models []string, keys ...id.Key) policy.Credential {
		c.Models, c.APIKeys = models, keys
		return c
	}
	for name, c := range map[string]struct {
		own     []policy.Credential
		off     bool // byok_fallback_enabled is
		keyless string
		unpaid  string // has no credential of the platform's
		cooling []int
		models  []string
		want    []string
	}{
		"none":                        {want: []string{"north m", "south m"}},
		"priority":                    {own: []policy.Credential{first, second}, want: []string{"north 1 2 m", "south m"}},
		"in the published order":      {own: []policy.Credential{second, first}, want: []string{"north 2 1 m", "south m"}},
		"fallback":                    {own: []policy.Credential{last}, want: []string{"north m 3", "south m"}},
		"both":                        {own: []policy.Credential{last, first}, want: []string{"north 1 m 3", "south m"}},
		"no managed one":              {own: []policy.Credential{first, last}, unpaid: "north", want: []string{"north 1 3", "south m"}},
		"fallback alone":              {own: []policy.Credential{last}, unpaid: "north", want: []string{"north 3", "south m"}},
		"keyless":                     {own: []policy.Credential{first}, keyless: "north", want: []string{"north -", "south m"}},
		"spared":                      {own: []policy.Credential{first, last}, off: true, want: []string{"north 1 3"}},
		"spared behind a fallback":    {own: []policy.Credential{last}, off: true, want: []string{"north m 3"}},
		"spared later":                {own: []policy.Credential{own(1, "south", policy.UsePriority)}, off: true, want: []string{"north m", "south 1"}},
		"spared, own elsewhere":       {own: []policy.Credential{first, own(4, "south", policy.UsePriority)}, off: true, want: []string{"north 1", "south 4"}},
		"spared, keyless elsewhere":   {own: []policy.Credential{first}, off: true, keyless: "south", want: []string{"north 1", "south -"}},
		"spared over the whole chain": {own: []policy.Credential{first}, off: true, models: []string{"zeta/small"}, want: []string{"north 1"}},
		"none applies, not spared":    {own: []policy.Credential{scoped(first, nil, key2)}, off: true, want: []string{"north m", "south m"}},
		"of the model":                {own: []policy.Credential{scoped(first, []string{"acme/*"})}, want: []string{"north 1 m", "south m"}},
		"of another model":            {own: []policy.Credential{scoped(first, []string{"zeta/*"})}, want: []string{"north m", "south m"}},
		"of the key":                  {own: []policy.Credential{scoped(first, nil, key2, key1)}, want: []string{"north 1 m", "south m"}},
		"of another key":              {own: []policy.Credential{scoped(first, nil, key2)}, want: []string{"north m", "south m"}},
		"of no key that there is":     {own: []policy.Credential{scoped(first, nil, id.Key{})}, want: []string{"north m", "south m"}},
		"another key, not managed":    {own: []policy.Credential{scoped(first, nil, key2)}, unpaid: "north", want: []string{"south m"}},
		"cooling":                     {own: []policy.Credential{first, second}, cooling: []int{1}, want: []string{"north 2 m 1", "south m"}},
		"all cooling":                 {own: []policy.Credential{first, second, last}, cooling: []int{1, 2, 3}, want: []string{"north m 1 2 3", "south m"}},
		"cooling and spared":          {own: []policy.Credential{first, second}, off: true, cooling: []int{1}, want: []string{"north 2 1"}},
		"of a provider that is not":   {own: []policy.Credential{own(1, "west", policy.UsePriority)}, want: []string{"north m", "south m"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.own, w.settings.BYOKFallback = c.own, !c.off
			if c.keyless != "" {
				w.provider(c.keyless).Credential, w.provider(c.keyless).Keyless = nil, true
			}
			if c.unpaid != "" {
				w.provider(c.unpaid).Credential = nil
			}
			for _, n := range c.cooling {
				w.cooling = append(w.cooling, credentialID(n))
			}
			plan := w.decide(t, decide.Facts{
				Now: now, Model: "acme/small", Models: c.models, Key: decide.KeyFacts{ID: key1},
				Provider: decide.Preferences{Order: []string{"north", "south"}, Ignore: []string{"east"}},
			})
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.want, called(plan))
			for i, candidate := range plan.Chain[0].Candidates {
				require.Equal(t, i, candidate.Rank)
			}
		})
	}
}

// An endpoint whose provider has no credential of the platform's needs one of
// the workspace's own; what is left out for a setting is recorded.
func TestOwnCredentialsOpenProviders(t *testing.T) {
	w := newWorld()
	for _, slug := range []string{"north", "south", "east"} {
		w.provider(slug).Credential = nil
	}
	facts := decide.Facts{Model: "acme/small", Key: decide.KeyFacts{ID: key1}}
	plan := w.decide(t, facts)
	require.NotNil(t, plan.Refusal)
	require.Equal(t, fault.Reason("no_credential"), plan.Refusal.Reason)

	w.own = []policy.Credential{own(1, "south", policy.UseFallback)}
	plan = w.decide(t, facts)
	require.Equal(t, []string{"south 1"}, called(plan))
	require.Equal(t, w.own[0], plan.Chain[0].Candidates[0].Credentials[0].Own.Credential)

	w = newWorld()
	w.own, w.settings.BYOKFallback = []policy.Credential{own(1, "north", policy.UsePriority)}, false
	facts.Provider = decide.Preferences{Order: []string{"north"}}
	plan = w.decide(t, facts)
	require.Equal(t, []string{"north 1"}, called(plan))
	require.Contains(t, plan.Record.Exclusions,
		decide.Exclusion{Model: "acme/small", Endpoint: "south:acme/small", Stage: "credential", Reason: "byok_fallback_disabled"})
}

// A rule that names the platform's or the workspace's own credentials leaves
// the others out, whatever the setting says.
func TestARuleChoosesWhoseCredentials(t *testing.T) {
	for only, want := range map[catalog.Credential]string{"": "south 1 m 2", catalog.ManagedCredential: "south m", catalog.BYOKCredential: "south 1 2"} {
		for _, fallback := range []bool{true, false} {
			w := newWorld()
			w.settings.BYOKFallback = fallback
			w.own = []policy.Credential{own(1, "south", policy.UsePriority), own(2, "south", policy.UseFallback)}
			w.model("acme/small").Rules = []catalog.Rule{rule("r", always, fmt.Sprintf(`{"provider":"south","credential":%q}`, only))}
			plan, expected := w.decide(t, decide.Facts{Model: "acme/small"}), want
			if !fallback {
				expected = strings.Replace(want, " 1 m", " 1", 1)
			}
			require.Equal(t, []string{expected}, called(plan), "%q %v", only, fallback)
		}
	}
	w := newWorld()
	w.model("acme/small").Rules = []catalog.Rule{rule("r", always, `{"provider":"south","credential":"byok"}`)}
	plan := w.decide(t, decide.Facts{Model: "acme/small"})
	require.NotNil(t, plan.Refusal)
	require.Equal(t, fault.Reason("no_credential"), plan.Refusal.Reason)
}
