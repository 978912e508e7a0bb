package preset

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Caller is who asks for something.
type Caller struct {
	audit.By
	// Admin sees what is private to others and may archive it.
	Admin bool
}

// sees reports whether p is there for the caller.
func (c Caller) sees(p Preset) bool {
	return p.Visibility != Private || c.Admin || p.CreatedBy == c.User
}

// mayChange refuses a preset of another, unless to an admin what is not
// private.
func (c Caller) mayChange(p Preset) error {
	if p.CreatedBy == c.User || c.Admin && p.Visibility != Private {
		return nil
	}
	return fault.New(fault.Forbidden, "A preset is changed by who created it, or by an owner or admin where it is not private.")
}

func (c Caller) mayArchive(p Preset) error {
	if p.CreatedBy == c.User || c.Admin {
		return nil
	}
	return fault.New(fault.Forbidden, "A preset is archived by who created it, or by an owner or admin.")
}

// maySet refuses to show a preset to all workspaces to who does not speak for
// this one, and to make it private to who could not undo that.
func (c Caller) maySet(v Visibility, creator id.User) error {
	switch {
	case v == Public && !c.Admin:
		return fault.New(fault.Forbidden, "Presets are made public by owners and admins.")
	case v == Private && creator != c.User:
		return fault.New(fault.Forbidden, "A preset is made private by who created it, whose keys alone could use it then. Archive it instead, or fork it.")
	}
	return nil
}
