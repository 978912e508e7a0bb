package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// reader collects what is wrong while it reads one object.
type reader struct {
	prefix     string
	violations []fault.Violation
}

func (r *reader) refuse(path, code, message string) {
	if path != "" {
		path = "." + path
	}
	r.violations = append(r.violations, fault.Violation{Path: r.prefix + path, Code: code, Message: message})
}

var errNotObject = errors.New("not an object")

// object calls member for each known member that is not null, in their order. One
// that stands twice is refused.
func (r *reader) object(raw json.RawMessage, path string, member func(string, json.RawMessage)) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var seen []string
	err := members(raw, func(key string, value json.RawMessage) {
		switch {
		case slices.Contains(seen, key):
			// Readers differ in which of two they believe, and one of them may lift
			// what the other restricts.
			r.refuse(strings.TrimPrefix(path+"."+key, "."), "duplicate", "must not stand twice")
		case !slices.Contains(knownFields[strings.TrimSuffix(r.prefix+"."+path, ".")], key):
			r.unknown(path, key)
		default:
			seen = append(seen, key)
			if string(value) != "null" {
				member(key, value)
			}
		}
	})
	if err != nil {
		r.refuse(path, "invalid_type", "want an object")
	}
}

// unknown refuses a member. Its name is repeated only when it looks like one.
func (r *reader) unknown(path, key string) {
	if len(key) > 64 || key == "" || strings.ContainsFunc(key, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		key = "?"
	}
	if path != "" {
		key = path + "." + key
	}
	r.refuse(key, string(fault.UnknownField), "is not a known field")
}

func members(raw json.RawMessage, each func(string, json.RawMessage)) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') {
		return errNotObject
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errNotObject
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		each(name, value)
	}
	_, err = dec.Token()
	return err
}

// knownFields are the members of each object.
var knownFields = map[string][]string{
	"provider": {
		"order", "only", "ignore", "allow_fallbacks", "sort", "require_parameters", "require_zero_data_retention",
		"zdr", "data_collection", "required_region", "max_price", "preferred_max_latency", "preferred_min_throughput",
		"cache_aware_routing",
	},
	"provider.max_price": {"input", "output", "prompt", "completion"},
	"routing":            {"mode", "session_affinity", "max_attempts"},
}

func (r *reader) text(value json.RawMessage) string {
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

func (r *reader) slug(key string, value json.RawMessage) string {
	s := r.text(value)
	if s == "" || len(s) > maxSlugLen {
		r.refuse(key, "invalid", "want a name of at most 128 characters")
		return ""
	}
	return strings.ToLower(s)
}

func (r *reader) slugs(key string, value json.RawMessage) []string {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		r.refuse(key, "invalid_type", "want a list of provider names")
		return nil
	}
	if len(items) > maxListedProviders {
		r.refuse(key, "too_many", "takes at most 64 providers")
		return nil
	}
	names := make([]string, 0, len(items))
	for i, item := range items {
		s := r.slug(key+"["+strconv.Itoa(i)+"]", item)
		names = append(names, s)
	}
	return names
}

func (r *reader) flag(key string, value json.RawMessage) *bool {
	var b bool
	switch string(value) {
	case "true":
		b = true
	case "false":
	default:
		r.refuse(key, "invalid_type", "want true or false")
		return nil
	}
	return &b
}

// set turns a restriction on; false never turns off what another member set.
func (r *reader) set(to *bool, key string, value json.RawMessage) {
	if b := r.flag(key, value); b != nil && *b {
		*to = true
	}
}

func (r *reader) mode(key string, value json.RawMessage, allowed ...policy.Mode) policy.Mode {
	m := policy.Mode(r.text(value))
	if slices.Contains(allowed, m) {
		return m
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	r.refuse(key, "invalid", "want one of "+strings.Join(names, ", "))
	return ""
}

func (r *reader) count(key string, value json.RawMessage, highest int) int {
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 1 || n > highest {
		r.refuse(key, "invalid", "want a whole number from 1 to "+strconv.Itoa(highest))
		return 0
	}
	return n
}

func (r *reader) number(key string, value json.RawMessage, highest float64) float64 {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(n > 0) || n > highest {
		r.refuse(key, "invalid", "want a number above 0 and at most "+strconv.FormatFloat(highest, 'f', -1, 64))
		return 0
	}
	return n
}
