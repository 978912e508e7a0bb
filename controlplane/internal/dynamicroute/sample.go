package dynamicroute

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// Sample is a made-up request to test a version with.
type Sample struct {
	Body          []byte // a JSON object; nil for none
	Headers       []byte // a JSON object of texts; nil for none
	Metadata      []byte // a JSON object; nil for that of the body
	WorkspaceTags []string
	KeyScopes     []string
	Endpoint      string
	Model         string // "" for that of the body
	SessionID     string
	UserID        string // "" for that of the body
	Subject       string // "" for the session, else the body's prompt_cache_key, else the user
	Usage         flow.Usage
}

// Facts reads a sample, or says which part of it cannot be read.
func (s Sample) Facts() (flow.Facts, error) {
	r := sampleFacts{s: s}
	var wrong []fault.Violation
	part := func(path string, raw []byte, into any, message string) {
		if raw == nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if d.Decode(into) != nil {
			wrong = append(wrong, fault.Violation{Path: "facts." + path, Code: "type", Message: message})
		}
	}
	part("body", s.Body, &r.body, "must be an object")
	part("metadata", s.Metadata, &r.metadata, "must be an object")
	var headers map[string]string
	part("headers", s.Headers, &headers, "must be an object of texts")
	if len(wrong) > 0 {
		return flow.Facts{}, fault.Invalid(wrong...)
	}
	r.headers = make(map[string]string, len(headers))
	for name, text := range headers {
		r.headers[strings.ToLower(name)] = text
	}
	if s.Metadata == nil {
		r.metadata, _ = r.body["metadata"].(map[string]any)
	}
	r.complete()
	return flow.Facts{Request: &r, Subject: r.s.Subject, Usage: s.Usage}, nil
}

// sampleFacts implements condition.Facts.
type sampleFacts struct {
	s              Sample
	body, metadata map[string]any
	headers        map[string]string // by names in lower case
}

// complete takes from the body what a gateway takes from there.
func (r *sampleFacts) complete() {
	fill := func(field *string, names ...string) {
		for _, name := range names {
			if text, ok := r.body[name].(string); ok && *field == "" {
				*field = text
			}
		}
	}
	fill(&r.s.Model, "model")
	fill(&r.s.UserID, "user")
	if r.s.Subject == "" {
		r.s.Subject = r.s.SessionID
	}
	fill(&r.s.Subject, "prompt_cache_key")
	if r.s.Subject == "" {
		r.s.Subject = r.s.UserID
	}
}

// Look implements condition.Facts.
func (r *sampleFacts) Look(s condition.Source, path string) []condition.Value {
	switch s {
	case condition.Body:
		return at(r.body, strings.Split(path, "."))
	case condition.Metadata:
		return at(r.metadata, []string{path})
	case condition.Header:
		if text, ok := r.headers[strings.ToLower(path)]; ok {
			return texts(text)
		}
	case condition.WorkspaceTag:
		return texts(r.s.WorkspaceTags...)
	case condition.KeyScope:
		return texts(r.s.KeyScopes...)
	case condition.Endpoint:
		return texts(r.s.Endpoint)
	case condition.Model:
		return texts(r.s.Model)
	case condition.SessionID:
		return texts(r.s.SessionID)
	case condition.UserID:
		return texts(r.s.UserID)
	}
	return nil
}

// at is what segments lead to, if anything.
func at(v any, segments []string) []condition.Value {
	for _, segment := range segments {
		switch in := v.(type) {
		case map[string]any:
			next, there := in[segment]
			if !there {
				return nil
			}
			v = next
		case []any:
			i, err := strconv.Atoi(segment)
			if err != nil || i < 0 || i >= len(in) || segment[0] == '+' {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	value, ok := condition.Of(v)
	if !ok {
		value = condition.Compound()
	}
	return []condition.Value{value}
}

func texts(list ...string) []condition.Value {
	var values []condition.Value
	for _, text := range slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" }) {
		values = append(values, condition.Text(text))
	}
	return values
}
