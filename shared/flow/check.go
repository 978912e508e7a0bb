package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Check lists what is wrong with a graph, in the order of its nodes, and what
// is worth a second look. Without names, models, providers and regions are not
// looked up.
func Check(g Graph, names Names) Report {
	k := checker{g: &g, names: names, warns: true}
	return k.check()
}

func (k *checker) check() Report {
	k.index = make(map[string]int, len(k.g.Nodes))
	k.whole()
	for i := range k.g.Nodes {
		k.enter(i)
		k.node(&k.g.Nodes[i])
	}
	k.nodeID, k.path = "", ""
	if k.steps > MaxSteps {
		k.addf("nodes", TooLong, "want simpler regular expressions: written out, they have at most %d steps together", MaxSteps)
	}
	k.shape()
	k.report.Problems = bounded(k.report.Problems)
	return k.report
}

// checker checks one graph. Problems are of the node that was entered last.
type checker struct {
	g      *Graph
	names  Names
	warns  bool           // what is constant is looked for, which takes longer than all else
	index  map[string]int // of the first node of each id
	nodeID string         // of the node that is being checked
	path   string         // its path with a dot
	steps  int            // of all regular expressions
	report Report
}

func (k *checker) enter(i int) {
	k.nodeID, k.path = "", fmt.Sprintf("nodes[%d].", i)
	if id := k.g.Nodes[i].ID; validID(id) {
		k.nodeID = id
	}
}

func (k *checker) addf(field, code, format string, args ...any) {
	k.report.Problems = append(k.report.Problems, problemf(k.nodeID, k.path+field, code, format, args...))
}

func (k *checker) warnf(field, code, format string, args ...any) {
	k.report.Warnings = append(k.report.Warnings, problemf(k.nodeID, k.path+field, code, format, args...))
}

// whole checks what is outside the nodes, and lists them by their ids.
func (k *checker) whole() {
	if k.g.SchemaVersion != SchemaVersion {
		k.addf("schema_version", NotAllowed, "want %d", SchemaVersion)
	}
	switch size, err := Encode(*k.g); {
	case err != nil:
		k.addf("", Malformed, "a number in it cannot be written as JSON")
	case len(size) > MaxBytes:
		k.addf("", TooLong, "want at most %d bytes as JSON without blanks, not %d", MaxBytes, len(size))
	}
	if n := len(k.g.Nodes); n > MaxNodes {
		k.addf("nodes", TooLong, "want at most %d nodes, not %d", MaxNodes, n)
	}
	starts, ends := 0, 0
	for i := range k.g.Nodes {
		n := &k.g.Nodes[i]
		if _, twice := k.index[n.ID]; !twice {
			k.index[n.ID] = i
		}
		switch n.Type {
		case Start:
			starts++
		case End:
			ends++
		default:
		}
	}
	if starts == 0 {
		k.addf("nodes", Required, "want a node of the type start")
	}
	if ends == 0 {
		k.addf("nodes", Required, "want a node of the type end")
	}
	k.entry()
}

func (k *checker) entry() {
	at, ok := k.index[k.g.Entry]
	switch {
	case k.g.Entry == "":
		k.addf("entry", Required, "is required: the id of the start node")
	case !ok:
		k.addf("entry", Dangling, "%s", noNode(k.g.Entry))
	case k.g.Nodes[at].Type != Start:
		k.addf("entry", NotAllowed, "want the id of the start node")
	}
}

// Encode writes a graph as canonical JSON: members in a fixed order, no blanks,
// percents without decimals that say nothing. It fails for a position that is
// no number.
func Encode(g Graph) ([]byte, error) { return encode(g) }

// encode writes a graph or a part of one.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var (
	idForm   = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,%d}$`, MaxID-1))
	codeForm = regexp.MustCompile(fmt.Sprintf(`^[a-z][a-z0-9_]{0,%d}$`, MaxReasonBytes-1))
)

func validID(id string) bool { return idForm.MatchString(id) }

// noNode says that there is no node of an id, which it repeats if it is well
// formed.
func noNode(id string) string {
	if !validID(id) {
		return "there is no node of this id"
	}
	return fmt.Sprintf("there is no node %q", id)
}

func (k *checker) id(field, id, what string) {
	switch {
	case id == "":
		k.addf(field, Required, "is required: the id of the %s", what)
	case !validID(id):
		k.addf(field, Malformed, "want at most %d letters, digits, underscores, dots, colons and hyphens, the first a letter, a digit or an underscore", MaxID)
	}
}

// text checks a line that people read, which may be empty.
func (k *checker) text(field, text string, most int) {
	switch {
	case !utf8.ValidString(text) || slices.ContainsFunc([]rune(text), unicode.IsControl):
		k.addf(field, Malformed, "want UTF-8 without control characters")
	case utf8.RuneCountInString(text) > most:
		k.addf(field, TooLong, "want at most %d characters", most)
	}
}
