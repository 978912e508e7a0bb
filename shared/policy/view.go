package policy

import (
	"errors"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// View is a snapshot compiled for reading. It is frozen: nothing in it
// changes, and callers must not change what it returns.
type View struct {
	snapshot Snapshot
}

// Compile checks a snapshot and freezes it.
func Compile(s Snapshot) (*View, error) {
	if s.Workspace.IsZero() {
		return nil, errors.New("compile snapshot: no workspace")
	}
	if s.Revision < 1 {
		return nil, errors.New("compile snapshot: revision below 1")
	}
	return &View{snapshot: s}, nil
}

// Workspace is the tenant that the view belongs to.
func (v *View) Workspace() id.Workspace { return v.snapshot.Workspace }

// Revision is the revision that a request pins.
func (v *View) Revision() int64 { return v.snapshot.Revision }

// Active reports whether the workspace may be used.
func (v *View) Active() bool { return v.snapshot.Status == WorkspaceActive }

// Settings are the workspace's settings.
func (v *View) Settings() Settings { return v.snapshot.Settings }

// Tags are the operator's tags on the workspace.
func (v *View) Tags() []string { return v.snapshot.Tags }
