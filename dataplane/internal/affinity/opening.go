package affinity

import (
	"encoding/binary"
	"hash"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

const (
	// hashedBytes bounds what is hashed of one opening: of more, images and files
	// above all, the length stands for the rest. Two openings of one workspace
	// that are taken for the same share a pin, which does no harm.
	hashedBytes = 256 << 10
	// promptBytes of a prompt that grows with the conversation are its opening:
	// about the 1024 tokens under which no provider caches.
	promptBytes = 4 << 10
)

// digest hashes what stays the same from turn to turn, and leaves out what does
// not: cache marks, which clients move along, ids that come with an echo, and
// whether one text is written as a string or as the only part of a list.
type digest struct {
	hash hash.Hash
	size [binary.MaxVarintLen64]byte
	used int
}

func (d *digest) reset() {
	d.hash.Reset()
	d.used = 0
}

// field hashes a named value so that no two lists of fields give the same
// bytes.
func (d *digest) field(name string, value []byte) {
	d.bytes([]byte(name))
	d.bytes(value)
}

func (d *digest) bytes(b []byte) {
	d.hash.Write(d.size[:binary.PutUvarint(d.size[:], uint64(len(b)))])
	b = b[:min(len(b), hashedBytes-d.used)]
	d.used += len(b)
	d.hash.Write(b)
}

func (d *digest) opening(o *call.Opening) {
	d.mark("system")
	d.content(o.System)
	d.mark("tools")
	d.list(o.Tools)
	d.mark("turns")
	if o.Prompt {
		d.bytes(o.Turns[:min(len(o.Turns), promptBytes)])
		return
	}
	d.turns(o.Turns)
}

func (d *digest) mark(section string) { d.bytes([]byte(section)) }

// turns hashes messages up to the first of a user, or a value that stands for
// them.
func (d *digest) turns(value []byte) {
	if len(value) == 0 || value[0] != '[' {
		d.content(value)
		return
	}
	for a := rawjson.NewArray(value); a.Next(); {
		if d.turn(a.Value()) {
			return
		}
	}
}

// turn hashes one message and reports whether it is a user's. Gemini's need not
// say so.
func (d *digest) turn(value []byte) (user bool) {
	var role, parts bool
	d.mark("turn")
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case o.Is("role"):
			role, user = true, rawjson.String(o.Value()) == "user"
			d.field("role", o.Value())
		case o.Is("content"):
			d.content(o.Value())
		case o.Is("parts"):
			parts = true
			d.content(o.Value())
		case volatile(&o) || o.Is("type"):
		default:
			d.field(o.Name(), o.Value())
		}
	}
	return user || parts && !role
}

// content hashes a text, a list of parts, or Gemini's object around one.
func (d *digest) content(value []byte) {
	switch {
	case len(value) == 0:
	case value[0] == '"':
		d.text(value)
	case value[0] == '[':
		for a := rawjson.NewArray(value); a.Next(); {
			if rawjson.IsString(a.Value()) {
				d.text(a.Value())
				continue
			}
			d.part(a.Value())
		}
	case value[0] == '{':
		for o := rawjson.NewObject(value); o.Next(); {
			if o.Is("parts") {
				d.content(o.Value())
			} else if !o.Is("role") {
				d.field(o.Name(), o.Value())
			}
		}
	default:
		d.bytes(value)
	}
}

func (d *digest) text(value []byte) { d.field("text", value) }

// part hashes one part of a content. That it is text says its text.
func (d *digest) part(value []byte) {
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case o.Is("text") && rawjson.IsString(o.Value()):
			d.text(o.Value())
		case volatile(&o):
		case o.Is("type") && isText(o.Value()):
		default:
			d.field(o.Name(), o.Value())
		}
	}
}

// list hashes the tools.
func (d *digest) list(value []byte) {
	for a := rawjson.NewArray(value); a.Next(); {
		d.mark("tool")
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			switch {
			case volatile(&o):
			case o.Is("function"):
				for f := rawjson.NewObject(o.Value()); f.Next(); {
					if !volatile(&f) {
						d.field(f.Name(), f.Value())
					}
				}
			default:
				d.field(o.Name(), o.Value())
			}
		}
	}
}

// volatile are the members that come and go while the conversation stays the
// same.
func volatile(o *rawjson.Object) bool {
	return o.Is("cache_control") || o.Is("prompt_cache_breakpoint") || o.Is("id") || o.Is("status")
}

func isText(value []byte) bool {
	switch string(value) {
	case `"text"`, `"input_text"`:
		return true
	}
	return false
}
