package surface

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// verbs are the rows of one path that ends in a model's name and a verb.
type verbs map[string]*row

// beforeVerb is what a row's path has there.
const beforeVerb = "{model}:"

// routes adds the rows of the table.
func (e *Edge) routes() {
	named := make(map[string]verbs)
	for i := range table {
		row := &table[i]
		path, verb, ok := strings.Cut(row.path, beforeVerb)
		if row.action == call.List {
			e.answer(row.path, row.surface, e.listKept(row))
			continue
		}
		if !ok {
			handler := e.infer(row)
			e.engine.Handle(row.method, strings.ReplaceAll(row.path, "{id}", ":id"), func(g *gin.Context) { handler(g, "") })
			continue
		}
		if named[path] == nil {
			named[path] = make(verbs)
		}
		named[path][verb] = row
	}
	for path, rows := range named {
		e.engine.POST(path+"*name", e.byVerb(rows))
	}
}

// byVerb finds the row by what follows the path's last colon. A model's name
// may hold colons and slashes itself, the latter raw or escaped.
func (e *Edge) byVerb(rows verbs) gin.HandlerFunc {
	type handler = func(*gin.Context, string)
	handlers := make(map[string]handler, len(rows))
	for verb, row := range rows {
		handlers[verb] = e.infer(row)
	}
	unknown := e.refuse(fault.NotFound, nowhere)
	return func(g *gin.Context) {
		model, verb := splitVerb(strings.TrimPrefix(g.Param("name"), "/"))
		if handle, ok := handlers[verb]; ok && model != "" {
			handle(g, model)
			return
		}
		unknown(g)
	}
}

// splitVerb cuts a name at its last colon.
func splitVerb(name string) (model, verb string) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// formOf is the native error form where no row was reached: that of the path's
// own family, and where it has none, that of the SDK that the caller seems to
// use.
func formOf(r *http.Request) envelope.Format {
	path := r.URL.Path
	for i := range table {
		if table[i].path == path {
			return table[i].envelope
		}
	}
	switch {
	case under(path, "/v1beta"), r.Method == http.MethodPost && under(path, "/v1/models"):
		return envelope.Gemini
	case under(path, "/v1/messages"), len(r.Header["Anthropic-Version"]) > 0:
		return envelope.Anthropic
	case len(r.Header["X-Goog-Api-Key"]) > 0:
		return envelope.Gemini
	}
	return envelope.OpenAI
}

func under(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}

// nowhere says what is wrong with a path, which is mostly the base URL. It
// repeats nothing of it.
func nowhere(path string) string {
	switch {
	case strings.HasPrefix(path, "/v1/v1/messages"):
		return "There is nothing at this path: it has /v1 twice. The base URL of an Anthropic client ends before /v1, which the client adds."
	case strings.HasPrefix(path, "/v1/v1/"):
		return "There is nothing at this path: it has /v1 twice. The base URL ends in one /v1, and the client adds what follows."
	case strings.HasPrefix(path, "/v1beta/v1beta/"), strings.HasPrefix(path, "/v1/v1beta/"):
		return "There is nothing at this path: it has two versions. The base URL of a Gemini client ends before the version."
	case !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v1beta/"):
		return "There is nothing at this path. The inference API begins with /v1: the base URL of an SDK ends in it."
	}
	var served []string
	for i := range table {
		if !slices.Contains(served, table[i].path) {
			served = append(served, table[i].path)
		}
	}
	return "There is nothing at this path. Inference is served at " + strings.Join(served, ", ") + "; GET /v1/models lists models."
}
