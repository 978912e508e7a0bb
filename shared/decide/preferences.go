package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of the body's routing objects.
const (
	maxListedProviders = 64
	maxSlugLen         = 128
	maxLatency         = 10 * time.Minute
	maxAttempts        = 20
)

// ParsePreferences reads the body's "provider" object. Every unknown member
// is a violation: a misspelt restriction must not be ignored. Absent, empty
// and null input mean no preferences.
func ParsePreferences(raw json.RawMessage) (Preferences, []fault.Violation) {
	var p Preferences
	r := &reader{prefix: "provider"}
	r.object(raw, "", func(key string, value json.RawMessage) bool { return r.preference(&p, key, value) })
	return p, r.violations
}

// ParseRouting reads the body's "routing" object by the same rules.
func ParseRouting(raw json.RawMessage) (RoutingFields, []fault.Violation) {
	var f RoutingFields
	r := &reader{prefix: "routing"}
	r.object(raw, "", func(key string, value json.RawMessage) bool {
		switch key {
		case "mode":
			f.Mode = r.mode(key, value, policy.Balanced, policy.Price, policy.Latency, policy.Throughput)
		case "session_affinity":
			f.SessionAffinity = r.flag(key, value)
		case "max_attempts":
			f.MaxAttempts = r.count(key, value, maxAttempts)
		default:
			return false
		}
		return true
	})
	return f, r.violations
}

// preference reads one member of "provider"; false means that it is unknown.
// zdr, data_collection, and prompt and completion in max_price are what
// OpenRouter's clients send.
func (r *reader) preference(p *Preferences, key string, value json.RawMessage) bool {
	switch key {
	case "order":
		p.Order = r.slugs(key, value)
	case "only":
		p.Only = r.slugs(key, value)
	case "ignore":
		p.Ignore = r.slugs(key, value)
	case "allow_fallbacks":
		p.AllowFallbacks = r.flag(key, value)
	case "sort":
		p.Sort = r.mode(key, value, policy.Price, policy.Latency, policy.Throughput)
	case "require_parameters":
		r.set(&p.RequireParameters, key, value)
	case "require_zero_data_retention", "zdr":
		r.set(&p.RequireZDR, key, value)
	case "data_collection":
		r.dataCollection(p, key, value)
	case "required_region":
		p.Region = r.slug(key, value)
	case "max_price":
		r.object(value, key, func(name string, price json.RawMessage) bool { return r.maxPrice(p, key, name, price) })
	case "preferred_max_latency":
		p.PreferredMaxLatency = time.Duration(r.number(key, value, maxLatency.Seconds()) * float64(time.Second))
	case "preferred_min_throughput":
		p.PreferredMinThroughput = r.number(key, value, math.MaxInt32)
	case "cache_aware_routing":
		p.CacheAware = r.flag(key, value)
	default:
		return false
	}
	return true
}

func (r *reader) dataCollection(p *Preferences, key string, value json.RawMessage) {
	switch r.text(key, value) {
	case "deny":
		p.DenyTraining = true
	case "allow":
	default:
		r.refuse(key, "invalid", `want "allow" or "deny"`)
	}
}

func (r *reader) maxPrice(p *Preferences, parent, name string, value json.RawMessage) bool {
	var to **money.PerMillion
	switch name {
	case "input", "prompt":
		to = &p.MaxInputPrice
	case "output", "completion":
		to = &p.MaxOutputPrice
	default:
		return false
	}
	text := string(value)
	if value[0] == '"' && json.Unmarshal(value, &text) != nil {
		text = ""
	}
	price, err := money.ParsePerMillion(text)
	if err != nil {
		r.refuse(parent+"."+name, "invalid", "want USD per million tokens, zero or more, with at most 9 decimals, such as 2.50")
		return true
	}
	// Both spellings may be there: a restriction is never widened.
	if *to == nil || price < **to {
		*to = &price
	}
	return true
}

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

// object calls member for each member that is not null, in their order.
func (r *reader) object(raw json.RawMessage, path string, member func(string, json.RawMessage) bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	err := members(raw, func(key string, value json.RawMessage) {
		if string(value) == "null" {
			// null means "not set", but only where there is something to set.
			value = nil
		}
		at := len(r.violations)
		if value == nil {
			if !known(r.prefix, path, key) {
				r.unknown(path, key)
			}
			return
		}
		if !member(key, value) {
			r.violations = r.violations[:at]
			r.unknown(path, key)
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

// known reports whether an object has a member of this name.
func known(prefix, path, key string) bool {
	return slices.Contains(knownFields[strings.TrimSuffix(prefix+"."+path, ".")], key)
}

var knownFields = map[string][]string{
	"provider": {
		"order", "only", "ignore", "allow_fallbacks", "sort", "require_parameters", "require_zero_data_retention",
		"zdr", "data_collection", "required_region", "max_price", "preferred_max_latency", "preferred_min_throughput",
		"cache_aware_routing",
	},
	"provider.max_price": {"input", "output", "prompt", "completion"},
	"routing":            {"mode", "session_affinity", "max_attempts"},
}

func (r *reader) text(key string, value json.RawMessage) string {
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

func (r *reader) slug(key string, value json.RawMessage) string {
	s := r.text(key, value)
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
	m := policy.Mode(r.text(key, value))
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
