package facts

import (
	"bytes"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// mediaTokens is what one image, sound or file counts for in the estimate;
// the bytes of its encoding say nothing about its tokens.
const mediaTokens = 1000

// kinds are the types of part that hold no text, by the format's names.
type kinds []struct {
	kind     string
	modality catalog.Modality
}

// mediaDepth is how deep parts are looked for: a message's content, a tool
// result in it, and the result's own.
const mediaDepth = 3

// media takes the parts that hold no text out of what was counted as text, and
// notes what a model must take in to read them. Value is an array.
func (r *reader) media(value []byte, k kinds) {
	if k.mayBeIn(value) {
		r.walk(value, k, mediaDepth)
	}
}

// mayBeIn looks for the names of media parts anywhere, which is far cheaper
// than walking a long conversation that has none.
func (k kinds) mayBeIn(value []byte) bool {
	for i := range k {
		if bytes.Contains(value, []byte(`"`+k[i].kind+`"`)) {
			return true
		}
	}
	return false
}

// walk looks at the objects of an array.
func (r *reader) walk(array []byte, k kinds, depth int) {
	for a := rawjson.NewArray(array); a.Next(); {
		var kind, inside []byte
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			switch {
			case o.Is("type"):
				kind = o.Value()
			case o.Is("content"), o.Is("output"):
				inside = o.Value()
			}
		}
		switch m := k.of(kind); {
		case m != "":
			r.medium(m, a.Value())
		case depth > 0 && len(inside) > 0 && inside[0] == '[':
			r.walk(inside, k, depth-1)
		}
	}
}

// of is the modality of a kind of part, "" for those that hold text.
func (k kinds) of(kind []byte) catalog.Modality {
	name := rawjson.String(kind)
	for i := range k {
		if k[i].kind == name {
			return k[i].modality
		}
	}
	return ""
}

// medium counts one part that holds no text.
func (r *reader) medium(m catalog.Modality, value []byte) {
	r.need(m)
	r.textBytes -= int64(len(value))
	r.tokens += mediaTokens
}

// modalityOf is what a model must take in to read content of a MIME type.
func modalityOf(mime string) catalog.Modality {
	family, _, _ := strings.Cut(strings.ToLower(mime), "/")
	switch family {
	case "image":
		return catalog.Image
	case "audio":
		return catalog.Audio
	case "video":
		return catalog.Video
	}
	return catalog.File
}
