package preset

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps presets. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Create fails with conflict at "slug" when the slug is taken.
	Create(ctx context.Context, ws id.Workspace, p Preset) error
	// Find fails with not_found.
	Find(ctx context.Context, ws id.Workspace, r Ref) (Preset, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, p Preset) error
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Preset], error)
	// Count leaves out archived ones.
	Count(ctx context.Context, ws id.Workspace) (int, error)
}

// Versions keeps what was published. Every method is called inside a
// transaction of ws and sees nothing else.
type Versions interface {
	// Add fails with conflict at "version_label" when the label is taken.
	Add(ctx context.Context, ws id.Workspace, v Version) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, preset id.Preset, number int) (Version, error)
	// Mark changes the status and, once, since when it is public.
	Mark(ctx context.Context, ws id.Workspace, v Version) error
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, preset id.Preset, q page.Query) (page.Result[Version], error)
	// Labels are all labels, the latest first.
	Labels(ctx context.Context, ws id.Workspace, preset id.Preset) ([]string, error)
}

// Deployments keeps what was deployed. Every method is called inside a
// transaction of ws and sees nothing else.
type Deployments interface {
	Append(ctx context.Context, ws id.Workspace, preset id.Preset, d Deployment) error
	// Present is the last one; the zero one where nothing was deployed.
	Present(ctx context.Context, ws id.Workspace, preset id.Preset) (Deployment, error)
	At(ctx context.Context, ws id.Workspace, preset id.Preset, seq int) (Deployment, error)
}

// Publishers keeps handles. Every method is called inside a transaction of ws.
type Publishers interface {
	// Publisher is zero where the workspace has none.
	Publisher(ctx context.Context, ws id.Workspace) (Publisher, error)
	// PutPublisher fails with conflict at "handle" when another workspace has
	// the handle.
	PutPublisher(ctx context.Context, ws id.Workspace, p Publisher) error
	// Used reports whether a preset was ever public under the handle.
	Used(ctx context.Context, ws id.Workspace) (bool, error)
}

// Commons shows what other workspaces made public, and nothing else. It is
// called outside a transaction.
type Commons interface {
	// Named is a version of @handle/slug, the deployed one for 0. It fails with
	// not_found.
	Named(ctx context.Context, handle, slug string, version int) (Foreign, error)
	// Of is Named for a preset's id.
	Of(ctx context.Context, preset id.Preset, version int) (Foreign, error)
}

// Guardrails tells which of some guardrails a workspace does not have, inside a
// transaction of it.
type Guardrails interface {
	Absent(ctx context.Context, ws id.Workspace, list []id.Guardrail) ([]id.Guardrail, error)
}

// Uses tells what names a preset as a model, inside a transaction of ws.
type Uses interface {
	Uses(ctx context.Context, ws id.Workspace, p Preset) (Used, error)
}

// Used is what names a preset as a model.
type Used struct {
	Settings bool
	Profiles []id.Profile
	Routes   []id.Route // in the version that is deployed or rolled out
}
