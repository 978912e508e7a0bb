package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// isID tells an id from a name that begins like one, such as guard_interns.
func isID[K id.Kind](text string) bool {
	_, err := id.Parse[K](text)
	return err == nil
}

// finder gives the id that an id or a name stands for.
type finder func(ctx context.Context, api *client.ClientWithResponses, text string) (string, error)

// found is the management API, and the id in it that an id or a name stands for.
func (a *app) found(ctx context.Context, find finder, text string) (*client.ClientWithResponses, string, error) {
	api, err := a.management()
	if err != nil {
		return nil, "", err
	}
	named, err := find(ctx, api, text)
	return api, named, err
}

// entry is a thing whose name others may have too.
type entry struct {
	id, name string
	gone     bool // for good; one that is not goes before it
}

// byName is the one entry with a name. Where several have it, the id must be
// given: a change must not hit another than the one that was meant.
func byName(what, name string, all []entry) (string, error) {
	found := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.name != name })
	if kept := slices.DeleteFunc(slices.Clone(found), func(e entry) bool { return e.gone }); len(kept) > 0 {
		found = kept
	}
	switch len(found) {
	case 0:
		return "", notFound{what, name}
	case 1:
		return found[0].id, nil
	}
	ids := make([]string, len(found))
	for i, e := range found {
		ids[i] = e.id
	}
	return "", misuse("%d %ss have the name %s: give the id, one of %s", len(found), what, clean(name), strings.Join(ids, ", "))
}

// idByName is the id that an id or a name stands for, of what lists name.
func idByName[K id.Kind, T any](what, text string, entryOf func(T) entry, fetch func(cursor *string, size int) (answer, error)) (string, error) {
	if isID[K](text) {
		return text, nil
	}
	_, all, err := pages[T](0, fetch)
	if err != nil {
		return "", err
	}
	entries := make([]entry, len(all))
	for i, one := range all {
		entries[i] = entryOf(one)
	}
	return byName(what, text, entries)
}

// idByOnlyName is idByName of what no two share a name, so that the API finds it.
func idByOnlyName[K id.Kind](what, text string, fetch func(name *string, size int) (answer, error)) (string, error) {
	if isID[K](text) {
		return text, nil
	}
	_, found, err := pages[struct {
		ID string `json:"id"`
	}](1, func(_ *string, size int) (answer, error) { return fetch(&text, size) })
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", notFound{what, text}
	}
	return found[0].ID, nil
}

// providerKeyID is the id that a provider key's id or name stands for.
func providerKeyID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	return idByName[id.CredentialKind]("provider key", text, func(c client.ByokCredential) entry { return entry{id: c.ID, name: c.Name} },
		func(cursor *string, size int) (answer, error) {
			return api.ListByokCredentialsWithResponse(ctx, &client.ListByokCredentialsParams{Cursor: cursor, Limit: &size})
		})
}

// keyID is the id that an API key's id or name stands for.
func keyID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	return idByName[id.KeyKind]("API key", text,
		func(k client.Key) entry {
			return entry{id: k.ID, name: k.Name, gone: k.Status == client.KeyStatusRevoked}
		},
		func(cursor *string, size int) (answer, error) {
			return api.ListKeysWithResponse(ctx, &client.ListKeysParams{Cursor: cursor, Limit: &size})
		})
}

// foundAll finds each of texts, in their order.
func foundAll(ctx context.Context, api *client.ClientWithResponses, find finder, texts []string) ([]string, error) {
	var ids []string
	for _, text := range texts {
		found, err := find(ctx, api, text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found)
	}
	return ids, nil
}
