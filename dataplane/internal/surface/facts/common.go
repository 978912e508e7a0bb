package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// common reads the members that mean the same in every format whose body names
// the model.
func (r *reader) common(key string, value []byte) bool {
	switch key {
	case "model":
		r.request.Model = r.text("model", value, MaxNameBytes)
	case "stream":
		r.request.Stream = r.flag("stream", value)
	default:
		return r.own(key, value)
	}
	return true
}

// ownMembers are those that the gateway gives a meaning and no upstream sees.
var ownMembers = [...]string{"models", "provider", "routing", "session_id", "preset", "provider_options"}

// spelled refuses what is one of the gateway's own but for the case of its
// letters: it would be neither heeded nor passed on, and a restriction must not be
// ignored. The name as written has no other letters, and may be repeated.
func (r *reader) spelled(name string) bool {
	for _, right := range ownMembers {
		if name != right && strings.EqualFold(name, right) {
			r.wrong(name, string(fault.UnknownField), "is not a known field; write "+right)
			return false
		}
	}
	return true
}

// first refuses one of the gateway's own members that stood before.
func (r *reader) first(name string) bool {
	at := slices.Index(ownMembers[:], name)
	if at < 0 {
		return true
	}
	if r.stood&(1<<at) != 0 {
		r.wrong(name, duplicate, "must not stand twice")
		return false
	}
	r.stood |= 1 << at
	return true
}

// own reads the gateway's own members, which every format may have.
func (r *reader) own(key string, value []byte) bool {
	q := &r.request
	switch key {
	case "models":
		q.Models = r.names(value)
	case "session_id":
		q.SessionID = r.text("session_id", value, MaxIDBytes)
	case "metadata":
		if r.object("metadata", value) {
			var ok bool
			if r.metadata, ok = primitives(value); !ok {
				r.wrong("metadata", wrongType, "must hold only strings, numbers, booleans and null")
			}
		}
	case "provider":
		var wrong []fault.Violation
		q.Provider, wrong = decide.ParsePreferences(value)
		r.add(wrong...)
	case "routing":
		var wrong []fault.Violation
		q.Routing, wrong = decide.ParseRouting(value)
		r.add(wrong...)
	case "preset":
		r.text("preset", value, MaxNameBytes)
	case "provider_options":
		if r.object("provider_options", value) {
			r.distinct("provider_options", value)
		}
	default:
		return false
	}
	return true
}

// user reads the members by which OpenAI's formats name the end user.
func (r *reader) user(key string, value []byte) bool {
	switch key {
	case "user":
		r.request.EndUser = r.text("user", value, MaxIDBytes)
	case "safety_identifier":
		r.identifier = r.text("safety_identifier", value, MaxIDBytes)
	default:
		return false
	}
	return true
}

// parameter notes a member that an endpoint may or may not support. A null
// asks for nothing.
func (r *reader) parameter(name string, value []byte) {
	if !rawjson.IsNull(value) {
		r.request.Parameters = append(r.request.Parameters, name)
	}
}

func (r *reader) names(value []byte) []string {
	if rawjson.IsNull(value) {
		return nil
	}
	if value[0] != '[' {
		r.wrong("models", wrongType, "must be an array of model names")
		return nil
	}
	var out []string
	for a := rawjson.NewArray(value); a.Next() && len(out) <= MaxModels; {
		path := entry("models", len(out))
		if rawjson.IsNull(a.Value()) {
			r.wrong(path, wrongType, "must be a string")
		}
		out = append(out, r.text(path, a.Value(), MaxNameBytes))
	}
	return r.bounded(out)
}

// entry is the path of an entry of a list.
func entry(list string, at int) string { return list + "[" + strconv.Itoa(at) + "]" }

func (r *reader) bounded(names []string) []string {
	if len(names) > MaxModels {
		r.wrong("models", "too_many", "must name at most 25 models")
		return nil
	}
	return names
}
