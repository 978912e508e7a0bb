package override

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// text is a member that is text, "" for anything else.
func (e Entry) text(name string) string {
	var s string
	if json.Unmarshal(e[name], &s) != nil {
		return ""
	}
	return s
}

func (e Entry) set(name string, value any) {
	// What is set here, text and entries, always encodes.
	e[name], _ = json.Marshal(value)
}

// entries are a member that is a list of objects, nil for anything else.
func (e Entry) entries(name string) []Entry {
	var list []Entry
	if json.Unmarshal(e[name], &list) != nil {
		return nil
	}
	return list
}

// setEntries leaves the member out when the list is empty.
func (e Entry) setEntries(name string, list []Entry) {
	if len(list) == 0 {
		delete(e, name)
		return
	}
	e.set(name, list)
}

// endpointName is how an endpoint of a model is called: its provider, with
// @region where it has one.
func endpointName(e Entry) string {
	name := e.text("provider")
	if region := e.text("region"); region != "" {
		name += "@" + region
	}
	return name
}

func slugName(e Entry) string  { return e.text("slug") }
func modelName(e Entry) string { return e.text("id") }
func ruleName(e Entry) string  { return e.text("name") }

// find is the place of the entry with a name, or -1.
func find(list []Entry, named func(Entry) string, name string) int {
	return slices.IndexFunc(list, func(e Entry) bool { return named(e) == name })
}

// put replaces the entry of the same name, or adds it.
func put(list []Entry, named func(Entry) string, e Entry) []Entry {
	list = slices.Clone(list)
	if at := find(list, named, named(e)); at >= 0 {
		list[at] = e
		return list
	}
	return append(list, e)
}

// without leaves an entry out; false when there was none.
func without(list []Entry, named func(Entry) string, name string) ([]Entry, bool) {
	at := find(list, named, name)
	if at < 0 {
		return list, false
	}
	return slices.Delete(slices.Clone(list), at, at+1), true
}

// normal sorts the entries by their names, so that equal documents are equal.
func (d *Document) normal() {
	byName := func(named func(Entry) string) func(a, b Entry) int {
		return func(a, b Entry) int { return strings.Compare(named(a), named(b)) }
	}
	slices.SortStableFunc(d.Providers, byName(slugName))
	slices.SortStableFunc(d.Models, byName(modelName))
	if d.Providers == nil {
		d.Providers = []Entry{}
	}
	if d.Models == nil {
		d.Models = []Entry{}
	}
}

// model is the entry of a model, for changing; a new one when there is none.
func (d *Document) model(id string) Entry {
	if at := find(d.Models, modelName, id); at >= 0 {
		return maps.Clone(d.Models[at])
	}
	e := Entry{}
	e.set("id", id)
	return e
}

// setModel puts a model's entry back, or takes it away when it overrides
// nothing any more.
func (d *Document) setModel(e Entry) {
	if len(e) <= 1 {
		d.Models, _ = without(d.Models, modelName, modelName(e))
		return
	}
	d.Models = put(d.Models, modelName, e)
}

// over lays the overrides over a catalog. The error is catalog.Problems.
func (s *State) over(base catalog.Catalog) (catalog.Catalog, error) {
	body, err := json.Marshal(s.Document)
	if err != nil {
		return catalog.Catalog{}, err
	}
	if bytes.Contains(body, []byte(`\u0000`)) {
		return catalog.Catalog{}, catalog.Problems{{Message: "want no NUL in any text"}}
	}
	merged, err := catalog.OverlaidJSON(base, body)
	if err != nil {
		return catalog.Catalog{}, err
	}
	for i := range merged.Providers {
		if key, ok := s.Keys[merged.Providers[i].Slug]; ok {
			merged.Providers[i].Credential = key
		}
	}
	return merged, nil
}
