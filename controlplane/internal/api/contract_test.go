package api_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
)

// TestGeneratedCodeFitsTheContract fails when the file was changed and the
// code was not generated again.
func TestGeneratedCodeFitsTheContract(t *testing.T) {
	file, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "..", "docs", "api", "management.yaml"))
	require.NoError(t, err)
	require.NoError(t, file.Validate(t.Context()))
	embedded, err := gen.GetSpec()
	require.NoError(t, err)
	want, err := json.Marshal(file)
	require.NoError(t, err)
	have, err := json.Marshal(embedded)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(have), "run: make gen")
}

// TestBodiesTakeNoUnknownFields: the generated types would take a name that
// differs in the case of a letter, so every object that is sent is closed by
// the contract, or is read by its exact names (docs/platform-catalog.md, and
// graphs), or may have any, as a sample request.
func TestBodiesTakeNoUnknownFields(t *testing.T) {
	spec, err := gen.GetSpec()
	require.NoError(t, err)
	byExactNames := []string{
		"#/components/schemas/PlatformDocument", "#/components/schemas/PlatformEntry", "#/components/schemas/DynamicRouteGraph",
		"#/components/schemas/DynamicRouteSample",
	}
	closed := 0
	var walk func(at string, ref *openapi3.SchemaRef)
	walk = func(at string, ref *openapi3.SchemaRef) {
		if ref == nil || slices.Contains(byExactNames, ref.Ref) {
			return
		}
		s := ref.Value
		if values := s.AdditionalProperties.Schema; values != nil && len(s.Properties) == 0 {
			if values.Value.Type != nil {
				walk(at+".*", values)
			}
			return // a map keeps the names that it is given
		}
		if s.Type.Is("object") || len(s.Properties) > 0 {
			closed++
			require.NotNil(t, s.AdditionalProperties.Has, at)
			require.False(t, *s.AdditionalProperties.Has, at)
		} else if len(s.AllOf) == 0 {
			require.NotNil(t, s.Type, "%s is of any type", at)
		}
		for name, inner := range s.Properties {
			walk(at+"."+name, inner)
		}
		walk(at+"[]", s.Items)
		for _, part := range s.AllOf {
			walk(at, part)
		}
		require.Empty(t, slices.Concat(s.AnyOf, s.OneOf), "%s: look into these too", at)
	}
	for path, item := range spec.Paths.Map() {
		for method, operation := range item.Operations() {
			if body := operation.RequestBody; body != nil {
				walk(method+" "+path+": ", body.Value.Content.Get("application/json").Schema)
			}
		}
	}
	require.Greater(t, closed, 20)
}
