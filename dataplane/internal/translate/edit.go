package translate

import (
	"errors"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

var errNotObject = errors.New("body is not one sound JSON object")

// edits says what becomes of a request's body.
type edits struct {
	model    string    // of the upstream; "" when the body does not name it
	provider string    // slug: of provider_options only its own part goes on
	usage    bool      // usage in the stream is asked for
	drop     []string  // further members that this upstream does not see
	userOnly bool      // of metadata only user_id goes on: the format has no more
	add      string    // members put in front, as they are written
	rename   [2]string // a member's name, and what the upstream calls it
	file     string    // the upstream's id of the file that input_file_id means
	role     [2]string // a role of messages, and what the upstream calls it
	strict   bool      // members of messages and tools that it does not know are refused
	noIDs    bool      // calls and results of the Gemini format have no ids
	proofs   bool      // calls of the current turn must have one
	foreign  format    // of which there may be thoughts that its family cannot check
	unthink  bool      // the model cannot think on a budget

	lost []string // set by edit: the neutral names of what was left out
}

// believed are the members that the gateway reads and that decide what an
// upstream does. Some upstreams compare names without case (Go's encoding/json
// does), and would believe a "Model" beside the "model" that the gateway read.
var believed = believedNames()

func believedNames() [][]byte {
	names := [][]byte{
		[]byte("model"), []byte("stream"), []byte("stream_options"), []byte(dialect.ProviderOptions), []byte("input_file_id"),
	}
	for _, name := range dialect.GatewayOnly {
		names = append(names, []byte(name))
	}
	return names
}

const (
	askUsage     = `"stream_options":{"include_usage":true}`
	askUsageObj  = `{"include_usage":true}`
	askUsageTrue = `"include_usage":true`
)

// edit returns a copy of body with the edits made. Everything else keeps its
// bytes: white space, order, spelling of numbers and strings. A member that
// stands twice is edited twice, since the upstream may believe either.
func edit(body []byte, want *edits) ([]byte, error) {
	var s splices
	var hasModel, hasUsage bool
	o := rawjson.NewObject(body)
	cut := newCutter(&s, 0)
	for o.Next() {
		cut.next(&o)
		start, end := o.ValueSpan()
		keep := true
		switch {
		case o.Is("model") && want.model != "":
			hasModel = true
			s.Replace(start, end, rawjson.Quote(want.model))
		case want.usage && o.Is("stream_options"):
			hasUsage = true
			s.usage(body, start, end)
		case o.Is(dialect.ProviderOptions):
			own := ownOptions(o.Value(), want.provider)
			if keep = own != nil; keep {
				s.Replace(start, end, own)
			}
		case want.userOnly && o.Is("metadata"):
			own := userOf(o.Value())
			if keep = own != nil; keep {
				s.Replace(start, end, own)
			}
		case want.file != "" && o.Is("input_file_id"):
			s.Replace(start, end, rawjson.Quote(want.file))
		case want.rename[0] != "" && o.Is(want.rename[0]):
			s.Replace(o.KeyStart(), o.KeyStart()+len(o.Key())+2, rawjson.Quote(want.rename[1]))
		case o.Is("messages") && (want.role[0] != "" || want.strict):
			s.messages(o.Value(), start, want)
		case o.Is("tools") && want.strict:
			want.unmark(&s, o.Value(), start)
		case o.Is("messages") && want.foreign == messagesFormat:
			s.dropBlocks(o.Value(), start)
		case o.Is("input") && want.foreign == responsesFormat:
			s.dropItems(o.Value(), start, want.strict)
		case o.Is("contents"):
			s.contents(o.Value(), start, want)
		case o.Is("thinking") && want.unthink && hasType(o.Value(), "enabled"):
			keep = false
			want.lose("reasoning")
		default:
			keep = !isGatewayOnly(&o) && !isOne(&o, want.drop) && !o.Resembles(believed)
		}
		cut.done(&o, keep)
	}
	if !o.Whole() {
		return nil, errNotObject
	}
	cut.end()
	front := want.front(hasModel, hasUsage)
	if len(front) > 0 && cut.kept > 0 {
		front = append(front, ',')
	}
	return s.Apply(body, front, o.Start()+1), nil
}

// front is what the body lacks.
func (e *edits) front(hasModel, hasUsage bool) []byte {
	var front []byte
	put := func(member string) {
		if len(front) > 0 {
			front = append(front, ',')
		}
		front = append(front, member...)
	}
	if e.add != "" {
		put(e.add)
	}
	if e.model != "" && !hasModel {
		put(`"model":` + string(rawjson.Quote(e.model)))
	}
	if e.usage && !hasUsage {
		put(askUsage)
	}
	return front
}

func (e *edits) lose(name string) {
	if !slices.Contains(e.lost, name) {
		e.lost = append(e.lost, name)
	}
}

func isGatewayOnly(o *rawjson.Object) bool { return isOne(o, dialect.GatewayOnly) }

func isOne(o *rawjson.Object, names []string) bool {
	for _, name := range names {
		if o.Is(name) {
			return true
		}
	}
	return false
}

// userOf keeps of metadata what says who the end user is, nil when nothing
// does.
func userOf(value []byte) []byte {
	o := rawjson.NewObject(value)
	var own []byte
	for o.Next() {
		if o.Is("user_id") {
			own = append(append(append(own[:0], `{"user_id":`...), o.Value()...), '}')
		}
	}
	return own
}

// ownOptions keeps of provider_options what is for slug, nil when nothing is.
func ownOptions(value []byte, slug string) []byte {
	o := rawjson.NewObject(value)
	var own []byte
	for o.Next() {
		if !o.Is(slug) {
			continue
		}
		own = append(own[:0], '{')
		own = append(append(append(own, '"'), o.Key()...), `":`...)
		own = append(append(own, o.Value()...), '}')
	}
	return own
}
