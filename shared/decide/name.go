package decide

import (
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// maxNameLen bounds a model name as a caller may write it.
const maxNameLen = 256

// Name is a model name taken apart. Exactly one of Model and Preset is set.
type Name struct {
	Provider string      // qualifier as written, "" when there is none
	Model    string      // canonical id, alias or bare name, :free included
	Preset   string      // without the @
	Mode     policy.Mode // of the suffix, "" when there is none
}

// ParseName takes a model name apart:
//
//	[provider:]author/model[:free][:nitro|:cheap|:fast]
//	name[:free][:nitro|:cheap|:fast]
//	@preset
//
// The first colon before the first slash ends the provider; without a slash a
// colon starts a suffix. The refusal is nil for a well-formed name.
func ParseName(text string) (Name, *fault.Error) {
	if len(text) > maxNameLen {
		return Name{}, badName("a model name has at most 256 characters")
	}
	if slug, ok := strings.CutPrefix(text, "@"); ok {
		if slug == "" {
			return Name{}, badName("a preset is named after the @")
		}
		return Name{Preset: slug}, nil
	}
	var n Name
	rest := text
	slash, colon := strings.IndexByte(text, '/'), strings.IndexByte(text, ':')
	if slash >= 0 && colon >= 0 && colon < slash {
		n.Provider, rest = text[:colon], text[colon+1:]
		if !validQualifier(n.Provider) {
			return Name{}, refuseName(fault.InvalidProviderSlug,
				"the provider before the colon is written in letters, digits, dots, underscores and hyphens")
		}
	}
	for {
		i := strings.LastIndexByte(rest, ':')
		if i < 0 {
			break
		}
		mode, ok := suffixMode(rest[i+1:])
		if !ok {
			break
		}
		if n.Mode != "" {
			return Name{}, badName("a model name takes one of :nitro, :cheap and :fast")
		}
		n.Mode, rest = mode, rest[:i]
	}
	if rest == "" || strings.HasPrefix(rest, "/") || strings.HasSuffix(rest, "/") || strings.HasPrefix(rest, ":") {
		return Name{}, badName("want author/model, a model's bare name, or @preset")
	}
	n.Model = rest
	return n, nil
}

// renamed is a name with another model in it, at the same provider and with the
// same suffix.
func renamed(text, model string) string {
	name, refusal := ParseName(text)
	if refusal != nil || name.Model == "" {
		return text
	}
	before := 0
	if name.Provider != "" {
		before = len(name.Provider) + 1
	}
	return text[:before] + model + text[before+len(name.Model):]
}

// suffixMode is the routing mode that a suffix stands for.
func suffixMode(suffix string) (policy.Mode, bool) {
	switch suffix {
	case "nitro":
		return policy.Throughput, true
	case "cheap":
		return policy.Price, true
	case "fast":
		return policy.Latency, true
	}
	return "", false
}

// unknownSuffix finds a suffix that nothing gives a meaning to.
func unknownSuffix(model string) bool {
	return strings.Contains(strings.TrimSuffix(model, catalog.FreeSuffix), ":")
}

func validQualifier(text string) bool {
	if text == "" || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		c := text[i] | 0x20
		letter := c >= 'a' && c <= 'z' || text[i] >= '0' && text[i] <= '9'
		if !letter && (i == 0 || text[i] != '.' && text[i] != '_' && text[i] != '-') {
			return false
		}
	}
	return true
}

func badName(message string) *fault.Error { return refuseName(fault.InvalidModelName, message) }

func refuseName(reason fault.Reason, message string) *fault.Error {
	return fault.Invalid(fault.Violation{Path: "model", Code: string(reason), Message: message}).Because(reason)
}
