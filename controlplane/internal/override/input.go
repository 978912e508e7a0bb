package override

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/account"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// parse reads a whole document. It goes by the exact names of the members,
// which encoding/json does not for a struct: of two that differ in the case of
// a letter the last would win.
func parse(body json.RawMessage) (Document, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members == nil {
		return Document{}, fault.Invalid(fault.Violation{Code: rule.Malformed, Message: "want an object with providers and models"})
	}
	var d Document
	var v rule.Violations
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var list *[]Entry
		switch name {
		case "providers":
			list = &d.Providers
		case "models":
			list = &d.Models
		default:
			// The name is not repeated: it may be a key on the wrong side of a colon.
			v.Add("", string(fault.UnknownField), "unknown field; want one of providers, models")
			continue
		}
		if json.Unmarshal(members[name], list) != nil || slices.ContainsFunc(*list, func(e Entry) bool { return e == nil }) {
			v.Add(name, rule.Malformed, "want a list of objects")
		}
	}
	return d, v.Err()
}

// fits holds a key against the form that the type of its provider takes, as it
// will be after the change. What is wrong with it is said without any of it.
func (s *Service) fits(e Entry, slug, path string, key secret.String) error {
	kind := catalog.ProviderType(e.text("type"))
	if at := slices.IndexFunc(s.d.Base.Providers, func(p catalog.Provider) bool { return p.Slug == slug }); kind == "" && at >= 0 {
		kind = s.d.Base.Providers[at].Type
	}
	if !slices.Contains(catalog.ProviderTypes(), kind) {
		return nil // the catalog is refused for it
	}
	var v rule.Violations
	if len(key.Reveal()) > account.MaxBytes {
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d bytes", account.MaxBytes))
	} else if _, err := account.Read(kind, key); err != nil {
		v.Add(path, rule.Malformed, err.Error()+"; providers of type "+string(kind)+" take "+account.Forms(kind))
	}
	return v.Err()
}
