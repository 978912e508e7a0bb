// Package docs owns the page that shows the OpenAPI file to people. It is
// rendered once, on the server, without scripts, so that it works offline. It
// knows nothing of who may read it.
package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

// Page is the rendered page and the content policy that fits it.
type Page struct {
	HTML   []byte
	Policy string
}

// Render makes the page of doc.
func Render(doc *openapi3.T) (Page, error) {
	page, err := template.New("page").Funcs(template.FuncMap{"prose": prose, "kind": kind}).Parse(pageText)
	if err != nil {
		return Page{}, fmt.Errorf("parse the page: %w", err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, view(doc)); err != nil {
		return Page{}, fmt.Errorf("render the page: %w", err)
	}
	sum := sha256.Sum256([]byte(styleText))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return Page{HTML: out.Bytes(), Policy: policy}, nil
}

type document struct {
	Title, Version, Description string
	Style                       template.CSS
	Groups                      []group
	Schemas                     []schema
}

type group struct {
	Name, Description string
	Operations        []operation
}

type operation struct {
	ID, Method, Path, Summary, Description string
	Parameters                             []field
	Body, Answer                           string
	Statuses                               string
}

type schema struct {
	Name, Description string
	Fields            []field
	Values            string
}

type field struct {
	Name, Kind, Where, Description string
	Required                       bool
}

func view(doc *openapi3.T) document {
	d := document{
		Title: doc.Info.Title, Version: doc.Info.Version, Description: doc.Info.Description,
		Style: template.CSS(styleText), //nolint:gosec // embedded above, not input
	}
	for _, tag := range doc.Tags {
		d.Groups = append(d.Groups, group{Name: tag.Name, Description: tag.Description, Operations: operations(doc, tag.Name)})
	}
	for _, name := range sorted(doc.Components.Schemas) {
		d.Schemas = append(d.Schemas, schemaOf(name, doc.Components.Schemas[name].Value))
	}
	return d
}

func operations(doc *openapi3.T, tag string) []operation {
	var list []operation
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(path)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			op := item.GetOperation(method)
			if op == nil || !slices.Contains(op.Tags, tag) {
				continue
			}
			o := operation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: op.Description}
			for _, p := range append(slices.Clone(item.Parameters), op.Parameters...) {
				o.Parameters = append(o.Parameters, field{
					Name: p.Value.Name, Where: p.Value.In, Required: p.Value.Required,
					Kind: kind(p.Value.Schema), Description: p.Value.Description,
				})
			}
			if op.RequestBody != nil {
				o.Body = kind(op.RequestBody.Value.Content.Get("application/json").Schema)
			}
			var statuses []string
			for status, response := range op.Responses.Map() {
				statuses = append(statuses, status)
				if content := response.Value.Content.Get("application/json"); content != nil && status < "300" {
					o.Answer = kind(content.Schema)
				}
			}
			slices.Sort(statuses)
			o.Statuses = strings.Join(statuses, ", ")
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b operation) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func schemaOf(name string, s *openapi3.Schema) schema {
	out := schema{Name: name, Description: s.Description}
	for _, part := range s.AllOf {
		if part.Ref != "" {
			out.Fields = append(out.Fields, field{Name: "…", Kind: kind(part), Description: "all of its fields, and:"})
			continue
		}
		out.Fields = append(out.Fields, fields(part.Value)...)
	}
	out.Fields = append(out.Fields, fields(s)...)
	var values []string
	for _, v := range s.Enum {
		values = append(values, fmt.Sprint(v))
	}
	out.Values = strings.Join(values, ", ")
	return out
}

func fields(s *openapi3.Schema) []field {
	var list []field
	for _, name := range sorted(s.Properties) {
		p := s.Properties[name]
		list = append(list, field{
			Name: name, Kind: kind(p), Required: slices.Contains(s.Required, name), Description: p.Value.Description,
		})
	}
	return list
}

// kind words a schema's type; a named one is its name.
func kind(ref *openapi3.SchemaRef) string {
	if ref == nil || ref.Value == nil {
		return ""
	}
	if ref.Ref != "" {
		return ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
	}
	s := ref.Value
	if s.Type == nil {
		return "object"
	}
	text := strings.Join(s.Type.Slice(), " or ")
	switch {
	case s.Type.Is("array"):
		return "list of " + kind(s.Items)
	case s.Format != "":
		return text + " (" + s.Format + ")"
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum...)
	}
	return text
}

// prose shows the little Markdown that the contract's texts use: paragraphs,
// bold, code and tables.
func prose(text string) template.HTML {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(block, "|") {
			table(&b, block)
			continue
		}
		b.WriteString("<p>" + inline(block) + "</p>")
	}
	return template.HTML(b.String()) //nolint:gosec // every piece went through inline, which escapes
}

func table(b *strings.Builder, block string) {
	b.WriteString("<table>")
	for i, line := range strings.Split(block, "\n") {
		if i == 1 {
			continue // the rule under the head
		}
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		b.WriteString("<tr>")
		for text := range strings.SplitSeq(strings.Trim(line, "| "), "|") {
			b.WriteString("<" + cell + ">" + inline(strings.TrimSpace(text)) + "</" + cell + ">")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
}

func inline(text string) string {
	escaped := template.HTMLEscapeString(text)
	for _, mark := range [][3]string{{"**", "<strong>", "</strong>"}, {"`", "<code>", "</code>"}} {
		parts := strings.Split(escaped, mark[0])
		for i := 1; i+1 < len(parts); i += 2 {
			parts[i] = mark[1] + parts[i] + mark[2]
		}
		escaped = strings.Join(parts, "")
	}
	return escaped
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
