package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
)

// Constant is a text constant of the source.
type Constant struct{ Name, Value string }

// Constants reads the constants of a type from a file under root, in order.
func Constants(root, file, typeName string) ([]Constant, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read constants: %w", err)
	}
	var found []Constant
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || len(value.Values) != 1 {
				continue
			}
			of, isIdent := value.Type.(*ast.Ident)
			text, isText := value.Values[0].(*ast.BasicLit)
			if !isIdent || !isText || of.Name != typeName {
				continue
			}
			v, err := strconv.Unquote(text.Value)
			if err != nil {
				return nil, fmt.Errorf("read constant %s: %w", value.Names[0].Name, err)
			}
			found = append(found, Constant{Name: value.Names[0].Name, Value: v})
		}
	}
	return found, nil
}
