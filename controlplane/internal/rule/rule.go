// Package rule owns the rules for input that several resources share, as
// violations to collect. Messages never repeat a submitted value. It knows
// nothing of any resource.
package rule

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Codes of the violations made here.
const (
	Required   = "required"
	TooLong    = "too_long"
	OutOfRange = "out_of_range"
	Malformed  = "malformed"
	NotAllowed = "not_allowed"
	InThePast  = "in_the_past"
	Duplicate  = "duplicate"
	// Contradiction is the code of a value that another field excludes.
	Contradiction = "contradiction"
)

// MaxName is the longest name, in characters.
const MaxName = 100

// Violations collects what is wrong with an input.
type Violations struct{ list []fault.Violation }

// Add notes one violation.
func (v *Violations) Add(path, code, message string) {
	v.list = append(v.list, fault.Violation{Path: path, Code: code, Message: message})
}

// Adopt notes violations that were found elsewhere.
func (v *Violations) Adopt(found ...fault.Violation) { v.list = append(v.list, found...) }

// Err is nil, or one validation_error over everything noted.
func (v *Violations) Err() error {
	if len(v.list) == 0 {
		return nil
	}
	return fault.Invalid(v.list...)
}

// Name checks a display name.
func (v *Violations) Name(path, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		v.Add(path, Required, "must not be empty")
	case !strings.ContainsFunc(name, shows):
		v.Add(path, Malformed, "must have a character that shows")
	case name != strings.TrimSpace(name):
		v.Add(path, Malformed, "must not begin or end with white space")
	default:
		v.Text(path, name, MaxName)
	}
}

// Text checks one line of text that may be empty.
func (v *Violations) Text(path, text string, longest int) {
	switch {
	case !utf8.ValidString(text), strings.ContainsFunc(text, unprintable), hides(text):
		v.Add(path, Malformed, "must be UTF-8 without control characters and invisible ones")
	case utf8.RuneCountInString(text) > longest:
		v.Add(path, TooLong, fmt.Sprintf("must have at most %d characters", longest))
	}
}

// shows reports whether anything of a character is seen.
func shows(r rune) bool {
	return !unprintable(r) && !unicode.IsSpace(r) && r != '\u2800' && // braille of no dot
		!unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// hides reports an invisible character, with which two texts look the same and
// differ. Those that writing needs may stand where they have an effect: what
// joins or parts letters and emojis, and what gives a sign its direction,
// behind a character beyond ASCII and with one after it.
func hides(text string) bool {
	var before rune
	for i, r := range text {
		if unicode.Is(unicode.Cf, r) {
			needed := '\u200c' <= r && r <= '\u200f' && before > unicode.MaxASCII && !unicode.Is(unicode.Cf, before)
			if !needed || i+utf8.RuneLen(r) == len(text) {
				return true
			}
		}
		before = r
	}
	return false
}

// unprintable reports what a name on a page, in a table or in a log must not
// have: control characters, line separators, and the mark that stands where a character was lost, such as
// half of a surrogate pair.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// Future checks an expiry; nil means that there is none.
func (v *Violations) Future(path string, at *time.Time, now time.Time) {
	if at != nil && !at.After(now) {
		v.Add(path, InThePast, "must be in the future")
	}
}

// Between checks a number.
func (v *Violations) Between(path string, n, low, high int) {
	if n < low || n > high {
		v.Add(path, OutOfRange, fmt.Sprintf("must be from %d to %d", low, high))
	}
}

// Strings checks a list: its length, the length of its members, that none is
// empty or twice there, and what ok says of each (nil for anything).
func (v *Violations) Strings(path string, list []string, most, longest int, ok func(string) bool) {
	v.each(path, list, most, longest, func(at, s string) {
		if ok != nil && !ok(s) {
			v.Add(at, NotAllowed, "is not a value that is known here")
		}
	})
}

// Models does so for ids of models and patterns of them.
func (v *Violations) Models(path string, list []string, most, longest int) {
	v.each(path, list, most, longest, func(at, s string) {
		if !ModelPattern(s) {
			v.Add(at, NotAllowed, modelForm)
		}
		v.Stars(at, s)
	})
}

// Stars checks that a pattern does not have so many * that it is dear to match;
// a run of them counts as one.
func (v *Violations) Stars(path, pattern string) {
	if strings.Count(policy.CollapseStars(pattern), "*") > policy.MaxPatternStars {
		v.Add(path, TooLong, fmt.Sprintf("must have at most %d *, each of which stands for any characters", policy.MaxPatternStars))
	}
}

// each checks a list, and hands the members with nothing wrong so far to rest.
func (v *Violations) each(path string, list []string, most, longest int, rest func(at, s string)) {
	if len(list) > most {
		v.Add(path, TooLong, fmt.Sprintf("must have at most %d entries", most))
		return
	}
	seen := make(map[string]bool, len(list))
	for i, s := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case s == "":
			v.Add(at, Required, "must not be empty")
		case len(s) > longest:
			v.Add(at, TooLong, fmt.Sprintf("must have at most %d characters", longest))
		case seen[s]:
			v.Add(at, Duplicate, "is in the list already")
		default:
			rest(at, s)
		}
		seen[s] = true
	}
}

// modelForm says what ModelPattern admits.
const modelForm = "must be a model's id such as openai/gpt-5, or a pattern such as openai/*, where * stands for any characters; " +
	"it has no spaces, quotes, commas, semicolons or backslashes"

// ModelPattern reports whether text can name models: an id such as
// "openai/gpt-5", or a pattern with *.
func ModelPattern(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"'\,;`, r)
	})
}
