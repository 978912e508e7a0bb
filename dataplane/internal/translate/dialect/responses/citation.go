package responses

import (
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// readCitations reads the member "annotations". Offsets are in characters of
// the part's text.
func readCitations(v []byte) []conversation.Citation {
	if openai.IsBlank(v) || v[0] != '[' {
		return nil
	}
	var out []conversation.Citation
	a := rawjson.NewArray(v)
	for a.Next() {
		if c, ok := readCitation(a.Value()); ok {
			out = append(out, c)
		}
	}
	return out
}

// readCitation reads one annotation, of a page or of a file. The second result
// is false for what names no source.
func readCitation(v []byte) (conversation.Citation, bool) {
	var c conversation.Citation
	o := rawjson.NewObject(v)
	for o.Next() {
		switch {
		case o.Is("url"):
			c.URL = rawjson.String(o.Value())
		case o.Is("title"), o.Is("filename"):
			c.Title = rawjson.String(o.Value())
		case o.Is("quote"):
			c.Quote = rawjson.String(o.Value())
		case o.Is("start_index"), o.Is("index"):
			c.Start = int(rawjson.Int(o.Value()))
		case o.Is("end_index"):
			c.End = int(rawjson.Int(o.Value()))
		}
	}
	return c, c.URL != "" || c.Title != "" || c.Quote != ""
}

// writeCitation writes an annotation of a text. The quoted passage has no
// member in OpenAI's own; readers that do not know it pass over it.
func writeCitation(b *jsonappend.Buffer, c *conversation.Citation, text []byte) {
	b.Open('{')
	if c.URL != "" {
		end := c.End
		if end == 0 { // the whole text
			end = utf8.RuneCount(text)
		}
		b.String("type", "url_citation")
		b.Int("start_index", int64(c.Start))
		b.Int("end_index", int64(end))
		b.String("title", c.Title)
		b.String("url", c.URL)
	} else {
		b.String("type", "file_citation")
		b.String("file_id", "")
		b.String("filename", c.Title)
		b.Int("index", int64(c.Start))
		b.IntIf("end_index", int64(c.End))
	}
	b.StringIf("quote", c.Quote)
	b.Close('}')
}
