package sse

import "bytes"

// scanner finds the end of a block in bytes that grow. It goes on where it
// stopped, so that an event which arrives in a thousand reads is looked at once.
type scanner struct {
	at      int  // everything before it was looked at; a line starts here
	looked  int  // no line end in [at, looked)
	content bool // the block has a line that is not blank
	fields  bool // and one that is no comment
	bare    bool // the block is one line of JSON
	first   bool // the block is the stream's first
	cr      bool // the last line ended in a lone CR
	lines   int  // that are not blank
	from    int  // where the first of them begins
	to      int  // and ends
}

func (s *scanner) reset(first bool) { *s = scanner{first: first} }

// end returns the length of the block at the start of b, or 0 when more bytes
// are needed. Whether a block is complete depends on its bytes alone, never on
// how they arrived: a block whose lines end in CR ends at its second CR, and
// an LF after that belongs to the next block.
func (s *scanner) end(b []byte, eof bool) int {
	if s.first && s.at == 0 {
		if !eof && len(b) < len(bom) && bytes.HasPrefix(bom, b) {
			return 0
		}
		if bytes.HasPrefix(b, bom) {
			s.at = len(bom)
		}
		s.first = false
		s.looked = s.at
	}
	for {
		i := indexLineEnd(b[s.looked:])
		if i < 0 {
			s.looked = len(b)
			if eof && s.content && !s.fields && isBare(b[s.at:]) {
				return s.at
			}
			return 0
		}
		end := s.looked + i
		blank := end == s.at
		if !s.fields && isBare(b[s.at:end]) {
			if s.content {
				return s.at // comments stand by themselves
			}
			s.bare = true
		}
		next := end + 1
		cr := b[end] == '\r'
		if cr && (!blank || !s.content || !s.cr) {
			if next == len(b) && !eof {
				s.looked = end
				return 0 // an LF may follow
			}
			if next < len(b) && b[next] == '\n' {
				next, cr = next+1, false
			}
		}
		s.fields = s.fields || (!blank && b[s.at] != ':')
		if !blank {
			if s.lines++; s.lines == 1 {
				s.from, s.to = s.at, end
			}
		}
		s.at, s.looked, s.cr = next, next, cr
		if s.bare || (blank && s.content) {
			return next
		}
		s.content = s.content || !blank
	}
}

func indexLineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}
