package simulator

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// platform is whose API a path stands for: its first segment says so.
type platform int

const (
	compatible platform = iota // no prefix: a server that has every surface
	openAI
	anthropic
	google
	azure
	vertex
	bedrock
)

// platforms are the prefixes of paths, and what has to stand between them and
// a route's own path.
var platforms = map[string]struct {
	platform platform
	lead     *regexp.Regexp
}{
	"as-openai":    {openAI, regexp.MustCompile(`^/v1$`)},
	"as-anthropic": {anthropic, regexp.MustCompile(`^/v1$`)},
	"as-google":    {google, regexp.MustCompile(`^/v1(beta)?$`)},
	"as-azure":     {azure, regexp.MustCompile(`^(/openai(/v1|/deployments/[^/]+)?)?$`)},
	"as-vertex":    {vertex, regexp.MustCompile(`^(/v1/projects/[a-z][a-z0-9-]+/locations/[a-z0-9-]+/publishers/(google|anthropic))?$`)},
	"as-bedrock":   {bedrock, regexp.MustCompile(`^$`)},
}

// keylessPrefix before another prefix turns its credential off.
const keylessPrefix = "keyless"

// bodyKind is what a route takes.
type bodyKind int

const (
	noBody bodyKind = iota
	jsonBody
	formBody   // multipart
	eitherBody // JSON or multipart
	rawBody    // whatever the route reads itself
)

// route is one method and path.
type route struct {
	method string
	path   string // the end of the path; {id} is any one segment
	format dialect
	body   bodyKind
	serve  func(x *exchange)
	on     []platform               // besides compatible
	open   bool                     // takes no credential
	model  func(x *exchange) string // where the model is not a member of the body

	segments []string // of path
}

// target is a request's path, taken apart.
type target struct {
	route      *route
	platform   platform
	prefix     string
	keyless    bool   // no credential is expected, and none is welcome
	lead       string // between the prefix and the route's path
	id         string // of an object or a model, unescaped
	deployment string // Azure's classic paths
}

func routes() []route {
	all := slices.Concat(conversationRoutes(), openAIRoutes(), mediaRoutes(), storedRoutes(), geminiRoutes(), bedrockRoutes(), tokenRoutes())
	for i := range all {
		all[i].segments = strings.Split(all[i].path, "/")[1:]
	}
	return all
}

func conversationRoutes() []route {
	both := []platform{openAI, azure}
	return []route{
		{method: http.MethodPost, path: "/chat/completions", format: chatFormat{}, body: jsonBody, serve: (*exchange).generate, on: both},
		{method: http.MethodPost, path: "/responses", format: responsesFormat{}, body: jsonBody, serve: (*exchange).generate, on: both},
		{method: http.MethodPost, path: "/messages", format: anthropicFormat{}, body: jsonBody, serve: (*exchange).generate, on: []platform{anthropic}},
		{method: http.MethodPost, path: "/messages/count_tokens", format: anthropicFormat{}, body: jsonBody, serve: (*exchange).countTokens, on: []platform{anthropic}},
		{method: http.MethodGet, path: "/models", format: chatFormat{}, serve: func(x *exchange) { x.plain(modelList()) }, on: both},
		{method: http.MethodGet, path: "/models", format: anthropicFormat{}, serve: func(x *exchange) { x.plain(claudeList()) }, on: []platform{anthropic}},
		{method: http.MethodGet, path: "/models", format: geminiFormat{}, serve: func(x *exchange) { x.plain(geminiList()) }, on: []platform{google}},
	}
}

// find goes by the end of the path, so that one server can stand for several
// providers under several prefixes. The status is 0 when there is a route.
func (s *Server) find(r *http.Request) (target, int) {
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	t := target{}
	if rest, ok := strings.CutPrefix(path, "/"+keylessPrefix+"/"); ok {
		t.keyless, path = true, "/"+rest
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if p, ok := platforms[first]; ok {
		t.platform, t.prefix, path = p.platform, first, "/"+rest
	}
	status, have := http.StatusNotFound, strings.Split(path, "/")
	for i := range s.routes {
		one := &s.routes[i]
		lead, id, ok := one.match(path, have)
		switch {
		case !ok, t.platform != compatible && !slices.Contains(one.on, t.platform):
		case one.method != r.Method:
			status = http.StatusMethodNotAllowed
		default:
			t.route, t.lead, t.id = one, lead, id
			if _, after, ok := strings.Cut(lead, "/openai/deployments/"); ok {
				t.deployment, _ = url.PathUnescape(after)
			}
			return t, 0
		}
	}
	return t, status
}

// match reports whether path, whose segments are have, ends as the route's.
func (r *route) match(path string, have []string) (lead, id string, ok bool) {
	if method, found := strings.CutPrefix(r.path, "/models/{model}:"); found {
		lead, id, called, ok := modelCall(path)
		return lead, id, ok && called == method
	}
	before := len(have) - len(r.segments)
	if before < 1 {
		return "", "", false
	}
	for i, segment := range r.segments {
		if segment != have[before+i] && segment != "{id}" {
			return "", "", false
		}
	}
	if at := slices.Index(r.segments, "{id}"); at >= 0 {
		unescaped, err := url.PathUnescape(have[before+at])
		if err != nil || unescaped == "" {
			return "", "", false
		}
		id = unescaped
	}
	return strings.Join(have[:before], "/"), id, true
}

// modelCall takes a path such as /v1beta/models/NAME:generateContent apart.
func modelCall(path string) (lead, model, method string, ok bool) {
	lead, rest, ok := strings.Cut(path, "/models/")
	at := strings.LastIndexByte(rest, ':')
	if !ok || at < 0 {
		return "", "", "", false
	}
	model, err := url.PathUnescape(rest[:at])
	return lead, model, rest[at+1:], err == nil
}

// checkLead refuses paths that only look right from their end.
func (x *exchange) checkLead() *refusal {
	if x.platform == compatible || platforms[x.prefix].lead.MatchString(x.lead) {
		return nil
	}
	return x.unknownPath(http.StatusNotFound)
}

func (x *exchange) unknownPath(status int) *refusal {
	return &refusal{status: status, message: "Invalid URL (" + x.r.Method + " " + x.r.URL.Path + ")"}
}

// format is that of the route; errors without one are in the platform's.
func (x *exchange) format() dialect {
	if x.route != nil && x.platform == azure && !x.route.open {
		return azureFormat{x.route.format}
	}
	if x.route != nil {
		return x.route.format
	}
	switch x.platform {
	case anthropic:
		return anthropicFormat{}
	case google, vertex:
		return geminiFormat{}
	case bedrock:
		return converseFormat{}
	case compatible, openAI, azure:
	}
	return chatFormat{}
}
