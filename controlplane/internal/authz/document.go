package authz

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const preface = `# Who may call what

Generated from the table in ` + "`controlplane/internal/authz`" + `; do not edit.

A management key may call an operation when it has the scope **and** the member who created it has a role that
allows it. *own* means: only for what that member created, and without binding policy to it. *masked* means: without the fields that say who made a
request. Operations of the platform take the operator token instead.

| operation | caller | scope | owner | admin | member | viewer |
|---|---|---|---|---|---|---|
`

// WriteMarkdown writes the table as the reference page.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(preface)
	for _, rule := range table {
		scope := "–"
		if rule.Scope != "" {
			scope = "`" + rule.Scope + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |", rule.Operation, caller(rule.Audience), scope)
		for _, role := range Roles() {
			fmt.Fprintf(&b, " %s |", cell(rule, role))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func caller(a Audience) string {
	switch a {
	case ForOperator:
		return "operator token"
	case ForAnyone:
		return "any credential"
	default:
		return "management key"
	}
}

func cell(rule Rule, role Role) string {
	switch {
	case slices.Contains(rule.Roles, role):
		return "yes"
	case slices.Contains(rule.Own, role):
		return "own"
	case slices.Contains(rule.Masked, role):
		return "masked"
	default:
		return "–"
	}
}
