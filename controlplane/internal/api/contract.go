package api

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// contract is the OpenAPI file, indexed by the route patterns of gin.
type contract struct {
	json   []byte
	doc    *openapi3.T
	routes map[string]*routers.Route // "GET /v1/keys/:key_id"
}

func loadContract() (*contract, error) {
	raw, err := gen.GetSpecJSON()
	if err != nil {
		return nil, fmt.Errorf("read the embedded contract: %w", err)
	}
	doc, err := gen.GetSpec()
	if err != nil {
		return nil, fmt.Errorf("load the embedded contract: %w", err)
	}
	c := &contract{json: raw, doc: doc, routes: make(map[string]*routers.Route)}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			c.routes[method+" "+ginPath(path)] = &routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: operation,
			}
		}
	}
	return c, nil
}

var pathParameter = regexp.MustCompile(`\{([^}]+)\}`)

func ginPath(path string) string { return pathParameter.ReplaceAllString(path, ":$1") }

// route is the operation that gin matched, nil outside the contract.
func (k *contract) route(c *gin.Context) *routers.Route {
	return k.routes[c.Request.Method+" "+c.FullPath()]
}

var validation = &openapi3filter.Options{
	MultiError:          true,
	SkipSettingDefaults: true,
	AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // authn has run
}

// validate checks parameters and body against the contract and returns every
// violation at once.
func (k *contract) validate(c *gin.Context, route *routers.Route) error {
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return fault.Invalid(fault.Violation{Code: "malformed_query", Message: "the query string cannot be read"})
	}
	violations := slices.Concat(unknownParameters(route, query), unstorable(route, query), repeatedHeaders(route, c.Request.Header))
	params := make(map[string]string, len(c.Params))
	for _, p := range c.Params {
		params[p.Key] = p.Value
	}
	err = openapi3filter.ValidateRequest(c.Request.Context(), &openapi3filter.RequestValidationInput{
		Request: c.Request, PathParams: params, QueryParams: query, Route: route, Options: validation,
	})
	violations = append(violations, violationsOf(err)...)
	if len(violations) > 0 {
		return fault.Invalid(violations...)
	}
	return nil
}

// unknownParameters names the query parameters that the operation does not
// have, and those given more than once.
func unknownParameters(route *routers.Route, query url.Values) []fault.Violation {
	var violations []fault.Violation
	for name, values := range query {
		switch {
		case parameter(route, name) == nil:
			violations = append(violations, misnamed("", name, parameterNames(route), "unknown_parameter", "unknown query parameter"))
		case len(values) > 1:
			violations = append(violations, fault.Violation{
				Path: name, Code: "repeated_parameter", Message: "give this parameter once",
			})
		}
	}
	return violations
}

// unstorable names the query parameters whose value is no text: what is not
// UTF-8 or has a NUL can be nothing's name, and Postgres refuses it.
func unstorable(route *routers.Route, query url.Values) []fault.Violation {
	var violations []fault.Violation
	for name, values := range query {
		if slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) || strings.ContainsRune(v, 0) }) {
			violations = append(violations, misnamed("", name, parameterNames(route), "malformed", "must be UTF-8 without control characters"))
		}
	}
	return violations
}

// repeatedHeaders names the operation's headers that are there more than once.
func repeatedHeaders(route *routers.Route, header http.Header) []fault.Violation {
	var violations []fault.Violation
	for _, p := range slices.Concat(route.PathItem.Parameters, route.Operation.Parameters) {
		if p.Value.In == openapi3.ParameterInHeader && len(header.Values(p.Value.Name)) > 1 {
			violations = append(violations, fault.Violation{
				Path: p.Value.Name, Code: "repeated_parameter", Message: "give this header once",
			})
		}
	}
	return violations
}

func parameter(route *routers.Route, name string) *openapi3.Parameter {
	if p := route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name); p != nil {
		return p
	}
	return route.PathItem.Parameters.GetByInAndName(openapi3.ParameterInQuery, name)
}

// isMutation reports whether method changes something.
func isMutation(method string) bool {
	return method != http.MethodGet && method != http.MethodHead
}

// takesBody reports whether the operation reads a body.
func takesBody(route *routers.Route) bool { return route.Operation.RequestBody != nil }

func parameterNames(route *routers.Route) []string {
	var names []string
	for _, p := range slices.Concat(route.PathItem.Parameters, route.Operation.Parameters) {
		names = append(names, p.Value.Name)
	}
	return names
}
