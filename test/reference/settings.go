package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Module is the path that the modules of the repository begin with.
const Module = "github.com/signalbox-dev/signalbox/"

// Setting is one setting of a process.
type Setting struct {
	Key      string // dotted
	Variable string
	Type     string
	Default  any
	Doc      string // the field's comment, on one line
	Secret   bool
}

// Settings lists the settings of a configuration struct in the order of its
// fields, with the values of defaults. The comments are read from the sources
// under root.
func Settings(root string, defaults any) ([]Setting, error) {
	s := settings{root: root, comments: make(map[string]map[string]string)}
	err := s.walk(reflect.ValueOf(defaults), "")
	return s.found, err
}

type settings struct {
	root     string
	comments map[string]map[string]string // by package, then by Type.Field
	found    []Setting
}

func (s *settings) walk(v reflect.Value, path string) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("mapstructure"), ",")
		key := path + strings.ToLower(first(name, f.Name))
		var err error
		switch {
		case strings.Contains(options, "squash"):
			err = s.walk(v.Field(i), path)
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[secret.String]():
			err = s.walk(v.Field(i), key+".")
		default:
			err = s.leaf(v.Type(), f, v.Field(i), key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *settings) leaf(in reflect.Type, f reflect.StructField, v reflect.Value, key string) error {
	doc, err := s.comment(in, f.Name)
	if err != nil {
		return err
	}
	if rest, named := strings.CutPrefix(doc, f.Name+" "); named { // as Go comments begin
		doc = "`" + key[strings.LastIndexByte(key, '.')+1:] + "` " + rest
	}
	s.found = append(s.found, Setting{
		Key:      key,
		Variable: config.Prefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_")),
		Type:     typeName(f.Type),
		Default:  v.Interface(),
		Doc:      doc,
		Secret:   f.Type == reflect.TypeFor[secret.String](),
	})
	return nil
}

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[secret.String]():
		return "secret"
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.String:
		return "text"
	default:
		return "number"
	}
}

// comment finds what the source says of a field: above it, else behind it.
func (s *settings) comment(in reflect.Type, field string) (string, error) {
	of, known := s.comments[in.PkgPath()]
	if !known {
		var err error
		of, err = comments(filepath.Join(s.root, strings.TrimPrefix(in.PkgPath(), Module)))
		if err != nil {
			return "", err
		}
		s.comments[in.PkgPath()] = of
	}
	return of[in.Name()+"."+field], nil
}

// comments reads the comments of every struct's fields in a directory.
func comments(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	found := make(map[string]string)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read sources: %w", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						found[spec.Name.Name+"."+name.Name] = oneLine(first(f.Doc.Text(), f.Comment.Text()))
					}
				}
			}
			return false
		})
	}
	return found, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// yaml writes the default as the configuration file does.
func (s Setting) yaml() string {
	switch v := s.Default.(type) {
	case time.Duration:
		return duration(v)
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, item := range v {
			quoted[i] = strconv.Quote(item)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(s.Default)
}

// duration is 1m rather than 1m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
