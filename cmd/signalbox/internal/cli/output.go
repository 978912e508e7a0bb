package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"go.yaml.in/yaml/v3"
)

// answer is what every call of the generated client returns.
type answer interface {
	StatusCode() int
	GetBody() []byte
}

// done turns a call's outcome into an error, or nil when it was carried out.
func done(r answer, err error) error {
	var no refusal
	var number *json.UnsupportedValueError // in what was to be sent
	switch {
	case errors.As(err, &no):
		return err
	case errors.As(err, &number):
		return misuse("want numbers: NaN and Inf are none")
	case err != nil:
		return unreachable{err}
	}
	if r.StatusCode() >= http.StatusMultipleChoices {
		return refused(r.StatusCode(), r.GetBody())
	}
	return nil
}

// show writes the whole body for scripts, or a table for people. A change that
// gateways lag behind is told after it.
func (a *app) show(r answer, table func(t *table)) error {
	if err := a.showBody(r.GetBody(), table); err != nil {
		return err
	}
	if r.StatusCode() == http.StatusAccepted {
		return errPending
	}
	return nil
}

func (a *app) showBody(body []byte, fill func(t *table)) error {
	switch a.output {
	case "json":
		var out bytes.Buffer
		if err := json.Indent(&out, bytes.TrimSpace(body), "", "  "); err != nil {
			return fmt.Errorf("the server's answer is not JSON: %w", err)
		}
		out.WriteByte('\n')
		_, err := out.WriteTo(a.Stdout)
		return err
	case "yaml":
		return writeYAML(a.Stdout, body)
	}
	t := newTable(a.Stdout)
	fill(t)
	return t.flush()
}

// writeYAML keeps the order of the fields: JSON is YAML, so the document is
// read as YAML nodes and written in block style.
func writeYAML(w io.Writer, body []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	blockStyle(&doc)
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(&doc); err != nil {
		return err
	}
	return encoder.Close()
}

// oldWord is a text that readers of YAML 1.1 take for something else without its
// quotes: a truth, or a number to the base of 60.
var oldWord = regexp.MustCompile(`(?i)^(?:y|n|yes|no|on|off|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)$`)

func blockStyle(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style &^= yaml.FlowStyle
	} else if n.Style == yaml.DoubleQuotedStyle && n.Tag == "!!str" && !oldWord.MatchString(n.Value) {
		n.Style = 0 // the encoder quotes where it must
	}
	for _, child := range n.Content {
		blockStyle(child)
	}
}

// table aligns columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer) *table { return &table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)} }

// row writes cells, each on one line and without control characters: a name
// must not be able to move the cursor.
func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = cell(c)
	}
	_, _ = fmt.Fprintln(t.w, strings.TrimRight(strings.Join(texts, "\t"), "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

func cell(v any) string {
	switch v := v.(type) {
	case *string:
		if v == nil {
			return "–"
		}
		return clean(*v)
	case *time.Time:
		if v == nil {
			return "–"
		}
		return moment(*v)
	case time.Time:
		return moment(v)
	case []string:
		if len(v) == 0 {
			return "all"
		}
		return clean(strings.Join(v, ","))
	case bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return clean(fmt.Sprint(v))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func clean(text string) string {
	if text == "" {
		return "–"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
