// Package walls checks, over the whole dependency graph, the walls that the
// linter checks file by file: what a package reaches through others counts too.
package walls

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	product = "github.com/signalbox-dev/signalbox"
	module  = product + "/"
)

// wall says that no package under Inside may reach a package under Never,
// directly or through others, except through the packages under But.
type wall struct {
	Inside string
	Never  string
	But    []string
	Reason string
}

// stages of the data plane; decide is one too and has walls of its own.
var stages = []string{"surface", "auth", "snapshot", "classifier", "limits", "attempt", "translate", "provider", "stream", "record"}

// beneath are the packages under the stages: state that several share, and the
// reading of one notation each.
var beneath = []string{
	"affinity", "bounded", "call", "check", "eventstream", "health", "job", "keyring", "lastgood", "ledger", "preset", "rawform", "rawjson", "socket",
	"spool", "sse",
	"upstream",
}

// notations know nothing but how their bytes are put together.
var notations = []string{"rawform", "rawjson", "sse", "surface/jsonarray", "translate/tokens"}

const dialects = "dataplane/internal/translate/dialect/"

// formats are the packages of one wire format, or of several that only pass.
var formats = []string{"chat", "converse", "gemini", "messages", "plain", "responses"}

// between are the packages that several formats share.
var between = []string{"claude", "openai", "turns"}

// aggregates are the packages of the control plane that the store serves.
var aggregates = []string{
	"allowance", "apikey", "audit", "authn", "authz", "autorouting", "books", "budget", "budgetalert", "byok", "checks", "credential", "department",
	"deploy", "dynamicroute", "effective", "gateway", "guardrail", "idempotency", "managementkey", "outbox", "override", "page", "preset", "profile",
	"publication", "publish", "ratelimit", "reseal", "rollout", "routing", "settings", "spending", "usage", "wallet", "webhook", "workspace",
}

func walls() []wall {
	list := []wall{
		{Inside: "shared/", Never: module + "controlplane", Reason: "shared imports neither plane"},
		{Inside: "shared/", Never: module + "dataplane", Reason: "shared imports neither plane"},
		{Inside: "dataplane/", Never: module + "controlplane", Reason: "the planes meet in shared and on the wire"},
		{Inside: "controlplane/", Never: module + "dataplane", Reason: "the planes meet in shared and on the wire"},
		{Inside: "dataplane/", Never: "gorm.io", Reason: "a gateway has no database"},
		{Inside: "dataplane/", Never: "github.com/jackc/pgx", Reason: "a gateway has no database"},
		{Inside: "dataplane/internal/call", Never: "github.com/nats-io", Reason: "the values handed down know no transport"},
		{Inside: "dataplane/internal/keyring", Never: "github.com/nats-io", Reason: "a Source reads for the keyring"},
		{Inside: "dataplane/internal/preset", Never: "github.com/nats-io", Reason: "a Source reads for the presets"},
		{Inside: "dataplane/internal/snapshot", Never: "github.com/nats-io", Reason: "a Source reads for the snapshot store"},
		{Inside: "shared/decide", Never: "github.com/nats-io", Reason: "the kernel is pure"},
		// The catalog's types and its embedded data are one package, and the
		// library that the data comes from has a client of its own.
		{Inside: "shared/decide", Never: "net/http", But: []string{"charm.land/catwalk"}, Reason: "the kernel is pure"},
		{Inside: "shared/decide", Never: "log/slog", But: []string{module + "shared/secret"}, Reason: "the kernel returns a record; it does not log"},
		{Inside: "shared/condition", Never: product, Reason: "a test of a request knows nothing of the product"},
		{Inside: "shared/flow", Never: module + "shared/catalog", Reason: "a check is told what models and providers there are"},
		{Inside: "shared/flow", Never: module + "shared/decide", Reason: "a graph yields an action; what becomes of it is the kernel's"},
		{Inside: "shared/flow", Never: module + "shared/policy", Reason: "policy publishes graphs; graphs know nothing of it"},
		{Inside: "shared/policy", Never: "github.com/nats-io", Reason: "the published language knows no transport"},
		{Inside: "shared/catalog", Never: "github.com/nats-io", Reason: "the published language knows no transport"},
		{Inside: "shared/testkit/simulator", Never: product, Reason: "a simulator that shares our types shares our mistakes"},
		{Inside: "dataplane/internal/translate/conversation", Never: module + "dataplane", Reason: "the neutral form knows no format"},
		{Inside: "controlplane/internal/api", Never: module + "controlplane/internal/postgres", Reason: "the edge speaks to services, never to the store"},
		{Inside: "controlplane/internal/postgres", Never: "github.com/gin-gonic", Reason: "the store knows no HTTP"},
	}
	for _, stage := range stages {
		inside := "dataplane/internal/" + stage
		list = append(list, wall{Inside: "dataplane/internal/pipeline", Never: module + inside, Reason: "pipeline names the order; app plugs the stages in"})
		if stage != "surface" {
			list = append(list, wall{Inside: inside, Never: "github.com/gin-gonic", Reason: "gin stops at the surface"})
		}
		for _, other := range stages {
			if other != stage {
				list = append(list, wall{Inside: inside, Never: module + "dataplane/internal/" + other, Reason: "stages never import each other"})
			}
		}
		for _, under := range beneath {
			list = append(list, wall{Inside: "dataplane/internal/" + under, Never: module + inside, Reason: "what lies under the stages does not look up"})
		}
	}
	for _, notation := range notations {
		list = append(list, wall{Inside: "dataplane/internal/" + notation, Never: product, Reason: "a notation knows nothing of what it carries"})
	}
	for _, format := range formats {
		for _, shared := range between {
			list = append(list, wall{Inside: dialects + shared, Never: module + dialects + format, Reason: "what formats share knows none of them"})
		}
		for _, other := range formats {
			if format != other {
				list = append(list, wall{Inside: dialects + format, Never: module + dialects + other, Reason: "formats meet in the neutral conversation"})
			}
		}
	}
	for _, aggregate := range aggregates {
		list = append(list, wall{Inside: "controlplane/internal/" + aggregate, Never: "gorm.io", Reason: "gorm stops at postgres"},
			wall{Inside: "controlplane/internal/" + aggregate, Never: "github.com/jackc/pgx", Reason: "SQL stops at postgres"})
	}
	return list
}

// graph maps an import path to its direct imports, over every module of the
// workspace.
func graph(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "work")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	imports := make(map[string][]string)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := dec.Decode(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		imports[p.ImportPath] = p.Imports
	}
	require.NotEmpty(t, imports)
	return imports
}

// TestWalls walks from each package inside a wall and fails with the chain of
// imports that crosses it.
func TestWalls(t *testing.T) {
	imports := graph(t)
	for _, w := range walls() {
		t.Run(w.Inside+" never "+w.Never, func(t *testing.T) {
			found := false
			for pkg := range imports {
				// The testkit may reach what shared may not, unless the wall is its own.
				if !inside(pkg, w.Inside) || inside(pkg, "shared/testkit") && !strings.HasPrefix(w.Inside, "shared/testkit/") {
					continue
				}
				found = true
				if chain := reach(imports, pkg, w); chain != nil {
					t.Errorf("%s:\n  %s", w.Reason, strings.Join(chain, "\n  imports "))
				}
			}
			require.True(t, found, "the wall guards nothing: %s is gone", w.Inside)
		})
	}
}

// reach returns the shortest chain of imports from pkg across the wall, or nil.
func reach(imports map[string][]string, pkg string, w wall) []string {
	type step struct {
		path string
		from *step
	}
	seen := map[string]bool{pkg: true}
	for queue := []*step{{path: pkg}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.path != pkg && (at.path == w.Never || strings.HasPrefix(at.path, w.Never+"/") || strings.HasPrefix(at.path, w.Never+".")) {
			var chain []string
			for s := at; s != nil; s = s.from {
				chain = append([]string{s.path}, chain...)
			}
			return chain
		}
		for _, next := range imports[at.path] {
			if !seen[next] && !under(next, w.But) && strings.Contains(next, ".") || next == w.Never {
				seen[next] = true
				queue = append(queue, &step{path: next, from: at})
			}
		}
	}
	return nil
}

// inside reports whether pkg is the package or lies under it.
func inside(pkg, part string) bool {
	part = module + part
	return pkg == part || strings.HasPrefix(pkg, strings.TrimSuffix(part, "/")+"/")
}

func under(path string, roots []string) bool {
	for _, r := range roots {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}
