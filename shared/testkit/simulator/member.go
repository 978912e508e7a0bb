package simulator

import (
	"slices"

	"github.com/tidwall/gjson"
)

// gatewayMembers are what callers say to a gateway. No provider may see one.
var gatewayMembers = set(`models models[] provider routing session_id preset provider_options`)

// strict formats refuse members that they do not know.
type strict interface {
	// knows is the members of a request's body; nil is any.
	knows(x *exchange) map[string]bool
	// unknown is the refusal of another.
	unknown(path string) *refusal
}

// checkMembers refuses the gateway's own members everywhere, and under a
// prefix everything that the provider does not know.
func (x *exchange) checkMembers() *refusal {
	format := x.format()
	var known map[string]bool
	if x.platform != compatible {
		known = format.knows(x)
	}
	for _, name := range x.memberNames() {
		if gatewayMembers[name] || (known != nil && !known[name]) {
			return format.unknown(name)
		}
	}
	return nil
}

func (x *exchange) memberNames() []string {
	var names []string
	if x.form != nil {
		for name := range x.form.values {
			names = append(names, name)
		}
		for _, f := range x.form.files {
			names = append(names, f.field)
		}
		slices.Sort(names)
		return names
	}
	x.json.ForEach(func(k, _ gjson.Result) bool {
		names = append(names, k.Str)
		return true
	})
	return names
}

// unknownIn is the first member of v that is not listed, or "".
func unknownIn(v gjson.Result, known map[string]bool) string {
	found := ""
	v.ForEach(func(k, _ gjson.Result) bool {
		if !known[k.Str] {
			found = k.Str
		}
		return found == ""
	})
	return found
}
