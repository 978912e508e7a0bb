package dynamicroute

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

const maxSlug = 63

var (
	slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	slugGap  = regexp.MustCompile(`[^a-z0-9]+`)
)

// check returns the graph of p, where it has one, or every violation.
func (s *Service) check(ctx context.Context, ws id.Workspace, p Patch) (flow.Graph, []Warning, error) {
	var v rule.Violations
	if p.Name != nil {
		if utf8.RuneCountInString(*p.Name) > MaxName {
			v.Add("name", rule.TooLong, fmt.Sprintf("must have at most %d characters", MaxName))
		} else {
			v.Name("name", *p.Name)
		}
	}
	if p.Slug != nil && !slugForm.MatchString(*p.Slug) {
		v.Add("slug", rule.Malformed, "must be 1 to 63 lower-case letters, digits and inner hyphens")
	}
	if p.Description != nil {
		v.Text("description", *p.Description, MaxDescription)
	}
	if p.Status != nil && *p.Status != Active && *p.Status != Paused {
		v.Add("status", rule.NotAllowed, "must be active or paused")
	}
	v.Text("note", p.Note, MaxNote)
	if p.Config == nil {
		return flow.Graph{}, nil, v.Err()
	}
	g, warnings, err := s.read(ctx, ws, &v, p.Config)
	if err != nil {
		return g, nil, err
	}
	return g, warnings, v.Err()
}

// plainLetters writes the letters of Latin alphabets with those of a slug.
var plainLetters = strings.NewReplacer(
	"à", "a", "á", "a", "â", "a", "ã", "a", "ä", "a", "å", "a", "ā", "a", "ă", "a", "ą", "a", "æ", "ae",
	"ç", "c", "ć", "c", "č", "c", "ď", "d", "đ", "d", "ð", "d", "è", "e", "é", "e", "ê", "e", "ë", "e", "ē", "e", "ė", "e", "ę", "e", "ě", "e",
	"ğ", "g", "ì", "i", "í", "i", "î", "i", "ï", "i", "ī", "i", "į", "i", "ı", "i", "ļ", "l", "ľ", "l", "ł", "l",
	"ñ", "n", "ń", "n", "ņ", "n", "ň", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "ö", "o", "ø", "o", "ő", "o", "ō", "o", "œ", "oe",
	"ŕ", "r", "ř", "r", "ś", "s", "ş", "s", "š", "s", "ș", "s", "ß", "ss", "ţ", "t", "ť", "t", "ț", "t", "þ", "th",
	"ù", "u", "ú", "u", "û", "u", "ü", "u", "ū", "u", "ů", "u", "ű", "u", "ų", "u", "ý", "y", "ÿ", "y", "ź", "z", "ż", "z", "ž", "z",
)

// slugOf makes a slug of a name, "route" where the name has nothing to make
// one of.
func slugOf(name string) string {
	slug := strings.Trim(slugGap.ReplaceAllString(plainLetters.Replace(strings.ToLower(name)), "-"), "-")
	if len(slug) > maxSlug {
		slug = strings.TrimRight(slug[:maxSlug], "-")
	}
	if slug == "" {
		return "route"
	}
	return slug
}

// told adds to a slug that is taken what tells the route from others.
func told(slug string, route id.Route) string {
	const tail = 8 // of the random end of the id
	text := route.String()
	mark := "-" + text[len(text)-tail:]
	return strings.TrimRight(slug[:min(len(slug), maxSlug-len(mark))], "-") + mark
}
