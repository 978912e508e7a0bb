// Package tokens owns the estimate of how many tokens a text is, for answers
// of providers that report no usage. It reads a text once, in pieces of any
// size, in constant memory, and knows no model's vocabulary: the estimate is a
// formula over runs of one kind of character.
//
// # The formula
//
// Tokenizers first cut a text into words with the space before them, groups of
// up to three digits, runs of punctuation and of white space, and then cut
// each of these by a vocabulary. So do we, with a price for each run (in
// thousandths of a token in the code):
//
//   - A word of an alphabet is one token, and more for every letter beyond the
//     length up to which words are found whole in vocabularies: table scripts.
//   - For the Latin alphabet that price depends on the language. It is low when
//     the usual short English words, or words that hang together by
//     punctuation as in code, are many, and high when many words have letters
//     with marks: see Counter.perLetter.
//   - A new capital inside a word begins another, as in "camelCase".
//   - Han, Kana, Hangul and Thai are priced by the character.
//   - Digits are a token for three; a space before them is one of its own.
//   - A run of punctuation is one token and a part of one for every further
//     character; a line end after punctuation belongs to it.
//   - A single space belongs to the word that follows; more, and line ends, are
//     a token a run.
//
// The prices were fitted to o200k_base
// (https://github.com/openai/tiktoken), on texts other than those that the test
// holds the result to. Vocabularies of other families differ from it by up to
// a third, most for scripts other than Latin.
package tokens

import "unicode/utf8"

// Counter estimates the tokens of a text that comes in pieces. The zero value
// is ready. It is a value: a copy counts on its own.
type Counter struct {
	milli int64 // thousandths of a token, of all runs but the length of Latin words

	words    int64 // Latin
	attached int64 // of words, those that follow neither space nor line end
	english  int64 // of words, those that English is full of
	marked   int64 // of words, those with letters beyond ASCII
	excess   int64 // letters beyond the first four, of words that are not attached

	run    run
	before class // of the run before

	held  [utf8.UTFMax]byte // the start of a character that a piece ended in
	holds int8
}

// run is a run of characters of one class that has not ended.
type run struct {
	class  class
	n      int32  // characters
	letter uint32 // the last four letters of a Latin word, in lower case
	lower  bool   // the last one was a lower-case letter
	marked bool
}

// Of estimates a whole text.
func Of(text string) int64 {
	var c Counter
	add(&c, text)
	return c.Tokens()
}

// Add takes the next piece of the text. A piece may end inside a character.
func (c *Counter) Add(text []byte) { add(c, text) }

// AddString is Add for a string.
func (c *Counter) AddString(text string) { add(c, text) }

// Tokens returns the estimate for what was added so far.
func (c *Counter) Tokens() int64 {
	done := *c
	done.end(none)
	milli := done.milli + done.excess*done.perLetter()
	if milli > 0 && milli < 1000 {
		return 1
	}
	return (milli + 500) / 1000
}

func add[T string | []byte](c *Counter, text T) {
	i := 0
	for c.holds > 0 && i < len(text) {
		c.hold(text[i])
		i++
	}
	for i < len(text) {
		b := text[i]
		if b >= utf8.RuneSelf {
			k, size := beyond(text[i:])
			if size == 0 {
				c.holds = int8(copy(c.held[:], text[i:]))
				return
			}
			c.letter(k)
			i += size
			continue
		}
		k := ascii[b]
		if k == latin {
			i = word(c, text, i)
			continue
		}
		if k != c.run.class {
			c.next(k)
		}
		c.run.n++
		i++
	}
}

// word takes the ASCII letters that begin at text[i], up to a new capital.
func word[T string | []byte](c *Counter, text T, i int) int {
	if c.run.class != latin || c.run.lower && text[i] < 'a' {
		c.next(latin)
	}
	from, letter, lower := i, c.run.letter, false
	for ; i < len(text); i++ {
		b := text[i]
		if ascii[b] != latin || lower && b < 'a' {
			break
		}
		letter, lower = letter<<8|uint32(b|0x20), b >= 'a'
	}
	c.run.letter, c.run.lower = letter, lower
	c.run.n += int32(i - from)
	return i
}

// beyond returns the class of the character that text begins with, which is
// not ASCII, and its size in bytes: 0 when the text ends inside it.
func beyond[T string | []byte](text T) (class, int) {
	b := text[0]
	switch {
	case len(text) > 1 && 0xC2 <= b && b < 0xE0 && text[1]&0xC0 == 0x80:
		return twoBytes[uint16(b&0x1F)<<6|uint16(text[1]&0x3F)], 2
	case len(text) > 2 && 0xE1 <= b && b < 0xED && text[1]&0xC0 == 0x80 && text[2]&0xC0 == 0x80:
		return classOf(rune(b&0x0F)<<12 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)), 3
	}
	whole := string(text[:min(utf8.UTFMax, len(text))])
	if !utf8.FullRuneInString(whole) {
		return none, 0
	}
	r, size := utf8.DecodeRuneInString(whole)
	return classOf(r), size
}

// letter takes a character that is not ASCII.
func (c *Counter) letter(k class) {
	if k != c.run.class {
		c.next(k)
	}
	c.run.n++
	if k == latin {
		c.run.marked, c.run.lower, c.run.letter = true, true, 0
	}
}

// hold takes the next byte of a character that a piece ended in.
func (c *Counter) hold(b byte) {
	c.held[c.holds] = b
	c.holds++
	if held, n := c.held, c.holds; utf8.FullRune(held[:n]) {
		c.holds = 0
		add(c, held[:n])
	}
}

// next ends the run and begins one of class k.
func (c *Counter) next(k class) {
	c.end(k)
	c.before = c.run.class
	c.run = run{class: k}
}
