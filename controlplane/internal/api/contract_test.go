package api_test

import (
	"encoding/json"
	"path/filepath"
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
