package surface

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Row is a row of the table, for the tests that walk it.
type Row struct {
	Surface        catalog.Surface
	Action         call.Action
	Method, Path   string
	JSON, Form     bool // the kinds of body that it takes
	Models, Stream bool
	Envelope       envelope.Format
}

// Rows is the table.
func Rows() []Row {
	out := make([]Row, 0, len(table))
	for _, r := range table {
		out = append(out, Row{
			Surface: r.surface, Action: r.action, Method: r.method, Path: r.path,
			JSON: r.body == jsonBody || r.body == eitherBody, Form: r.body == formBody || r.body == eitherBody,
			Models: r.models, Stream: r.stream, Envelope: r.envelope,
		})
	}
	return out
}

// Told is the caller's side of a conversation over frames.
func Told(frames call.Frames) call.Frames { return &told{Frames: frames} }
