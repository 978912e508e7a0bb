package account

// How much of a credential is shown: enough for a person to tell two apart,
// too little to be of help to anyone else.
const (
	prefixLength = 6
	suffixLength = 4
	// showable: a shorter text would be shown in a good part.
	showable = 20
)

// Label is the beginning and the end of what names the credential: the key
// itself when that is long enough, else of an account the id that comes with
// its secret. Both may be empty.
func (a Account) Label() (prefix, suffix string) {
	switch {
	case a.AWS != nil:
		return ends(a.AWS.ID, 0)
	case a.Entra != nil:
		return ends(a.Entra.Client, 0)
	case a.Google != nil && a.Google.KeyID != "":
		return ends(a.Google.KeyID, 0)
	case a.Google != nil:
		return ends(a.Google.Email, 0)
	}
	return ends(a.Key.Text.Reveal(), showable)
}

// ends cuts text that has at least the given length; the ends never overlap.
// Accounts' ids come from JSON and may hold anything, so only what is visible
// ASCII is shown.
func ends(text string, least int) (prefix, suffix string) {
	if len(text) < max(least, prefixLength+suffixLength) {
		return "", ""
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return "", ""
		}
	}
	return text[:prefixLength], text[len(text)-suffixLength:]
}
