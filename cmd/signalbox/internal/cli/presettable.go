package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func presetTable(t *table, p client.Preset) {
	t.row("ID", p.ID)
	t.row("MODEL", p.CanonicalModel)
	t.row("NAME", p.Name)
	if p.Description != "" {
		t.row("DESCRIPTION", p.Description)
	}
	t.row("VISIBILITY", string(p.Visibility))
	t.row("VERSIONING", string(p.Versioning))
	t.row("DEPLOYED", versionCell(p.DeployedVersion))
	t.row("LATEST", versionCell(p.LatestVersion))
	t.row("DRAFT", drafted(p))
	for _, o := range p.Ancestry {
		t.row("FORK OF", fmt.Sprintf("%s#%d", o.PresetID, o.Version))
	}
	if at, err := p.ArchivedAt.Get(); err == nil {
		t.row("ARCHIVED", at)
	}
	configRows(t, p.Config)
}

// drafted says whether there is something to publish.
func drafted(p client.Preset) string {
	if p.Changed {
		return "changed"
	}
	return "published"
}

// versionCell is the number of a version that may be missing.
func versionCell(n nullable.Nullable[int]) string {
	if v, err := n.Get(); err == nil {
		return fmt.Sprint(v)
	}
	return "–"
}

// configRows are the fields of a configuration, with the names that a file has.
func configRows(t *table, c client.PresetConfig) {
	body, err := json.Marshal(c)
	must(err) // plain values
	var fields map[string]json.RawMessage
	must(json.Unmarshal(body, &fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		t.row("config."+name, fieldCell(fields[name]))
	}
}

// fieldCell is a JSON value as a cell: a text without its quotes.
func fieldCell(value json.RawMessage) string {
	var text string
	switch {
	case len(value) == 0:
		return "–"
	case json.Unmarshal(value, &text) == nil:
		return text
	}
	return string(value)
}

func versionTable(t *table, v client.PresetVersion) {
	t.row("VERSION", v.Version)
	t.row("LABEL", v.VersionLabel)
	t.row("STATUS", string(v.Status))
	t.row("PUBLIC", v.Public)
	if v.ReleaseNotes != "" {
		t.row("NOTES", v.ReleaseNotes)
	}
	t.row("PUBLISHED", v.PublishedAt)
	t.row("BY", v.PublishedBy)
	configRows(t, v.Config)
}
