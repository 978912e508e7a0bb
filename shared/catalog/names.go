package catalog

import (
	"strings"
	"time"
)

// FreeSuffix ends the canonical id of a model that costs nothing.
const FreeSuffix = ":free"

// ReservedAuthor is the author of the names that routing gives a meaning of
// its own. No catalog may hold a model by these names.
const ReservedAuthor = "signalbox"

// Reserved names of ReservedAuthor.
const (
	AutoModel = ReservedAuthor + "/auto"
	FreeModel = ReservedAuthor + "/free"
)

// Free reports whether the model's id promises that it costs nothing.
func (m *Model) Free() bool { return strings.HasSuffix(m.ID, FreeSuffix) }

// BareName is the part of the canonical id after the author.
func (m *Model) BareName() string {
	_, name, _ := strings.Cut(m.ID, "/")
	return name
}

// StateAt is the model's lifecycle state at a time: a model past its
// retirement date is retired, whatever its state says.
func (m *Model) StateAt(now time.Time) LifecycleState {
	l := &m.Lifecycle
	switch {
	case l.State == Retired, l.RetiresAt != nil && !now.IsZero() && !now.Before(*l.RetiresAt):
		return Retired
	case l.State == Deprecated, l.DeprecatedAt != nil && !now.IsZero() && !now.Before(*l.DeprecatedAt):
		return Deprecated
	}
	return Active
}

// StateUntil is when the model's lifecycle state may change after now by itself;
// zero for never.
func (m *Model) StateUntil(now time.Time) (until time.Time) {
	for _, at := range [...]*time.Time{m.Lifecycle.DeprecatedAt, m.Lifecycle.RetiresAt} {
		if at != nil && at.After(now) && (until.IsZero() || at.Before(until)) {
			until = *at
		}
	}
	return until
}

// EndpointID is the id of a model's endpoint at a provider, in a region or in
// none.
func EndpointID(provider, modelID, region string) string {
	id := provider + ":" + modelID
	if region != "" {
		id += "@" + region
	}
	return id
}

// ValidSlug reports whether text has the form of a provider slug: lower-case
// letters, digits and inner hyphens, at most 64.
func ValidSlug(text string) bool {
	if text == "" || len(text) > 64 || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !lowerAlnum(c) && c != '-' {
			return false
		}
	}
	return true
}

// ValidModelID reports whether text has the form of a canonical model id:
// author/model in lower-case letters, digits, dots, hyphens and underscores,
// at most 128, with nothing after it but :free.
func ValidModelID(text string) bool {
	author, name, ok := strings.Cut(strings.TrimSuffix(text, FreeSuffix), "/")
	return ok && len(text) <= 128 && validName(author) && validName(name)
}

// validAlias allows what clients send for a model: a bare name or author/name.
func validAlias(text string) bool {
	return len(text) <= 128 && (validName(text) || ValidModelID(text))
}

func validName(text string) bool {
	if text == "" || !lowerAlnum(text[0]) {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !lowerAlnum(c) && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

func lowerAlnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
