package upstream

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage is how much of an upstream's message is kept, in bytes.
const maxMessage = 2 << 10

var (
	urls = regexp.MustCompile(`(?i)[a-z0-9+.-]*://[^\s"'<>)\]}]*`)
	// The names that clouds have for what an account owns, and addresses of mail,
	// which service accounts have.
	resources = regexp.MustCompile(`(?i)\barn:aws[a-z-]*:[^\s"'<>)\]}]+|\bprojects/[a-z0-9.:_-]+|\borg-[A-Za-z0-9]{8,}|[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}`)
	// Host names with a port, and addresses: what a proxy's error page tells of
	// its insides.
	hosts = regexp.MustCompile(`(?i)\b(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[a-z0-9-]+(?:\.[a-z0-9-]+)+:\d{2,5}|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|local|svc|cluster|corp|lan)\b)`)
	// Known prefixes of keys, headers that carry one, and any long run that mixes
	// letters and digits as only generated text does.
	keys = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+\S+|\b(?:sk|pk|rk|gsk|xai|sb|key|api|ghp|hf|AIza|AKIA|ASIA|ABSK|ya29|eyJ)[-_.]?[A-Za-z0-9*_.-]{12,}`)
	// What stands behind the name of a secret is one, whatever it looks like.
	named = regexp.MustCompile(`(?i)\b((?:api|access|secret|private|subscription)[-_ ]?key|(?:access|auth|api|refresh|session)[-_ ]?token|client[-_ ]?secret|secret|passw(?:or)?d)(["'\x60]?\s*[:=]\s*["'\x60]?)[^\s"'\x60,;&)}\]]{6,}`)
	runs  = regexp.MustCompile(`[A-Za-z0-9_+/=*-]{28,}`)
)

// Sanitize makes an upstream's message safe to show: URLs, hosts, key-like
// strings and control characters go, and what remains is at most 2 KiB.
func Sanitize(message string) string {
	if len(message) > 4*maxMessage {
		message = message[:4*maxMessage]
	}
	message = strings.ToValidUTF8(message, "")
	message = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, message)
	message = urls.ReplaceAllString(message, "[url removed]")
	message = resources.ReplaceAllString(message, "[name removed]")
	message = keys.ReplaceAllString(message, "[removed]")
	message = named.ReplaceAllString(message, "$1$2[removed]")
	message = runs.ReplaceAllStringFunc(message, func(run string) string {
		if generated(run) {
			return "[removed]"
		}
		return run
	})
	message = hosts.ReplaceAllString(message, "[host removed]")
	return strings.TrimSpace(cut(message, maxMessage))
}

// generated tells a random string from long words joined by underscores.
func generated(run string) bool {
	digits := strings.ContainsAny(run, "0123456789*")
	letters := strings.ContainsFunc(run, unicode.IsLetter)
	return digits && letters || strings.Count(run, "*") > 3
}

// cut shortens s to at most n bytes at a rune boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

var words = regexp.MustCompile(`^[A-Za-z0-9_.:\[\] -]{1,96}$`)

// sanitizeWord keeps a code, type or parameter name, and nothing that could be
// anything else.
func sanitizeWord(s string) string {
	if !words.MatchString(s) || Sanitize(s) != s {
		return ""
	}
	return s
}
