package reference_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the generated pages")

// root is the top of the repository.
var root = filepath.Join("..", "..")

// current asserts that a generated page is what its source makes it now.
func current(t *testing.T, name, page string) {
	t.Helper()
	path := filepath.Join(root, "docs", "reference", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page, string(have), "the page has drifted: run `make gen`")
}
