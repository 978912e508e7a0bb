package preset

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
)

// maxLabel is the longest label, in characters.
const maxLabel = 100

// firstSemVer labels the first version where none is given.
const firstSemVer = "1.0.0"

// InvalidSemVer is the code of a violation of the form or the order of SemVer
// labels.
const InvalidSemVer = "invalid_semver_label"

// label is the label of version number, which is published at now. given is
// what the caller wants, earlier are the labels that there are, the latest
// first.
func label(v *rule.Violations, how Versioning, number int, given string, earlier []string, now time.Time) string {
	const path = "version_label"
	if how != SemVer && given != "" {
		v.Add(path, rule.NotAllowed, "is given with versioning semver only")
		return ""
	}
	switch how {
	case Sequential:
		return "v" + strconv.Itoa(number)
	case Date:
		return dated(earlier, now)
	case SemVer:
	}
	if given == "" && number == 1 {
		given = firstSemVer
	}
	wanted, ok := parseSemVer(given)
	switch {
	case given == "":
		v.Add(path, rule.Required, "is required with versioning semver, such as 1.2.0")
	case !ok:
		v.Add(path, InvalidSemVer, "must be a semantic version without build metadata, such as 1.2.0 or 2.0.0-rc.1")
	default:
		for _, l := range earlier {
			if there, ok := parseSemVer(l); ok && wanted.compare(there) <= 0 {
				v.Add(path, InvalidSemVer, "must be above every earlier version")
				break
			}
		}
	}
	return given
}

// dated is the UTC day, with .2, .3 and so on for further versions of it.
func dated(earlier []string, now time.Time) string {
	day := now.UTC().Format("2006.01.02")
	last := 0
	for _, l := range earlier {
		rest, ok := strings.CutPrefix(l, day)
		switch n, err := strconv.Atoi(strings.TrimPrefix(rest, ".")); {
		case !ok:
		case rest == "":
			last = max(last, 1)
		case err == nil:
			last = max(last, n)
		}
	}
	if last == 0 {
		return day
	}
	return fmt.Sprintf("%s.%d", day, last+1)
}

// semVer is a semantic version, see semver.org 2.0.0. Build metadata, which
// does not order versions, is not taken.
type semVer struct {
	core       [3]uint64
	prerelease []string
}

func parseSemVer(text string) (semVer, bool) {
	var s semVer
	if len(text) > maxLabel {
		return s, false
	}
	core, pre, has := strings.Cut(text, "-")
	parts := strings.Split(core, ".")
	if len(parts) != len(s.core) {
		return s, false
	}
	for i, part := range parts {
		n, ok := numeric(part)
		if !ok {
			return s, false
		}
		s.core[i] = n
	}
	if !has {
		return s, true
	}
	s.prerelease = strings.Split(pre, ".")
	for _, part := range s.prerelease {
		if !identifier(part) {
			return s, false
		}
	}
	return s, true
}

// numeric reads digits without a leading zero.
func numeric(part string) (uint64, bool) {
	if part == "" || len(part) > 1 && part[0] == '0' || strings.Trim(part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(part, 10, 64)
	return n, err == nil
}

// identifier reports a part of a pre-release.
func identifier(part string) bool {
	if part == "" || strings.ContainsFunc(part, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return false
	}
	if strings.Trim(part, "0123456789") != "" {
		return true
	}
	_, ok := numeric(part)
	return ok
}

// compare orders versions as section 11 of semver.org says.
func (s semVer) compare(o semVer) int {
	for i := range s.core {
		if c := cmp.Compare(s.core[i], o.core[i]); c != 0 {
			return c
		}
	}
	if len(s.prerelease) == 0 || len(o.prerelease) == 0 {
		return cmp.Compare(len(o.prerelease), len(s.prerelease)) // one without is above
	}
	for i := range min(len(s.prerelease), len(o.prerelease)) {
		if c := comparePart(s.prerelease[i], o.prerelease[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(s.prerelease), len(o.prerelease))
}

func comparePart(a, b string) int {
	na, oka := numeric(a)
	nb, okb := numeric(b)
	switch {
	case oka && okb:
		return cmp.Compare(na, nb)
	case oka:
		return -1
	case okb:
		return 1
	}
	return cmp.Compare(a, b)
}
