package conversation

import "strings"

// A proof of one family has to travel through the caller's format of another,
// and must not be taken for one of that family when it comes back. It says
// itself whose it is: "sb1.google.…".
const sealed = "sb1."

// Seal writes an opaque value of a family for a format of the family home.
func Seal(value string, of, home Origin) string {
	if value == "" || of == home || of == "" {
		return value
	}
	return sealed + string(of) + "." + value
}

// IsSealed reports what Seal wrote for a format of another family.
func IsSealed(value string) bool {
	_, of := Unseal(value, "")
	return of != ""
}

// Unseal reads what Seal wrote; anything else is of the family home.
func Unseal(value string, home Origin) (string, Origin) {
	rest, ok := strings.CutPrefix(value, sealed)
	if ok {
		if of, inner, found := strings.Cut(rest, "."); found {
			switch o := Origin(of); o {
			case OpenAI, Anthropic, Google:
				return inner, o
			}
		}
	}
	return value, home
}
