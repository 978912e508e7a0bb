// Package upstream owns the words that the stages under attempt share: one
// call to a provider, its answer, the classes in which such a call fails, and
// how a provider's error, in whichever format, is read into a failure that is
// safe to show. It knows no stage, opens no connection and holds no state.
package upstream

import (
	"io"
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// Request is one upstream call, ready to be sent. Nothing in it changes once
// it was made, since a retry sends it again.
type Request struct {
	Provider *catalog.Provider
	// Credential is the one to call with. It comes from the plan, not from who
	// writes the request.
	Credential decide.CredentialUse
	Region     string      // of the endpoint; "" when it has none
	Method     string      // "" is POST
	Path       string      // escaped; follows the provider's base URL: "/chat/completions"
	Query      string      // encoded, without "?"
	Header     http.Header // the caller's; provider takes what its allow-list names
	Set        http.Header // what the format itself demands, such as anthropic-version; laid over
	Type       string      // of the body; "" is application/json
	Body       Body
	Stream     bool // a stream is asked for
	Framing    Framing
	Opaque     bool // a reply that is neither JSON nor events is passed on as it comes
	Once       bool // it must not be sent twice
	Upgrade    bool // a two-way conversation is asked for
	File       bool // the reply is somebody's file: of whatever type, empty too, it passes as it comes
	Blank      bool // success may be told without a body
	// Degraded lists what the caller asked for and this upstream's format has no
	// place for.
	Degraded []string
	// Answer, when it is set, is the reply itself, in the caller's format:
	// nothing has to be sent to know it.
	Answer []byte
}

// Framing is how the events of a stream are told apart.
type Framing int

// The framings.
const (
	ServerSent  Framing = iota // text/event-stream
	EventStream                // application/vnd.amazon.eventstream
)

// Response is a 2xx answer whose body is still to be read. Closing Body ends
// the upstream call and may be done while a Read waits.
type Response struct {
	Status    int
	Header    http.Header // only what may reach the caller
	MediaType string      // lower case, without parameters; "" when none was given
	Length    int64       // as the provider said, before inflation; -1 unknown
	Body      io.ReadCloser
	Frames    call.Frames // of an upgraded connection; Body is nil then
}

// Codec reads one upstream answer and writes it in the caller's format, with
// usage, finish reasons and errors seen on the side. One goroutine uses it.
type Codec interface {
	call.Meter
	// Whole turns a complete plain body. The result may share memory with body.
	Whole(body []byte) ([]byte, *Failure)
	// Event turns one event of a stream. The piece shares memory with e and
	// holds until the next call.
	Event(e sse.Event) (Piece, *Failure)
	// End is asked once, after the last event: it returns what the upstream
	// left out of a complete stream, or the failure that the stream was cut.
	End() ([]byte, *Failure)
}

// Speaker is a Codec of two-way conversations. What the provider says comes
// through Event, a frame for each.
type Speaker interface {
	Codec
	// Said returns a caller's frame in the provider's words. It may be called
	// while other methods are.
	Said(frame []byte) []byte
}

// Piece is one event in the caller's format.
type Piece struct {
	Bytes   []byte // empty when the caller gets nothing of this event
	Content bool   // text, reasoning, a tool call, a refusal or a finish reason
	Last    bool   // the terminal marker: nothing that counts comes after it
}
