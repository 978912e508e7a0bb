// Package preset owns presets: named sets of what a request leaves open, their
// drafts, immutable versions and deployments, and who may use them. It knows
// nothing of SQL or HTTP, and not how a preset meets a request.
package preset

import (
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Visibility says who may use a preset.
type Visibility string

// The visibilities.
const (
	Private Visibility = "private" // keys of its creator
	Team    Visibility = "team"    // all keys of the workspace
	Public  Visibility = "public"  // all workspaces
)

// Versioning says how versions are labeled.
type Versioning string

// The ways of versioning.
const (
	Sequential Versioning = "sequential" // v1, v2
	SemVer     Versioning = "semver"     // given by who publishes
	Date       Versioning = "date"       // the UTC day
)

// Preset is one preset with its draft.
type Preset struct {
	ID              id.Preset
	Workspace       id.Workspace
	Slug            string // lower case, unique in the workspace, for ever
	Name            string
	Description     string
	Visibility      Visibility
	Versioning      Versioning
	Draft           policy.PresetConfig
	DraftDigest     string
	CreatedBy       id.User
	LatestVersion   int // 0: none was published
	LatestDigest    string
	DeployedVersion int        // 0: none
	Upstream        Origin     // what it is a fork of; zero for none
	Ancestry        []Origin   // Upstream, and what that is a fork of, nearest first
	PublicHandle    string     // under which it is or was public; "" for never
	PublicRevision  int64      // that last changed what others get of it
	ArchivedAt      *time.Time // nil: it is in use
	Version         int64      // rises with every change, from 1
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Origin is an exact version of another preset.
type Origin struct {
	Preset  id.Preset
	Version int
}

// Changed reports whether the draft differs from the latest version.
func (p Preset) Changed() bool { return p.LatestVersion == 0 || p.DraftDigest != p.LatestDigest }

// Offered is the version that other workspaces get of it; 0 for none.
func (p Preset) Offered() int {
	if p.Visibility != Public || p.ArchivedAt != nil {
		return 0
	}
	return p.DeployedVersion
}

// Canonical is the model name that uses it, as far as it goes.
func (p Preset) Canonical() string {
	if p.Visibility == Public && p.PublicHandle != "" {
		return "@" + p.PublicHandle + "/" + p.Slug
	}
	return "@" + p.Slug
}

// Published is what a snapshot says of it.
func (p Preset) Published() policy.Preset {
	made := policy.Preset{ID: p.ID, Slug: p.Slug, Version: p.DeployedVersion}
	if p.Visibility == Private {
		made.Owner = p.CreatedBy
	}
	return made
}

// PublicDocument is what all workspaces get of it; versions are those that may
// be pinned.
func (p Preset) PublicDocument(versions []int) policy.PublicPreset {
	d := policy.PublicPreset{
		Schema: policy.Schema, Workspace: p.Workspace, Preset: p.ID, Version: p.Offered(), Revision: p.PublicRevision,
	}
	if d.Version != 0 {
		d.Versions = versions
	}
	return d
}

// Status is what became of a version.
type Status string

// The statuses.
const (
	Published  Status = "published"  // never deployed
	Deployed   Status = "deployed"   // what the slug means
	Superseded Status = "superseded" // was deployed
)

// Version is one published version. Only Status and PublicAt change, the latter
// once.
type Version struct {
	Workspace   id.Workspace
	Preset      id.Preset
	Number      int // from 1
	Label       string
	Notes       string
	Config      policy.PresetConfig
	Digest      string
	PublishedBy id.User
	PublishedAt time.Time
	Revision    int64 // of the workspace, that published it
	Status      Status
	PublicAt    *time.Time // since when other workspaces may have it; nil: they may not
}

// Document is what gateways get of it.
func (v Version) Document(slug string) policy.PresetVersion {
	return policy.PresetVersion{
		Schema: policy.Schema, Workspace: v.Workspace, Preset: v.Preset, Slug: slug, Version: v.Number, Config: v.Config,
	}
}

// Deployment is one entry of what was deployed when.
type Deployment struct {
	Seq      int // from 1
	Version  int
	Beneath  int // the deployment that a rollback goes back to; 0: none
	Rollback bool
	By       id.User
	At       time.Time
}

// Above is the deployment of a version on top of d, the present one.
func (d Deployment) Above(version int) Deployment {
	return Deployment{Seq: d.Seq + 1, Version: version, Beneath: d.Seq}
}

// Back is the rollback of d, the present one, to the one beneath it. It stands
// where that stood, so that the next rollback goes on from there and never
// comes to what was rolled back.
func (d Deployment) Back(beneath Deployment) Deployment {
	return Deployment{Seq: d.Seq + 1, Version: beneath.Version, Beneath: beneath.Beneath, Rollback: true}
}

// Publisher is the name under which a workspace publishes.
type Publisher struct {
	Workspace id.Workspace
	Handle    string
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Ref names a preset of a workspace, by its id or its slug.
type Ref struct {
	ID   id.Preset
	Slug string
}

// RefOf reads a reference. What no preset can be called has neither.
func RefOf(text string) Ref {
	if preset, err := id.Parse[id.PresetKind](text); err == nil {
		return Ref{ID: preset}
	}
	slug := strings.ToLower(strings.TrimPrefix(text, "@"))
	if !slugForm.MatchString(slug) {
		return Ref{}
	}
	return Ref{Slug: slug}
}

// Foreign is a version that another workspace made public.
type Foreign struct {
	Preset   id.Preset
	Name     string
	Version  int
	Config   policy.PresetConfig
	Ancestry []Origin
}

// Filter narrows a list.
type Filter struct {
	Slug       string     // exactly, whatever the letter case; "" for all
	Visibility Visibility // "" for all
	Archived   bool       // archived ones too
	// SeenBy leaves out private ones of others; zero leaves out none.
	SeenBy id.User
}
