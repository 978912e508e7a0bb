package reference

import (
	"fmt"
	"strings"
)

// Process is a process whose settings are described.
type Process struct {
	Name     string // for people
	Command  string // of signalbox
	Example  string // file name of its example
	Settings []Setting
}

const configIntro = `# Configuration

Generated from the configuration structs and their comments; do not edit. What a tenant can change is policy and not here.

Each setting comes from its variable, else from the YAML file that ` + "`--config`" + ` names, else from its default. Nested keys
of the file are joined by underscores in the variable: ` + "`nats.url`" + ` is ` + "`SIGNALBOX_NATS_URL`" + `. Lists are separated by commas in
a variable; durations are written as ` + "`500ms`, `30s` or `5m`" + `.

A key or a ` + "`SIGNALBOX_…`" + ` variable that names no setting stops the start, and every problem is listed at once, without values.
Variables of the command line (` + "`SIGNALBOX_CONTROL_URL`" + ` and the like, see ` + "`cli.md`" + `) and those that Kubernetes makes for
services are let pass. A change needs a restart.

A secret never stands in the YAML file: it comes from its variable, or from the file that the variable with ` + "`_FILE`" + `
behind it names. A newline at that file's end does not count.
`

// ConfigPage describes the settings of processes.
func ConfigPage(processes ...Process) string {
	var b strings.Builder
	b.WriteString(configIntro)
	for _, p := range processes {
		fmt.Fprintf(&b, "\n## %s\n\n`signalbox %s`; [%s](%s) is a file with every default.\n\n", p.Name, p.Command, p.Example, p.Example)
		b.WriteString("| key | variable | type | default | |\n|---|---|---|---|---|\n")
		for _, s := range p.Settings {
			variable, value := "`"+s.Variable+"`", s.yaml()
			switch {
			case s.Secret:
				variable, value = variable+", `…_FILE`", "–"
			case value == `""`, value == "[]":
				value = "–"
			default:
				value = "`" + strings.Trim(value, `"`) + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Key, variable, s.Type, value, sentence(s.Doc))
		}
	}
	return b.String()
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// Example is a configuration file that says what holds without it.
func Example(p Process) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Every setting of `signalbox %s` with its default. Generated; docs/reference/config.md describes them.\n", p.Command)
	var section string
	for _, s := range p.Settings {
		indent, key := "", s.Key
		if group, name, nested := strings.Cut(s.Key, "."); nested {
			if group != section {
				fmt.Fprintf(&b, "%s:\n", group)
				section = group
			}
			indent, key = "  ", name
		}
		if s.Secret {
			fmt.Fprintf(&b, "%s# %s is a secret: %s or %s_FILE\n", indent, key, s.Variable, s.Variable)
			continue
		}
		fmt.Fprintf(&b, "%s%s: %s\n", indent, key, s.yaml())
	}
	return b.String()
}
