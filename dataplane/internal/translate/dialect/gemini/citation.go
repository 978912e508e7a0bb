package gemini

import (
	"strconv"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// source is where a cited text comes from, and the span that cites it: in
// bytes of the part with that index.
type source struct {
	conversation.Citation
	part int // -1: not said
}

// readGrounding reads a groundingMetadata: its supports in their order, then
// the sources that support nothing in particular
// (https://ai.google.dev/api/generate-content#GroundingMetadata).
func readGrounding(value []byte) []source {
	var chunks, supports []byte
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case is(&o, "groundingChunks"):
			chunks = o.Value()
		case is(&o, "groundingSupports"):
			supports = o.Value()
		}
	}
	var from []conversation.Citation
	for list := rawjson.NewArray(chunks); list.Next(); {
		from = append(from, readChunk(list.Value()))
	}
	if len(from) == 0 {
		return nil
	}
	var out []source
	cited := make([]bool, len(from))
	for list := rawjson.NewArray(supports); list.Next(); {
		span, indices := readSupport(list.Value())
		for numbers := rawjson.NewArray(indices); numbers.Next(); {
			i := rawjson.Int(numbers.Value())
			if i >= int64(len(from)) {
				continue
			}
			s := span
			s.URL, s.Title, s.Quote = from[i].URL, from[i].Title, from[i].Quote
			cited[i] = true
			out = append(out, s)
		}
	}
	for i, c := range from {
		if !cited[i] && (c.URL != "" || c.Title != "") {
			out = append(out, source{Citation: c, part: -1})
		}
	}
	return out
}

// readChunk reads a groundingChunk, whichever kind of source it names.
func readChunk(value []byte) conversation.Citation {
	var c conversation.Citation
	for kind := rawjson.NewObject(value); kind.Next(); {
		for o := rawjson.NewObject(kind.Value()); o.Next(); {
			switch {
			case o.Is("uri"):
				c.URL = rawjson.String(o.Value())
			case o.Is("title"):
				c.Title = rawjson.String(o.Value())
			case o.Is("text"):
				c.Quote = rawjson.String(o.Value())
			}
		}
	}
	return c
}

func readSupport(value []byte) (span source, indices []byte) {
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case is(&o, "groundingChunkIndices"):
			indices = o.Value()
		case o.Is("segment"):
			for seg := rawjson.NewObject(o.Value()); seg.Next(); {
				switch n := int(rawjson.Int(seg.Value())); {
				case is(&seg, "startIndex"):
					span.Start = n
				case is(&seg, "endIndex"):
					span.End = n
				case is(&seg, "partIndex"):
					span.part = n
				}
			}
		}
	}
	return span, indices
}

// readCitations reads a citationMetadata
// (https://ai.google.dev/api/generate-content#citationmetadata).
func readCitations(value []byte) []source {
	var out []source
	for o := rawjson.NewObject(value); o.Next(); {
		if !is(&o, "citations") && !is(&o, "citationSources") {
			continue
		}
		for list := rawjson.NewArray(o.Value()); list.Next(); {
			s := source{part: -1}
			for c := rawjson.NewObject(list.Value()); c.Next(); {
				switch {
				case is(&c, "startIndex"):
					s.Start = int(rawjson.Int(c.Value()))
				case is(&c, "endIndex"):
					s.End = int(rawjson.Int(c.Value()))
				case c.Is("uri"):
					s.URL = rawjson.String(c.Value())
				case c.Is("title"):
					s.Title = rawjson.String(c.Value())
				}
			}
			if s.URL != "" || s.Title != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// maxMeasured is how much of a text is kept to turn its offsets in bytes into
// offsets in characters and back. Beyond it the text is taken for ASCII.
const maxMeasured = 32 << 10

// measure is the text of a part so far, as far as offsets need it.
type measure []byte

func (m *measure) add(text string) {
	*m = append(*m, text[:min(len(text), maxMeasured-len(*m))]...)
}

// characters is how many characters n bytes are.
func (m measure) characters(n int) int {
	if n <= len(m) {
		return utf8.RuneCount(m[:n])
	}
	return utf8.RuneCount(m) + n - len(m)
}

// bytes is how many bytes n characters are.
func (m measure) bytes(n int) int {
	at := 0
	for ; n > 0 && at < len(m); n-- {
		_, size := utf8.DecodeRune(m[at:])
		at += size
	}
	return at + n
}

// placed is one part's citations, to be written.
type placed struct {
	part      int // index of the part
	text      measure
	citations []conversation.Citation
}

// writeGrounding writes a groundingMetadata with one source for each citation.
func writeGrounding(b *jsonappend.Buffer, all []placed) {
	b.Name("groundingMetadata")
	b.Open('{')
	b.Name("groundingChunks")
	b.Open('[')
	for _, p := range all {
		for _, c := range p.citations {
			writeChunk(b, c)
		}
	}
	b.Close(']')
	b.Name("groundingSupports")
	b.Open('[')
	i := int64(0)
	for _, p := range all {
		for _, c := range p.citations {
			writeSupport(b, &p, c, i)
			i++
		}
	}
	b.Close(']')
	b.Close('}')
}

func writeChunk(b *jsonappend.Buffer, c conversation.Citation) {
	kind := "web"
	if c.Quote != "" {
		kind = "retrievedContext" // the kind that has the source's own words
	}
	b.Next()
	b.Open('{')
	b.Name(kind)
	b.Open('{')
	b.String("uri", c.URL)
	b.String("title", c.Title)
	b.StringIf("text", c.Quote)
	b.Close('}')
	b.Close('}')
}

func writeSupport(b *jsonappend.Buffer, p *placed, c conversation.Citation, chunk int64) {
	b.Next()
	b.Open('{')
	b.Name("segment")
	b.Open('{')
	b.IntIf("partIndex", int64(p.part))
	b.IntIf("startIndex", int64(p.text.bytes(c.Start)))
	b.IntIf("endIndex", int64(p.text.bytes(c.End)))
	b.Close('}')
	b.Name("groundingChunkIndices")
	b.Open('[')
	*b = strconv.AppendInt(*b, chunk, 10)
	b.Close(']')
	b.Close('}')
}
