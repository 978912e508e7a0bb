package workspace

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
)

const (
	maxEmail     = 254 // RFC 5321 §4.5.3.1.3, less the angle brackets
	maxTags      = 32
	maxTagLength = 64
)

var (
	slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	slugGap  = regexp.MustCompile(`[^a-z0-9]+`)
	tagForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9._:-]*$`)
)

// normalised trims and lowers what people type differently for the same thing.
func (n NewWorkspace) normalised() NewWorkspace {
	n.Name = strings.TrimSpace(n.Name)
	n.Owner.Email = strings.ToLower(strings.TrimSpace(n.Owner.Email))
	n.Owner.Name = strings.TrimSpace(n.Owner.Name)
	if n.Slug == "" {
		n.Slug = slugOf(n.Name)
	}
	return n
}

// Validate reports every violation.
func (n NewWorkspace) Validate() error {
	var v rule.Violations
	v.Name("name", n.Name)
	if !slugForm.MatchString(n.Slug) {
		v.Add("slug", rule.Malformed, "must be 1 to 63 lower-case letters, digits and inner hyphens")
	}
	if !validEmail(n.Owner.Email) {
		v.Add("owner.email", rule.Malformed, "must be an e-mail address")
	}
	v.Text("owner.name", n.Owner.Name, rule.MaxName)
	return v.Err()
}

// Validate reports every violation.
func (p Patch) Validate() error {
	var v rule.Violations
	if p.Name != nil {
		v.Name("name", *p.Name)
	}
	if p.Tags != nil {
		v.Strings("tags", *p.Tags, maxTags, maxTagLength, tagForm.MatchString)
	}
	return v.Err()
}

func (p Patch) apply(w Workspace) Workspace {
	patch.Set(&w.Name, p.Name)
	if p.Tags != nil {
		w.Tags = slices.Sorted(slices.Values(*p.Tags))
	}
	return w
}

func slugOf(name string) string {
	slug := strings.Trim(slugGap.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(slug) > 63 {
		slug = strings.TrimRight(slug[:63], "-")
	}
	return slug
}

func validEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > maxEmail {
		return false
	}
	return !strings.ContainsAny(text, " \t\r\n\"")
}
