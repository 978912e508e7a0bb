package decide_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDecideIsPure holds the package to values: no clock, randomness, I/O,
// logging or concurrency can enter by an import or a time function.
func TestDecideIsPure(t *testing.T) {
	allowed := map[string]bool{
		"bytes": true, "cmp": true, "encoding/json": true, "errors": true, "fmt": true, "math": true, "slices": true,
		"strconv": true, "strings": true, "time": true,
		"github.com/signalbox-dev/signalbox/shared/classify": true,
		"github.com/signalbox-dev/signalbox/shared/catalog":  true, "github.com/signalbox-dev/signalbox/shared/condition": true, "github.com/signalbox-dev/signalbox/shared/flow": true,
		"github.com/signalbox-dev/signalbox/shared/fault": true,
		"github.com/signalbox-dev/signalbox/shared/id":    true, "github.com/signalbox-dev/signalbox/shared/jsonappend": true, "github.com/signalbox-dev/signalbox/shared/meter": true,
		"github.com/signalbox-dev/signalbox/shared/money": true, "github.com/signalbox-dev/signalbox/shared/policy": true,
	}
	// What the kernel asks is as pure as the kernel.
	for dir, more := range map[string][]string{
		".": nil, "../classify": {"unicode", "unicode/utf8"}, "../condition": {"crypto/hmac", "crypto/sha256", "encoding/hex", "regexp", "regexp/syntax", "unicode/utf8"},
		"../flow": {"crypto/sha256", "encoding/hex", "io", "maps", "math/bits", "reflect", "regexp", "sort", "unicode", "unicode/utf8"},
	} {
		t.Run(dir, func(t *testing.T) {
			own := maps.Clone(allowed)
			for _, path := range more {
				own[path] = true
			}
			pure(t, dir, own)
		})
	}
}

func pure(t *testing.T, dir string, allowed map[string]bool) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, 0)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			require.True(t, allowed[path], "%s imports %s", entry.Name(), path)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					called := x.Name + "." + s.Sel.Name
					require.NotContains(t, []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "fmt.Print", "fmt.Println", "fmt.Printf"}, called, entry.Name())
				}
			}
			_, concurrent := n.(*ast.GoStmt)
			require.False(t, concurrent, entry.Name())
			return true
		})
	}
	require.NotZero(t, files)
}
