package policy

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Preset is what a snapshot says of a preset: what its slug means now. The
// versions are documents of their own.
type Preset struct {
	ID      id.Preset `json:"id"`
	Slug    string    `json:"slug"`    // lower case
	Version int       `json:"version"` // the deployed one
	// Owner is whose keys may use a private preset; zero for any other.
	Owner id.User `json:"owner,omitzero"`
}

// PresetVersion is the document of one published version of a preset. It never
// changes.
type PresetVersion struct {
	Schema    int          `json:"schema"`
	Workspace id.Workspace `json:"workspace"`
	Preset    id.Preset    `json:"preset"`
	Slug      string       `json:"slug"`
	Version   int          `json:"version"` // from 1
	Config    PresetConfig `json:"config"`
}

// PublicPreset is the document of a preset that every workspace may use, by
// @handle/slug. It moves with each deployment.
type PublicPreset struct {
	Schema    int          `json:"schema"`
	Workspace id.Workspace `json:"workspace"`
	Preset    id.Preset    `json:"preset"`
	Version   int          `json:"version"` // the deployed one; 0: it is public no more
	// Versions are those that may be pinned, ascending: each was deployed while
	// the preset was public. Others are its workspace's own.
	Versions []int `json:"versions,omitempty"`
	Revision int64 `json:"revision"` // of its workspace
}

// PresetConfig is what a preset sets.
type PresetConfig struct {
	SystemPrompt string `json:"system_prompt,omitempty"`
	Model        string `json:"model,omitempty"` // that the preset's name stands for; "" as the ladder has it
	// Routing are its preferences and restrictions as a rung of the ladder.
	Routing         Routing                    `json:"routing,omitzero"`
	Models          Lists                      `json:"models,omitzero"`    // Allow: exact ids or patterns with *
	Providers       Lists                      `json:"providers,omitzero"` // slugs
	ProviderWeights map[string]float64         `json:"provider_weights,omitempty"`
	Params          map[string]json.RawMessage `json:"params,omitempty"` // defaults for fields of the body
	Guardrails      []id.Guardrail             `json:"guardrail_ids,omitempty"`
	Cache           *PresetCache               `json:"cache,omitempty"`
}

// PresetCache is what a preset says of the response cache.
type PresetCache struct {
	Enabled bool          `json:"enabled"`
	TTL     time.Duration `json:"ttl_ns,omitempty"`
}

// The bounds of presets.
const (
	MaxPresets        = 500      // of a workspace, archived ones apart
	MaxPresetVersions = 1000     // of a preset
	MaxPresetBytes    = 64 << 10 // of a configuration as JSON
)
