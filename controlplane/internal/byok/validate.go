package byok

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/account"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

const (
	minKeyLength   = 8
	maxModels      = 256
	maxModelLength = 200
	maxAPIKeys     = 256
	// maxGroup is how many a provider may have of one use: each of them is an
	// attempt that a request may make.
	maxGroup = 16
)

// Validate reports every violation that shows without the catalog.
func (n NewCredential) Validate() error {
	var v rule.Violations
	v.Name("name", n.Name)
	checkUse(&v, n.Use)
	checkScopes(&v, n.Models, n.APIKeys)
	return v.Err()
}

// Validate reports every violation that shows without the catalog.
func (p Patch) Validate() error {
	var v rule.Violations
	if p.Name != nil {
		v.Name("name", *p.Name)
	}
	if p.Use != nil {
		checkUse(&v, *p.Use)
	}
	checkScopes(&v, deref(p.Models), deref(p.APIKeys))
	return v.Err()
}

func checkUse(v *rule.Violations, use policy.CredentialUse) {
	if use != policy.UsePriority && use != policy.UseFallback {
		v.Add("use", rule.NotAllowed, "must be priority or fallback")
	}
}

func checkScopes(v *rule.Violations, models []string, keys []id.Key) {
	v.Models("models", models, maxModels, maxModelLength)
	if len(keys) > maxAPIKeys {
		v.Add("api_keys", rule.TooLong, fmt.Sprintf("must have at most %d entries", maxAPIKeys))
		return
	}
	seen := make(map[id.Key]bool, len(keys))
	for i, k := range keys {
		if seen[k] {
			v.Add(fmt.Sprintf("api_keys[%d]", i), rule.Duplicate, "is in the list already")
		}
		seen[k] = true
	}
}

// read holds a key against the form that the provider's type takes. What is
// wrong with it is said without any of it.
func read(p *catalog.Provider, key secret.String) (account.Account, error) {
	var v rule.Violations
	switch length := len(key.Reveal()); {
	case length < minKeyLength:
		v.Add("key", rule.Required, fmt.Sprintf("must have at least %d characters", minKeyLength))
		return account.Account{}, v.Err()
	case length > account.MaxBytes:
		v.Add("key", rule.TooLong, fmt.Sprintf("must have at most %d bytes", account.MaxBytes))
		return account.Account{}, v.Err()
	}
	a, err := account.Read(p.Type, key)
	if err == nil {
		err = a.ByTenant()
	}
	if err != nil {
		v.Add("key", rule.Malformed, err.Error()+"; providers of type "+string(p.Type)+" take "+account.Forms(p.Type))
	}
	return a, v.Err()
}

func deref[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}
