package reference

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Statuses are the code-to-status maps of the two APIs.
type Statuses struct {
	Inference  func(*fault.Error) int
	Management func(fault.Code) (int, bool)
}

// Givers says which codes each API's sources make.
type Givers struct{ Inference, Management map[string]bool }

var (
	codeUse = regexp.MustCompile(`\bfault\.([A-Z][A-Za-z]+)\b`)
	mapLine = regexp.MustCompile(`^\s*(fault\.[A-Za-z]+:\s+(http\.)?Status|case e\.Code == )`)
)

// FindGivers reads which codes and reasons the sources under root mention, the
// maps of statuses aside. Keys are the Go names.
func FindGivers(root string) (Givers, error) {
	inference, err := mentioned(root, "dataplane/internal", "shared/decide", "shared/policy")
	if err != nil {
		return Givers{}, err
	}
	// The spool's own refusal reaches callers as quota_unavailable.
	spool, err := mentioned(root, "dataplane/internal/spool")
	if err != nil {
		return Givers{}, err
	}
	for name := range spool {
		if inference[name] == spool[name] {
			delete(inference, name)
		}
	}
	management, err := mentioned(root, "controlplane/internal")
	g := Givers{Inference: names(inference), Management: names(management)}
	for _, both := range []map[string]bool{g.Inference, g.Management} {
		both["ValidationError"] = true // by fault.Invalid
		both["GatewayError"] = true    // by fault.Of
	}
	return g, err
}

func names(counts map[string]int) map[string]bool {
	set := make(map[string]bool, len(counts))
	for name := range counts {
		set[name] = true
	}
	return set
}

func mentioned(root string, dirs ...string) (map[string]int, error) {
	found := make(map[string]int)
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(body)) {
				if mapLine.MatchString(line) {
					continue
				}
				for _, m := range codeUse.FindAllStringSubmatch(line, -1) {
					found[m[1]]++
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read sources: %w", err)
		}
	}
	return found, nil
}

const errorsIntro = `# Errors

Generated from the codes of ` + "`shared/fault`" + `, the statuses of both APIs, and the explanations in ` + "`test/reference`" + `; do not edit.
The set of codes is closed; ` + "`code`" + ` is what programs should read. Messages say what was wrong, where, and what to do, and may
change. ` + "`http-status.md`" + ` has the rules behind the statuses.

The inference API answers in the native form of the surface, so that SDKs raise their own exceptions. All of the gateway's
members stand inside ` + "`error`" + `:

` + "```json" + `
{"error": {
  "message": "provider.onyl: is not a known field",
  "type": "invalid_request_error",
  "code": "validation_error",
  "param": "provider.onyl",
  "details": [{"path": "provider.onyl", "code": "unknown_field", "message": "is not a known field"}],
  "origin": "client",
  "retryable": false,
  "request_id": "req_01m8mgdh8be00a0chex62d74pe"
}}
` + "```" + `

` + "`origin`" + ` says who made it happen: ` + "`client`, `gateway` or `upstream`" + `. The management API answers problem details
(RFC 9457, ` + "`application/problem+json`" + `) with ` + "`code`, `reason`, `detail`, `violations`, `retryable` and `request_id`" + `.

Retry when ` + "`retryable`" + ` is true, after ` + "`retry-after`" + ` where that is given, with growing pauses. SDKs that do so by themselves
are told by ` + "`x-should-retry: false`" + ` where it would be in vain, or take more than two minutes.
`

// reached describes the reasons that are made of a window and what is counted.
const reached = "\nOf `key_limit_exceeded` for what a limit or budget has used up, with its window in place of *window*:\n\n" +
	"| reason | reached is |\n|---|---|\n" +
	"| *window*`_request_limit_reached` | the key's number of requests of the day, week or month (`daily`, `weekly`, `monthly`) |\n" +
	"| *window*`_cost_limit_reached` | what the key may cost in it |\n" +
	"| *window*`_cost_budget_reached` | a budget of the workspace, a guardrail or an agent, as `scope` says; it may be `lifetime` |\n" +
	"| `department_`*window*`_cost_budget_reached` | a budget of a department; `department_id` and `department_name` say of which |\n\n" +
	"With a hard limit that also means that the request's worst case does not fit beside what is spent and what open requests may " +
	"cost:\n`worst_case_usd` and `reserved_usd` say how much that is. `retry-after` is 1 while only open requests are in the way. `../limits.md` has the rest.\n"

// ErrorsPage describes every code. The names of codes and reasons in the
// source are given by codes and reasons, from value to name.
func ErrorsPage(s Statuses, g Givers, codes, reasons []Constant) string {
	var b strings.Builder
	b.WriteString(errorsIntro)
	b.WriteString("\n## Codes\n\n| code | inference | management | retryable | when | do |\n|---|---|---|---|---|---|\n")
	var unused []string
	for _, c := range codes {
		about := explained[fault.Code(c.Value)]
		inference, management := "–", "–"
		if g.Inference[c.Name] {
			inference = strconv.Itoa(s.Inference(fault.New(fault.Code(c.Value), "")))
			if about.status != "" {
				inference = about.status
			}
		}
		if status, known := s.Management(fault.Code(c.Value)); known && g.Management[c.Name] {
			management = strconv.Itoa(status)
		}
		if inference == "–" && management == "–" {
			unused = append(unused, "`"+c.Value+"`")
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", c.Value, inference, management, about.retry, about.when, about.do)
	}
	if len(unused) > 0 {
		fmt.Fprintf(&b, "\nReserved for what is not built yet, and never answered by this version: %s.\n", strings.Join(unused, ", "))
	}
	b.WriteString("\n## Reasons\n\n`reason` refines a code. A refusal of routing may also have the stage that left nothing in `stage`, " +
		"and the endpoints\nthat were dropped, each with its reason, in `exclusions`.\n\n| reason | of | meaning |\n|---|---|---|\n")
	for _, r := range reasons {
		if !g.Inference[r.Name] && !g.Management[r.Name] {
			continue
		}
		about := reasoned[fault.Reason(r.Value)]
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", r.Value, about.of, about.meaning)
	}
	b.WriteString(reached)
	return b.String()
}
