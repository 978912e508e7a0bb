package translate

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// splice replaces text[start:end] by with.
type splice struct {
	start, end int
	with       []byte
}

// splices are edits in the order of the text. They do not overlap.
type splices struct {
	list  []splice
	delta int // by which the text grows
	first [8]splice
}

func (s *splices) replace(start, end int, with []byte) {
	if s.list == nil {
		s.list = s.first[:0]
	}
	s.list = append(s.list, splice{start, end, with})
	s.delta += len(with) - (end - start)
}

func (s *splices) cut(start, end int) { s.replace(start, end, nil) }

// sort puts edits of the same stretch of text in order.
func (s *splices) sort() {
	slices.SortStableFunc(s.list, func(a, b splice) int { return a.start - b.start })
}

// usage makes the stream options at body[start:end] ask for usage, whatever
// else they ask for.
func (s *splices) usage(body []byte, start, end int) {
	o := rawjson.NewObject(body[start:end])
	members, asked := 0, false
	for o.Next() {
		members++
		if o.Is("include_usage") {
			asked = true
			if string(o.Value()) != "true" {
				from, to := o.ValueSpan()
				s.replace(start+from, start+to, []byte("true"))
			}
		}
	}
	switch {
	case !o.OK():
		s.replace(start, end, []byte(askUsageObj))
	case asked:
	case members == 0:
		s.replace(start+1, start+1, []byte(askUsageTrue))
	default:
		s.replace(start+1, start+1, []byte(askUsageTrue+","))
	}
}

// apply writes the edited text in one allocation; front goes in at offset at,
// which is before every edit.
func (s *splices) apply(text, front []byte, at int) []byte {
	out := make([]byte, 0, len(text)+len(front)+s.delta)
	out = append(append(out, text[:at]...), front...)
	for _, e := range s.list {
		out = append(append(out, text[at:e.start]...), e.with...)
		at = e.end
	}
	return append(out, text[at:]...)
}
