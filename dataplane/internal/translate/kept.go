package translate

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Namer gives what a provider keeps the name by which its workspace knows it.
type Namer interface {
	Name(ws id.Workspace, s catalog.Surface, owned call.Owned) (string, error)
}

// kept is a surface that makes jobs or files, which the provider keeps.
var kept = map[catalog.Surface]string{
	catalog.Videos:  "/videos",
	catalog.Music:   "/music",
	catalog.Batches: "/batches",
	catalog.Files:   "/files",
}

// references are the members of a reply that name things which the same
// endpoint keeps (https://platform.openai.com/docs/api-reference/batch/object).
var references = []struct {
	member string
	of     catalog.Surface
}{
	{"input_file_id", catalog.Files},
	{"output_file_id", catalog.Files},
	{"error_file_id", catalog.Files},
	{"remixed_from_video_id", catalog.Videos},
}

// aboutKept is a request about something that is there already.
func aboutKept(c *call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure) {
	at := openAIPlace(to, kept[c.Surface]+"/"+url.PathEscape(c.Owned.ID)+suffixes[c.Action])
	request := upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Method: methods[c.Action], Path: at.path,
		Query:  joined(at.query, c.Query.Encode()),
		Opaque: c.Action == call.Content, File: c.Action == call.Content, Blank: c.Action == call.Delete,
	}
	return request, nil
}

var (
	methods  = map[call.Action]string{call.Get: "GET", call.Content: "GET", call.Cancel: "POST", call.Delete: "DELETE"}
	suffixes = map[call.Action]string{call.Content: "/content", call.Cancel: "/cancel"}
)

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}

// gone is what OpenAI says of a thing that was deleted, for providers that say
// it with a 204 (https://platform.openai.com/docs/api-reference/files/delete,
// https://platform.openai.com/docs/api-reference/videos/delete).
var gone = map[catalog.Surface]string{catalog.Files: "file", catalog.Videos: "video.deleted"}

// keeper reads a reply about a job or file and puts the workspace's names in
// place of the provider's. It implements upstream.Codec.
type keeper struct {
	call  *call.Call
	to    decide.Candidate
	model []byte // the canonical id, as JSON
	namer Namer
	made  string // the name of what the call made
	done  bool
}

// Whole implements upstream.Codec.
func (k *keeper) Whole(body []byte) ([]byte, *upstream.Failure) {
	if k.call.Action == call.Delete && len(body) == 0 {
		k.done = true
		return slices.Concat([]byte(`{"id":`), rawjson.Quote(k.call.Object), []byte(`,"object":`),
			rawjson.Quote(gone[k.call.Surface]), []byte(`,"deleted":true}`)), nil
	}
	var s splices
	named := false
	o := rawjson.NewObject(body)
	for o.Next() {
		value := o.Value()
		start, end := o.ValueSpan()
		switch of := referenced(&o); {
		case o.Is("error") && isProblem(value) && !k.isJob():
			return nil, upstream.InBand(upstream.ErrorInReply, 0, body)
		case o.Is("model") && rawjson.IsString(value):
			s.Replace(start, end, k.model)
		case o.Is("id") && rawjson.IsString(value):
			named = true
			name, failure := k.own(rawjson.String(value))
			if failure != nil {
				return nil, failure
			}
			s.Replace(start, end, name)
		case of != "" && rawjson.IsString(value) && rawjson.String(value) != "":
			name, failure := k.name(of, rawjson.String(value))
			if failure != nil {
				return nil, failure
			}
			s.Replace(start, end, name)
		}
	}
	if !o.Whole() || !named {
		return nil, upstream.Fail(upstream.MalformedReply, errNoID)
	}
	k.done = true
	return s.Apply(body, nil, 0), nil
}

// isJob: a job has a member "error" of its own, which tells how it went.
func (k *keeper) isJob() bool { return k.call.Surface != catalog.Files }

// own names the thing that the reply is about: as the caller did, who may hold
// a name from before a rotation of the keys.
func (k *keeper) own(upstreamID string) ([]byte, *upstream.Failure) {
	if k.call.Action != call.Generate && upstreamID == k.call.Owned.ID {
		return rawjson.Quote(k.call.Object), nil
	}
	name, failure := k.name(k.call.Surface, upstreamID)
	k.made = rawjson.String(name)
	return name, failure
}

func (k *keeper) name(s catalog.Surface, upstreamID string) ([]byte, *upstream.Failure) {
	if !isID(upstreamID) {
		return nil, upstream.Fail(upstream.MalformedReply, errNoID)
	}
	name, err := k.namer.Name(k.call.Workspace, s, call.Owned{Endpoint: k.to.Endpoint.ID, ID: upstreamID})
	if err != nil {
		return nil, upstream.Fail(upstream.Internal, err)
	}
	return rawjson.Quote(name), nil
}

// maxID bounds a provider's id, in bytes: its name here must fit into a path.
const maxID = 512

// isID reports whether a provider's id can be asked about. Some texts in its
// place in a path would name something else: nothing names the list of what
// everybody made, and dots the folder above.
func isID(id string) bool {
	switch {
	case id == "", id == ".", id == "..", len(id) > maxID, !utf8.ValidString(id):
		return false
	}
	return !strings.ContainsFunc(id, unicode.IsControl)
}

func referenced(o *rawjson.Object) catalog.Surface {
	for _, r := range references {
		if o.Is(r.member) {
			return r.of
		}
	}
	return ""
}

// Event implements upstream.Codec. Nothing of this kind is streamed.
func (k *keeper) Event(sse.Event) (upstream.Piece, *upstream.Failure) {
	return upstream.Piece{}, upstream.Fail(upstream.WrongType, nil)
}

// End implements upstream.Codec.
func (k *keeper) End() ([]byte, *upstream.Failure) {
	return nil, upstream.Fail(upstream.WrongType, nil)
}

// Seen implements call.Meter. What a job uses is not known when it is
// submitted, and asking for it costs nothing.
func (k *keeper) Seen() call.Seen { return call.Seen{Finished: k.done, Kept: k.made} }
