package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Preset returns what a preset's slug, in lower case, means now.
func (v *View) Preset(slug string) (Preset, bool) {
	at, ok := slices.BinarySearchFunc(v.snapshot.Presets, slug, func(p Preset, slug string) int { return strings.Compare(p.Slug, slug) })
	if !ok {
		return Preset{}, false
	}
	return v.snapshot.Presets[at], true
}

// DecodePresetVersion reads the document of a preset's version and verifies its
// schema. Unknown members are ignored, as in snapshots.
func DecodePresetVersion(body []byte) (PresetVersion, error) {
	var p PresetVersion
	if err := json.Unmarshal(body, &p); err != nil {
		return PresetVersion{}, fmt.Errorf("decode a preset's version: %w", err)
	}
	if p.Schema != Schema {
		return PresetVersion{}, fmt.Errorf("%w: a preset's version has %d, want %d", ErrSchema, p.Schema, Schema)
	}
	if p.Workspace.IsZero() || p.Preset.IsZero() || p.Version < 1 {
		return PresetVersion{}, errors.New("a preset's version does not say whose it is")
	}
	return p, nil
}

// DecodePublicPreset reads the document of a public preset and verifies its
// schema.
func DecodePublicPreset(body []byte) (PublicPreset, error) {
	var p PublicPreset
	if err := json.Unmarshal(body, &p); err != nil {
		return PublicPreset{}, fmt.Errorf("decode a public preset: %w", err)
	}
	if p.Schema != Schema {
		return PublicPreset{}, fmt.Errorf("%w: a public preset has %d, want %d", ErrSchema, p.Schema, Schema)
	}
	if p.Version != 0 && (p.Workspace.IsZero() || p.Preset.IsZero() || p.Version < 1) {
		return PublicPreset{}, errors.New("a public preset does not say whose it is")
	}
	return p, nil
}
