package policy

import (
	"errors"
	"fmt"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// View is a snapshot compiled for reading. It is frozen: nothing in it
// changes, and callers must not change what it returns.
type View struct {
	snapshot    Snapshot
	profiles    map[id.Profile]*Profile
	departments map[id.Department]*Department
	members     map[id.User][]id.Department
	own         map[string][]*OwnCredential // by provider
	guardrails  guardrails
	routes      map[id.Route]*CompiledRoute
	recordings  map[id.Route]*Recording
	hider       condition.Hider
	limited     *Limited
}

// Compile checks a snapshot and freezes it. It fails for one that could not be
// served as it says.
func Compile(s Snapshot) (*View, error) {
	if s.Workspace.IsZero() {
		return nil, errors.New("compile snapshot: no workspace")
	}
	if s.Revision < 1 {
		return nil, errors.New("compile snapshot: revision below 1")
	}
	routes, err := compileRoutes(s.Routes)
	if err != nil {
		return nil, fmt.Errorf("compile snapshot: %w", err)
	}
	v := &View{snapshot: s, own: ownCredentials(&s), guardrails: guardrailsOf(&s), routes: routes, members: membersOf(&s), limited: limitedOf(s.Limits)}
	v.recordings, v.hider = recordingsOf(&s), condition.NewHider(s.ReplayKey)
	if len(s.Profiles) > 0 {
		v.profiles = make(map[id.Profile]*Profile, len(s.Profiles))
	}
	for i := range s.Profiles {
		v.profiles[s.Profiles[i].ID] = &s.Profiles[i]
	}
	if len(s.Departments) > 0 {
		v.departments = make(map[id.Department]*Department, len(s.Departments))
	}
	for i := range s.Departments {
		v.departments[s.Departments[i].ID] = &s.Departments[i]
	}
	return v, nil
}

// WorkspaceProfile is the routing profile bound to the workspace itself; zero
// when there is none.
func (v *View) WorkspaceProfile() id.Profile { return v.snapshot.Profile }

// Profile returns a routing profile that some binding of the workspace names.
func (v *View) Profile(profile id.Profile) (*Profile, bool) {
	p, ok := v.profiles[profile]
	return p, ok
}

// Department returns a department of the workspace.
func (v *View) Department(department id.Department) (*Department, bool) {
	d, ok := v.departments[department]
	return d, ok
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

// Auto is how signalbox/auto chooses.
func (v *View) Auto() Auto {
	if v.snapshot.Auto == nil {
		return DefaultAuto()
	}
	return *v.snapshot.Auto
}
