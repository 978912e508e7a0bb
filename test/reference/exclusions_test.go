package reference_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var exclusionReason = regexp.MustCompile(`(?m)^\treason[A-Z]\w+ += "(\w+)"$`)

// The page tells what every reason of an exclusion means.
func TestReferenceExclusions(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "shared", "decide", "stage.go"))
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "inference-api.md"))
	require.NoError(t, err)
	reasons := exclusionReason.FindAllSubmatch(source, -1)
	require.GreaterOrEqual(t, len(reasons), 25)
	for _, r := range reasons {
		require.Contains(t, string(page), "`"+string(r[1])+"`")
	}
}
