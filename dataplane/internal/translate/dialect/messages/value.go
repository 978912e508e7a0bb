package messages

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// The kinds of violation.
const (
	required  = "required"
	wrongType = "wrong_type"
	outOfSet  = "out_of_range"
)

// reader reads one request.
type reader struct {
	request    *conversation.Request
	violations []fault.Violation
}

func (r *reader) wrong(path, code, message string) {
	r.violations = append(r.violations, fault.Violation{Path: path, Code: code, Message: message})
}

// text reads an optional string.
func (r *reader) text(path string, v gjson.Result) string {
	switch v.Type {
	case gjson.String:
		return v.Str
	case gjson.Null:
	default:
		r.wrong(path, wrongType, "must be a string")
	}
	return ""
}

// need reads a string that must be there. It may be empty.
func (r *reader) need(path string, v gjson.Result) string {
	if v.Type == gjson.Null {
		r.wrong(path, required, "is required")
		return ""
	}
	return r.text(path, v)
}

func (r *reader) number(path string, v gjson.Result) conversation.Number {
	switch v.Type {
	case gjson.Number:
		return conversation.Number(v.Raw)
	case gjson.Null:
	default:
		r.wrong(path, wrongType, "must be a number")
	}
	return ""
}

// whole reads an optional whole number of at least least.
func (r *reader) whole(path string, v gjson.Result, least int64) (int64, bool) {
	if v.Type == gjson.Null {
		return 0, false
	}
	n, err := strconv.ParseInt(v.Raw, 10, 64)
	switch {
	case v.Type != gjson.Number:
		r.wrong(path, wrongType, "must be a whole number")
	case err != nil || n < least:
		r.wrong(path, outOfSet, "must be a whole number of at least "+strconv.FormatInt(least, 10))
	default:
		return n, true
	}
	return 0, false
}

func (r *reader) flag(path string, v gjson.Result) *bool {
	switch v.Type {
	case gjson.True, gjson.False:
		yes := v.Bool()
		return &yes
	case gjson.Null:
	default:
		r.wrong(path, wrongType, "must be true or false")
	}
	return nil
}

// object reports whether an optional member is an object that is there.
func (r *reader) object(path string, v gjson.Result) bool {
	if v.Type == gjson.Null {
		return false
	}
	if !v.IsObject() {
		r.wrong(path, wrongType, "must be an object")
		return false
	}
	return true
}

// elements calls each for every element of an optional array.
func (r *reader) elements(path string, v gjson.Result, each func(path string, v gjson.Result)) {
	switch {
	case v.Type == gjson.Null:
	case !v.IsArray():
		r.wrong(path, wrongType, "must be an array")
	default:
		i := 0
		v.ForEach(func(_, element gjson.Result) bool {
			each(path+"."+strconv.Itoa(i), element)
			i++
			return true
		})
	}
}

// cache reads a cache_control.
func (r *reader) cache(path string, v gjson.Result) conversation.Cache {
	if !r.object(path, v) {
		return ""
	}
	if r.need(path+".type", v.Get("type")) != "ephemeral" {
		r.wrong(path+".type", outOfSet, "must be ephemeral")
		return ""
	}
	switch ttl := r.text(path+".ttl", v.Get("ttl")); ttl {
	case "", "5m":
		return conversation.Cache5m
	case "1h":
		return conversation.Cache1h
	}
	r.wrong(path+".ttl", outOfSet, "must be 5m or 1h")
	return ""
}
