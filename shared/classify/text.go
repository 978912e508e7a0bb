package classify

// Bounds of what is looked at, in bytes. The rest of a request does not count,
// however long it is.
const (
	MaxTurn   = 8 << 10 // of the last user turn: its first and its last half
	MaxFirst  = 2 << 10 // of the first user turn, when it is another
	MaxSystem = 2 << 10 // of the system instructions
)

// Text is what a classifier reads of a request. It is used and forgotten: no
// record holds any of it.
type Text struct {
	System string // the beginning
	First  string // of the first user turn; "" when there is one turn only
	Last   string // of the last user turn: its beginning and its end
	Turns  int    // of the user
	Bytes  int64  // of the whole conversation as it was sent

	// What the request certainly asks for.
	Tools      bool // tools are offered, and their use is not forbidden
	Structured bool // the answer must be JSON
}

// Excerpt cuts a text to at most limit bytes: its first and its last half, on
// the borders of characters.
func Excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	half := limit / 2
	return Head(text, half) + "\n…\n" + tail(text, half-len("\n…\n"))
}

// Head cuts a text to at most limit bytes, on the border of a character.
func Head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !starts(text[limit]) {
		limit--
	}
	return text[:limit]
}

func tail(text string, limit int) string {
	at := len(text) - limit
	for at < len(text) && !starts(text[at]) {
		at++
	}
	return text[at:]
}

// starts reports whether a byte begins a character of UTF-8.
func starts(b byte) bool { return b&0xc0 != 0x80 }
