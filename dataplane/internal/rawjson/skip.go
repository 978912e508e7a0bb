package rawjson

// MaxDepth is how deep values may nest. The skipper keeps one bit for each
// level, so that a body of brackets costs no stack.
const MaxDepth = 1024

// Skip returns the offset after the value that starts at b[i], or -1 when no
// sound value starts there.
func Skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	if b[i] != '{' && b[i] != '[' {
		return scalar(b, i)
	}
	return nested(b, i)
}

// nested skips an object or array without recursion.
func nested(b []byte, i int) int {
	var objects [MaxDepth / 64]uint64 // 1: the level is an object
	depth := 0
	for {
		// A value starts at i.
		if i >= len(b) {
			return -1
		}
		if c := b[i]; c == '{' || c == '[' {
			if depth == MaxDepth {
				return -1
			}
			bit := uint64(1) << (depth & 63)
			objects[depth>>6] &^= bit
			if c == '{' {
				objects[depth>>6] |= bit
			}
			depth++
			i = space(b, i+1)
			if i >= len(b) {
				return -1
			}
			if b[i] != c+2 { // ASCII: the closing bracket is two after the opening
				if c == '{' {
					if i = key(b, i); i < 0 {
						return -1
					}
				}
				continue
			}
			i++
			depth--
		} else if i = scalar(b, i); i < 0 {
			return -1
		}
		// A value ended before i: close levels or go on.
		var again bool
		if i, depth, again = closeLevels(b, i, depth, &objects); !again {
			return i
		}
	}
}

// closeLevels takes the brackets that close after a value and the comma that
// follows. again says that another value starts at the offset it returns.
func closeLevels(b []byte, i, depth int, objects *[MaxDepth / 64]uint64) (at, level int, again bool) {
	for depth > 0 {
		i = space(b, i)
		if i >= len(b) {
			return -1, 0, false
		}
		object := objects[(depth-1)>>6]>>((depth-1)&63)&1 == 1
		switch c := b[i]; {
		case c == ',':
			i = space(b, i+1)
			if object {
				if i = key(b, i); i < 0 {
					return -1, 0, false
				}
			}
			return i, depth, true
		case c == '}' && object, c == ']' && !object:
			i++
			depth--
		default:
			return -1, 0, false
		}
	}
	return i, 0, false
}

// key skips a member's name, its colon and white space.
func key(b []byte, i int) int {
	if i = str(b, i); i < 0 {
		return -1
	}
	if i = space(b, i); i >= len(b) || b[i] != ':' {
		return -1
	}
	return space(b, i+1)
}

func scalar(b []byte, i int) int {
	switch c := b[i]; {
	case c == '"':
		return str(b, i)
	case c == 't':
		return literal(b, i, "true")
	case c == 'f':
		return literal(b, i, "false")
	case c == 'n':
		return literal(b, i, "null")
	case c == '-' || isDigit(c):
		return number(b, i)
	}
	return -1
}

func literal(b []byte, i int, want string) int {
	if len(b)-i < len(want) || string(b[i:i+len(want)]) != want {
		return -1
	}
	return i + len(want)
}

func number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	if i == start || (b[start] == '0' && i > start+1) {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		start = i + 1
		if start < len(b) && (b[start] == '+' || b[start] == '-') {
			start++
		}
		if i = digits(b, start); i == start {
			return -1
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
