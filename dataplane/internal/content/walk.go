package content

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// want is a dotted path that is looked for, with what is left of it at the value
// at hand. A segment is the name of a member, or in an array the place of an
// element, from 0. Of members with one name the last counts, as for every parser
// that upstreams use.
type want struct {
	path, rest string
	more       bool // there is a rest
}

// walk notes what stands in a value at the paths that are wanted, in one pass
// over it: a body may be large, and a graph may look at many paths.
func (k *Content) walk(text []byte, wants []want) {
	if len(text) == 0 {
		return
	}
	below := make(map[string][]want, len(wants))
	for _, w := range wants {
		if !w.more {
			k.known[w.path] = valueOf(text)
			continue
		}
		segment, rest, more := strings.Cut(w.rest, ".")
		below[segment] = append(below[segment], want{w.path, rest, more})
	}
	if len(below) == 0 {
		return
	}
	switch first(text) {
	case '{':
		for segment, value := range members(text, below) {
			k.walk(value, below[segment])
		}
	case '[':
		k.elements(text, below)
	}
}

// members are the last values of an object's members of some names.
func members(object []byte, names map[string][]want) map[string][]byte {
	found := make(map[string][]byte, len(names))
	for m := rawjson.NewObject(object); m.Next(); {
		key := m.Key()
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(m.Name())
		}
		if _, wanted := names[string(key)]; wanted {
			found[string(key)] = m.Value()
		}
	}
	return found
}

// elements walks those elements of an array that are wanted, by their places.
func (k *Content) elements(array []byte, places map[string][]want) {
	wanted, last := make(map[int][]want, len(places)), -1
	for place, wants := range places {
		if index, err := strconv.Atoi(place); err == nil && index >= 0 && place[0] != '+' {
			wanted[index], last = append(wanted[index], wants...), max(last, index)
		}
	}
	a := rawjson.NewArray(array)
	for index := 0; index <= last && a.Next(); index++ {
		if wants, ok := wanted[index]; ok {
			k.walk(a.Value(), wants)
		}
	}
}
