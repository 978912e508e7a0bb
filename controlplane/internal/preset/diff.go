package preset

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// diff is the account of a change for the audit log.
func diff(before, after Preset) []audit.Change {
	var d audit.Diff
	d.Text("slug", before.Slug, after.Slug)
	d.Text("name", before.Name, after.Name)
	d.Text("description", before.Description, after.Description)
	d.Text("visibility", string(before.Visibility), string(after.Visibility))
	d.Text("versioning", string(before.Versioning), string(after.Versioning))
	// The content may be as long as a document; the versions have it.
	d.Text("draft", before.DraftDigest, after.DraftDigest)
	d.Int("latest_version", before.LatestVersion, after.LatestVersion)
	d.Int("deployed_version", before.DeployedVersion, after.DeployedVersion)
	d.Text("upstream", before.Upstream.text(), after.Upstream.text())
	d.Text("public_handle", before.PublicHandle, after.PublicHandle)
	d.Time("archived_at", before.ArchivedAt, after.ArchivedAt)
	return d
}

func (o Origin) text() string {
	if o == (Origin{}) {
		return ""
	}
	return o.Preset.String() + "#" + strconv.Itoa(o.Version)
}

func handleDiff(before, after string) []audit.Change {
	var d audit.Diff
	d.Text("handle", before, after)
	return d
}

// notes checks release notes, which may have lines.
func notes(v *rule.Violations, text string) {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError }):
		v.Add("release_notes", rule.Malformed, "must be UTF-8 without control characters other than line ends and tabs")
	case utf8.RuneCountInString(text) > maxNotes:
		v.Add("release_notes", rule.TooLong, "must have at most 1000 characters")
	}
}

// FieldChange is one field in which two configurations differ, nil where one
// does not have it.
type FieldChange struct {
	Path          string // dotted
	Before, After json.RawMessage
}

// Compare lists the fields in which two configurations differ, by their paths.
// as writes a configuration in the form that the caller knows. Lists, and what
// is a parameter's own, are compared whole.
func Compare(before, after policy.PresetConfig, as func(policy.PresetConfig) any) ([]FieldChange, error) {
	b, err := fields(as(before))
	if err != nil {
		return nil, err
	}
	a, err := fields(as(after))
	if err != nil {
		return nil, err
	}
	var list []FieldChange
	names := slices.Collect(maps.Keys(b))
	for name := range a {
		if _, ok := b[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !bytes.Equal(b[name], a[name]) {
			list = append(list, FieldChange{Path: name, Before: b[name], After: a[name]})
		}
	}
	return list, nil
}

// fields are the members of a document by their dotted paths, those of objects
// one by one.
func fields(document any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	found := make(map[string]json.RawMessage)
	return found, flatten(found, "", text)
}

// flattened is how deep objects are taken apart: params.name, and
// provider.max_price.input.
const flattened = 3

func flatten(into map[string]json.RawMessage, path string, text json.RawMessage) error {
	depth := 0
	if path != "" {
		depth = strings.Count(path, ".") + 1
	}
	parameter := strings.HasPrefix(path, "params.")
	if len(text) == 0 || text[0] != '{' || depth >= flattened || parameter {
		into[path] = text
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for name, value := range members {
		at := name
		if path != "" {
			at = path + "." + name
		}
		if err := flatten(into, at, value); err != nil {
			return err
		}
	}
	return nil
}
