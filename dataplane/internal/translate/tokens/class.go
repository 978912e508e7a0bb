package tokens

// class is a kind of character.
type class uint8

const (
	none class = iota
	latin
	digit
	space
	tab
	line
	punctuation
	cyrillic
	greek
	arabic
	hebrew
	indic
	thai
	hangul
	kana
	han
	wide   // punctuation of Chinese and Japanese
	dashes // general punctuation: dashes, curly quotes
	symbol // emoji and whatever else
)

// ascii is the class of each ASCII character.
var ascii = func() (table [256]class) {
	for b := range table {
		switch c := byte(b); {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			table[b] = latin
		case '0' <= c && c <= '9':
			table[b] = digit
		case c == ' ':
			table[b] = space
		case c == '\t':
			table[b] = tab
		case c == '\n', c == '\r':
			table[b] = line
		default:
			table[b] = punctuation
		}
	}
	return table
}()

// ranges are the classes of the characters beyond ASCII, up to and including
// last, in order (https://www.unicode.org/Public/UCD/latest/ucd/Blocks.txt).
var ranges = []struct {
	last  rune
	class class
}{
	{0x00A0, space},
	{0x00BF, dashes},
	{0x024F, latin},
	{0x02FF, symbol},
	{0x036F, latin}, // combining marks
	{0x03FF, greek},
	{0x052F, cyrillic},
	{0x058F, greek}, // Armenian: as dear
	{0x05FF, hebrew},
	{0x08FF, arabic},
	{0x0DFF, indic},
	{0x0EFF, thai},
	{0x10FF, greek},
	{0x11FF, hangul},
	{0x1DFF, symbol},
	{0x1EFF, latin},
	{0x1FFF, greek},
	{0x206F, dashes},
	{0x2FFF, symbol},
	{0x303F, wide},
	{0x30FF, kana},
	{0x312F, han},
	{0x318F, hangul},
	{0x33FF, wide},
	{0x9FFF, han},
	{0xABFF, symbol},
	{0xD7FF, hangul},
	{0xF8FF, symbol},
	{0xFAFF, han},
	{0xFB4F, hebrew},
	{0xFDFF, arabic},
	{0xFE6F, symbol},
	{0xFEFF, arabic},
	{0xFFEF, wide},
	{0x1FFFF, symbol},
	{0x3FFFF, han},
}

// twoBytes are the classes of the characters that UTF-8 writes in two bytes.
var twoBytes = func() (table [0x800]class) {
	for r := range table {
		table[r] = classOf(rune(r))
	}
	return table
}()

func classOf(r rune) class {
	// The scripts that whole texts are written in come first.
	switch {
	case 0x4E00 <= r && r <= 0x9FFF:
		return han
	case 0xAC00 <= r && r <= 0xD7FF:
		return hangul
	}
	low, high := 0, len(ranges)
	for low < high {
		middle := (low + high) / 2
		if ranges[middle].last < r {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(ranges) {
		return symbol
	}
	return ranges[low].class
}
