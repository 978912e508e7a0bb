package preset

import (
	"container/list"
	"sync"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// document names a version of a preset. What it says never changes.
type document struct {
	preset  id.Preset
	version int
}

// shelf holds versions of presets. When they are too many or too large it lets
// go of the one that was used the longest ago.
type shelf struct {
	mu    sync.Mutex
	most  int   // versions
	room  int64 // bytes
	taken int64
	items map[document]*list.Element
	order *list.List // of *item, the last used first
}

type item struct {
	name    document
	version *policy.PresetVersion
	size    int64 // bytes as published
}

func newShelf(most int, room int64) *shelf {
	return &shelf{most: most, room: room, items: make(map[document]*list.Element), order: list.New()}
}

func (s *shelf) get(name document) *policy.PresetVersion {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.items[name]
	if !ok {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*item).version //nolint:forcetypeassert // nothing else is in it
}

func (s *shelf) put(name document, version *policy.PresetVersion, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.items[name]; ok {
		return // it says the same
	}
	s.items[name] = s.order.PushFront(&item{name, version, size})
	s.taken += size
	for s.order.Len() > 1 && (s.order.Len() > s.most || s.taken > s.room) {
		oldest := s.order.Remove(s.order.Back()).(*item) //nolint:forcetypeassert // nothing else is in it
		delete(s.items, oldest.name)
		s.taken -= oldest.size
	}
}

func (s *shelf) state() (held int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len(), s.taken
}
