package simulator

import (
	"encoding/json"
	"slices"
	"sync"
)

// object is something that a caller made and asks for again.
type object struct {
	kind, id string
	model    string
	data     json.RawMessage // what the object is made of
	content  []byte          // of files
	polls    int
	failed   bool
	canceled bool
}

// store keeps the newest objects of all callers, each for its owner alone.
type store struct {
	mu    sync.Mutex
	kept  []*ownedObject // oldest first
	bytes int
	made  int
}

type ownedObject struct {
	owner string
	object
}

// Bounds of a store: beyond them the oldest objects are forgotten.
const (
	maxObjects     = 4096
	maxObjectBytes = 256 << 20
)

// put adds an object, or replaces the one with its name.
func (s *store) put(owner string, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(owner, o.kind, o.id)
	s.kept = append(s.kept, &ownedObject{owner: owner, object: o})
	s.bytes += len(o.data) + len(o.content)
	for len(s.kept) > maxObjects || (s.bytes > maxObjectBytes && len(s.kept) > 1) {
		s.bytes -= len(s.kept[0].data) + len(s.kept[0].content)
		s.kept = slices.Delete(s.kept, 0, 1)
	}
}

func (s *store) at(owner, kind, id string) int {
	return slices.IndexFunc(s.kept, func(o *ownedObject) bool { return o.owner == owner && o.kind == kind && o.id == id })
}

func (s *store) drop(owner, kind, id string) bool {
	at := s.at(owner, kind, id)
	if at < 0 {
		return false
	}
	s.bytes -= len(s.kept[at].data) + len(s.kept[at].content)
	s.kept = slices.Delete(s.kept, at, at+1)
	return true
}

func (s *store) get(owner, kind, id string) (object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at(owner, kind, id)
	if at < 0 {
		return object{}, false
	}
	return s.kept[at].object, true
}

// poll counts one more look at an object.
func (s *store) poll(owner, kind, id string) (object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at(owner, kind, id)
	if at < 0 {
		return object{}, false
	}
	s.kept[at].polls++
	return s.kept[at].object, true
}

func (s *store) remove(owner, kind, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(owner, kind, id)
}

// list returns an owner's objects of a kind, newest first.
func (s *store) list(owner, kind string) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []object
	for _, o := range slices.Backward(s.kept) {
		if o.owner == owner && o.kind == kind {
			out = append(out, o.object)
		}
	}
	return out
}

// number is unique in a Server: two submissions of the same body are two jobs.
func (s *store) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return s.made
}
