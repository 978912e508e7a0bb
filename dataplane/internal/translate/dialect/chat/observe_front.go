package chat

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// front is what the chunks of a stream begin with, up to their choices: id,
// time and model are the same in all of them, so that most are read from there
// on. Of the members before the choices only the model's name says anything to
// the observer; a chunk with an error or usage there is no front.
type front struct {
	text   []byte         // with the name of choices and its colon
	walk   rawjson.Object // where it stood before choices
	models []dialect.Span
	room   [1]dialect.Span
	kept   int
}

// mostFronts is how often another front is tried: some providers begin every
// chunk in another way.
const mostFronts = 4

// pass returns a walk over the members of text. It stands before choices when
// text has the front.
func (f *front) pass(text []byte) (rawjson.Object, bool) {
	if len(f.text) > 0 && bytes.HasPrefix(text, f.text) {
		return f.walk.Over(text), true
	}
	return rawjson.NewObject(text), false
}

// keep takes the front of a chunk: before is the walk that has not yet moved to
// choices, where at stands.
func (f *front) keep(text []byte, before rawjson.Object, at *rawjson.Object, models []dialect.Span) {
	if f.kept++; f.kept > mostFronts {
		return
	}
	start, _ := at.ValueSpan()
	f.text = append(f.text[:0], text[:start]...)
	f.walk = before.Over(nil)
	f.models = append(f.room[:0], models...)
}
