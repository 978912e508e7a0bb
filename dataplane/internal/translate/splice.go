package translate

import "github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"

// splices are the edits of a body, made by what its formats mean.
type splices struct{ rawjson.Splices }

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
				s.Replace(start+from, start+to, []byte("true"))
			}
		}
	}
	switch {
	case !o.OK():
		s.Replace(start, end, []byte(askUsageObj))
	case asked:
	case members == 0:
		s.Replace(start+1, start+1, []byte(askUsageTrue))
	default:
		s.Replace(start+1, start+1, []byte(askUsageTrue+","))
	}
}
