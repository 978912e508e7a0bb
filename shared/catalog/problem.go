package catalog

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a catalog. Its text never repeats a secret.
type Problem struct {
	File    string // "" when the catalog did not come from a file
	Line    int    // 0 when unknown
	Path    string // such as models[2].endpoints[0].provider
	Message string // what was expected
}

// String writes file:line: path: message, without what is not known.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is every thing wrong with a catalog, as an error.
type Problems []Problem

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return fmt.Sprintf("catalog has %d problem(s):\n", len(ps)) + strings.Join(lines, "\n")
}

func (ps *Problems) addf(path, format string, args ...any) {
	*ps = append(*ps, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}
