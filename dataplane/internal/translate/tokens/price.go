package tokens

// price is what a run costs, in thousandths of a token.
type price struct {
	first int64 // the run, up to free characters
	more  int64 // every further character
	free  int32
}

// prices are those of all classes but the Latin alphabet.
var prices = [...]price{
	none:        {},
	latin:       {},
	digit:       {},
	space:       {},
	tab:         {first: 500, more: 500, free: 1},
	line:        {},
	punctuation: {first: 1000, more: 160, free: 1},
	cyrillic:    {first: 1000, more: 240, free: 4},
	greek:       {first: 1000, more: 450, free: 3},
	arabic:      {first: 1000, more: 330, free: 3},
	hebrew:      {first: 1000, more: 550, free: 3},
	indic:       {first: 1000, more: 310, free: 3},
	thai:        {first: 1000, more: 420, free: 2},
	hangul:      {first: 1000, more: 650, free: 1},
	kana:        {first: 750, more: 750, free: 1},
	han:         {first: 760, more: 760, free: 1},
	wide:        {first: 1000, more: 700, free: 1},
	dashes:      {first: 1000, more: 700, free: 1},
	symbol:      {first: 1800, more: 1500, free: 1},
}

// joined is what one punctuation mark before a word costs: vocabularies have
// many words together with one, such as ".get".
const joined = 650

// attachedLength is what a word costs that follows something else than white
// space, by its length.
var attachedLength = [...]int64{0, 1000, 1000, 1030, 1180, 1180, 1200, 1250, 1500, 1800, 2050, 2100, 2500, 2800}

// end adds what the run costs that ends before one of class k.
func (c *Counter) end(k class) {
	r := &c.run
	switch r.class {
	case none:
	case latin:
		c.endWord()
	case digit:
		c.milli += int64(r.n+2) / 3 * 1000
	case space:
		if r.n > 1 && k != line {
			c.milli += 1000
		}
		if k == digit {
			c.milli += 1000
		}
	case line:
		if c.before != punctuation {
			c.milli += 1000
		}
	case punctuation:
		if k == latin && r.n == 1 {
			c.milli += joined
			return
		}
		fallthrough
	default:
		p := &prices[r.class]
		c.milli += p.first + max(0, int64(r.n-p.free))*p.more
	}
}

// endWord adds a Latin word.
func (c *Counter) endWord() {
	r := &c.run
	c.words++
	if r.marked {
		c.marked++
	}
	switch c.before {
	case none, space, line, tab:
		c.milli += 1000
		c.excess += int64(max(0, min(r.n, 24)-4))
		if r.n <= 4 && isEnglish(r.letter, r.n) {
			c.english++
		}
	default:
		c.attached++
		n := int(r.n)
		if n < len(attachedLength) {
			c.milli += attachedLength[n]
		} else {
			c.milli += attachedLength[len(attachedLength)-1] + int64(n-len(attachedLength)+1)*350
		}
	}
}

// perLetter is what a letter beyond the fourth of a Latin word costs. English
// words are found whole, those of languages with many marked letters least.
func (c *Counter) perLetter() int64 {
	if c.words == 0 {
		return 0
	}
	familiar := min(1000, 1000*c.english/c.words*7+1000*c.attached/c.words)
	marks := 1000 * c.marked / c.words
	foreign := int64(190)
	switch {
	case marks > 480:
		foreign = 440
	case marks > 250, 10*c.excess > 37*c.words:
		foreign = 370
	case marks > 50:
		foreign = 140
	}
	return (familiar*25 + (1000-familiar)*foreign) / 1000
}

// isEnglish reports whether a word of up to four letters is one of those that
// make up a fifth of English and are rare in other languages.
func isEnglish(letter uint32, n int32) bool {
	switch n {
	case 2:
		return letter == 'o'<<8|'f' || letter == 't'<<8|'o' || letter == 'i'<<8|'t' || letter == 'i'<<8|'s'
	case 3:
		return letter == 't'<<16|'h'<<8|'e' || letter == 'a'<<16|'n'<<8|'d' || letter == 'f'<<16|'o'<<8|'r' || letter == 'y'<<16|'o'<<8|'u'
	case 4:
		return letter == 't'<<24|'h'<<16|'a'<<8|'t' || letter == 'w'<<24|'i'<<16|'t'<<8|'h' || letter == 't'<<24|'h'<<16|'i'<<8|'s'
	}
	return false
}
