package catalog

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// position is where an overlay's entry stands in its file.
type position struct {
	path  string
	line  int
	lines map[string]int // of its members
}

// positions are by "provider <slug>", "model <id>", "endpoint <id>" and
// "rule <model> <name>".
type positions map[string]position

func ruleEntry(model, name string) string { return "rule " + model + " " + name }

func (at positions) move(from, to string) {
	at[to] = at[from]
	delete(at, from)
}

func memberLines(n *yaml.Node) map[string]int {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	lines := make(map[string]int)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		lines[n.Content[i].Value] = n.Content[i].Line
	}
	return lines
}

var entryPath = regexp.MustCompile(`^(providers|models)\[(\d+)\](?:\.(endpoints|rules)\[(\d+)\])?\.?(.*)$`)

// locate gives the problems of a merged catalog their places in the file that
// the overlay came from. A problem of an entry that the file does not touch
// keeps the path that it has.
func (o *Overlay) locate(filename string, merged Catalog, problems Problems) Problems {
	located := make(Problems, len(problems))
	for i, p := range problems {
		located[i] = p
		m := entryPath.FindStringSubmatch(p.Path)
		if m == nil {
			continue
		}
		at, ok := o.at[entryName(merged, m)]
		if !ok {
			continue
		}
		located[i].File, located[i].Line, located[i].Path = filename, at.line, joined(at.path, m[5])
		member, _, _ := strings.Cut(m[5], ".")
		member, _, _ = strings.Cut(member, "[")
		if line, ok := at.lines[member]; ok {
			located[i].Line = line
		}
	}
	return located
}

// entryName is the positions key of a path such as models[3].endpoints[0].
func entryName(c Catalog, match []string) string {
	index, _ := strconv.Atoi(match[2])
	if match[1] == "providers" {
		return "provider " + c.Providers[index].Slug
	}
	model := &c.Models[index]
	part, _ := strconv.Atoi(match[4])
	switch match[3] {
	case "endpoints":
		return "endpoint " + model.Endpoints[part].ID
	case "rules":
		return ruleEntry(model.ID, model.Rules[part].Name)
	}
	return "model " + model.ID
}
