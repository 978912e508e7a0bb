package chat

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// readCitations reads the member "annotations", whose offsets are in
// characters of the message's content.
func readCitations(v []byte) []conversation.Citation {
	if openai.IsBlank(v) || v[0] != '[' {
		return nil
	}
	var out []conversation.Citation
	a := rawjson.NewArray(v)
	for a.Next() {
		var c conversation.Citation
		o := rawjson.NewObject(openai.Member(a.Value(), "url_citation"))
		for o.Next() {
			switch {
			case o.Is("url"):
				c.URL = rawjson.String(o.Value())
			case o.Is("title"):
				c.Title = rawjson.String(o.Value())
			case o.Is("content"): // OpenRouter's
				c.Quote = rawjson.String(o.Value())
			case o.Is("start_index"):
				c.Start = int(rawjson.Int(o.Value()))
			case o.Is("end_index"):
				c.End = int(rawjson.Int(o.Value()))
			}
		}
		if c.URL != "" {
			out = append(out, c)
		}
	}
	return out
}

// cite puts a message's annotations on its text.
func cite(parts []conversation.Part, annotations []byte) {
	for i := range parts {
		if parts[i].Kind == conversation.Text {
			parts[i].Citations = readCitations(annotations)
			return
		}
	}
}

// writeCitations writes elements of "annotations". from and length are where
// the cited text stands in the content, in characters. Only what has a URL has
// a form here.
func writeCitations(b *jsonappend.Buffer, citations []conversation.Citation, from, length int) {
	for _, c := range citations {
		if c.URL == "" {
			continue
		}
		if c.End == 0 { // the whole text
			c.End = length
		}
		b.Next()
		b.Open('{')
		b.String("type", "url_citation")
		b.Name("url_citation")
		b.Open('{')
		b.Int("start_index", int64(from+c.Start))
		b.Int("end_index", int64(from+c.End))
		b.String("url", c.URL)
		b.String("title", c.Title)
		b.StringIf("content", c.Quote)
		b.Close('}')
		b.Close('}')
	}
}

func hasURL(citations []conversation.Citation) bool {
	for i := range citations {
		if citations[i].URL != "" {
			return true
		}
	}
	return false
}
