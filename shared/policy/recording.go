package policy

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Recording says what decision records keep of the requests of a dynamic
// route's keys, so that these can be replayed through another version. There is
// one for each route that has a version, deployed or not: it restricts nothing,
// so that a gateway which does not know it only keeps less.
type Recording struct {
	Route id.Route     `json:"route"`
	Reads []flow.Input `json:"reads,omitempty"` // what the conditions of its versions look at
	Usage bool         `json:"usage,omitempty"` // a limit looks at what the key has used
}

// BodyPaths are the paths in a request's body that are kept.
func (r *Recording) BodyPaths() (paths []string) {
	for _, read := range r.Reads {
		if read.Source == condition.Body {
			paths = append(paths, read.Path)
		}
	}
	return paths
}

// ReplayKeyLen is how long a key for hiding recorded texts is, in bytes.
const ReplayKeyLen = 32

// RecordingOf is what has to be kept for versions of a route to be replayed, in
// the versions' order. What every record has anyway is not in it.
func RecordingOf(route id.Route, versions ...flow.Graph) Recording {
	return Recording{Route: route}.With(versions...)
}

// With is r for further versions too.
func (r Recording) With(versions ...flow.Graph) Recording {
	for _, g := range versions {
		r.Usage = r.Usage || g.ReadsUsage()
		for _, read := range g.Reads() {
			known := read.Source == condition.Model || read.Source == condition.Endpoint
			if !known && !slices.Contains(r.Reads, read) {
				r.Reads = append(r.Reads, read)
			}
		}
	}
	return r
}

// recordings are by route. Without a key that texts could be hidden under there
// are none, unless the workspace wants them in clear.
func recordingsOf(s *Snapshot) map[id.Route]*Recording {
	if len(s.Recordings) == 0 || len(s.ReplayKey) != ReplayKeyLen && !s.Settings.ReplayValues {
		return nil
	}
	byRoute := make(map[id.Route]*Recording, len(s.Recordings))
	for i := range s.Recordings {
		byRoute[s.Recordings[i].Route] = &s.Recordings[i]
	}
	return byRoute
}

// Recording is what records keep of the requests of a route's keys.
func (v *View) Recording(route id.Route) (*Recording, bool) {
	r, ok := v.recordings[route]
	return r, ok
}

// Hider hides the texts of records.
func (v *View) Hider() condition.Hider { return v.hider }
