package translate

import "github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"

// cutter removes members of one object, each with the comma that goes with it.
// Its calls go with a walk over the object: next before a member is looked at,
// done after it, end after the last.
type cutter struct {
	s    *splices
	at   int // where the object stands in the text
	kept int
	open int // start of removed members before the first kept one, -1
	last int // end of the last member
}

func newCutter(s *splices, at int) cutter { return cutter{s: s, at: at, open: -1} }

func (c *cutter) next(o *rawjson.Object) {
	if c.open >= 0 {
		c.s.Cut(c.at+c.open, c.at+o.KeyStart())
		c.open = -1
	}
	_, c.last = o.ValueSpan()
}

func (c *cutter) done(o *rawjson.Object, keep bool) {
	switch {
	case keep:
		c.kept++
	case c.kept == 0:
		c.open = o.KeyStart()
	default:
		c.s.Cut(c.at+o.Comma(), c.at+c.last)
	}
}

func (c *cutter) end() {
	if c.open >= 0 {
		c.s.Cut(c.at+c.open, c.at+c.last)
	}
}

// listCutter does the same with the elements of a list.
type listCutter struct {
	s    *splices
	at   int
	kept int
	open int // start of removed elements before the first kept one, -1
	last int // end of the last element
}

func newListCutter(s *splices, at int) listCutter { return listCutter{s: s, at: at, open: -1} }

// next takes an element, and is called before anything in it is edited.
func (c *listCutter) next(a *rawjson.Array, keep bool) {
	start, end := a.ValueSpan()
	switch {
	case keep && c.open >= 0:
		c.s.Cut(c.at+c.open, c.at+start)
		c.open = -1
	case keep:
	case c.kept > 0:
		c.s.Cut(c.at+c.last, c.at+end)
	case c.open < 0:
		c.open = start
	}
	if keep {
		c.kept++
	}
	c.last = end
}

func (c *listCutter) end() {
	if c.open >= 0 {
		c.s.Cut(c.at+c.open, c.at+c.last)
	}
}
