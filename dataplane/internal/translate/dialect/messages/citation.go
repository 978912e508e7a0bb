package messages

import (
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// citations reads an array of them.
func citations(v gjson.Result) []conversation.Citation {
	if !v.IsArray() {
		return nil
	}
	var out []conversation.Citation
	v.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			out = append(out, citation(v))
		}
		return true
	})
	return out
}

// citation reads one. It stands for the whole of its text block; where in the
// source the quote stands is not kept.
func citation(v gjson.Result) conversation.Citation {
	c := conversation.Citation{Quote: text(v.Get("cited_text"))}
	switch text(v.Get("type")) {
	case "web_search_result_location":
		c.URL, c.Title = text(v.Get("url")), text(v.Get("title"))
	case "search_result_location":
		c.URL, c.Title = text(v.Get("source")), text(v.Get("title"))
	default:
		c.Title = text(v.Get("document_title"))
	}
	return c
}

// text is a string value, and "" for any other.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// appendCitation writes one as a caller's SDK reads it.
func appendCitation(b *jsonappend.Buffer, c *conversation.Citation) {
	b.Open('{')
	if c.URL != "" {
		b.String("type", "web_search_result_location")
		b.String("url", c.URL)
		b.String("title", c.Title)
		b.String("encrypted_index", "")
	} else {
		b.String("type", "char_location")
		b.Int("document_index", 0)
		b.String("document_title", c.Title)
		b.Raw("file_id", null)
		b.Int("start_char_index", 0)
		b.Int("end_char_index", int64(len([]rune(c.Quote))))
	}
	b.String("cited_text", c.Quote)
	b.Close('}')
}

var null = []byte("null")
