package merge

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// countedRequest is the member in which Gemini's counting of tokens takes a
// whole request (https://ai.google.dev/api/tokens). Beside "contents" it takes
// none.
const countedRequest = "generateContentRequest"

// counting returns the request of which tokens are to be counted, and where it
// stands in the body.
func counting(body []byte) (request []byte, at int) {
	request = body
	for o := rawjson.NewObject(body); o.Next(); {
		if conceptOf(o.Name()) == "generatecontentrequest" && !rawjson.IsNull(o.Value()) {
			request = o.Value()
			at, _ = o.ValueSpan()
		}
	}
	return request, at
}

// wrapped puts a request of which tokens are counted where it may say more than
// its contents.
func (m *merger) wrapped(body []byte) []byte {
	if !m.to.Count || m.to.Surface != catalog.Gemini || m.within {
		return body
	}
	return append(append([]byte(`{"`+countedRequest+`":`), body...), '}')
}
