package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// leaf is one setting: what is read as a whole.
type leaf struct {
	key string // dotted, lower case
	typ reflect.Type
}

var (
	secretType   = reflect.TypeFor[secret.String]()
	durationType = reflect.TypeFor[time.Duration]()
	readsItself  = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (l leaf) secret() bool     { return l.typ == secretType }
func (l leaf) variable() string { return Prefix + strings.ToUpper(strings.ReplaceAll(l.key, ".", "_")) }

// leavesOf walks a settings struct as mapstructure does.
func leavesOf(t reflect.Type) ([]leaf, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("settings must be a struct, not %s", t)
	}
	var leaves []leaf
	walk(t, "", &leaves)
	byVariable := make(map[string]string, len(leaves))
	for _, l := range leaves {
		if other, taken := byVariable[l.variable()]; taken {
			return nil, fmt.Errorf("settings %s and %s share the variable %s", other, l.key, l.variable())
		}
		byVariable[l.variable()] = l.key
	}
	return leaves, nil
}

func walk(t reflect.Type, path string, leaves *[]leaf) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("mapstructure"), ",")
		switch {
		case !f.IsExported(), name == "-":
			continue
		case strings.Contains(options, "squash"):
			walk(f.Type, path, leaves)
			continue
		case name == "":
			name = f.Name
		}
		key := strings.ToLower(name)
		if path != "" {
			key = path + "." + key
		}
		if f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(readsItself) {
			walk(f.Type, key, leaves)
			continue
		}
		*leaves = append(*leaves, leaf{key: key, typ: f.Type})
	}
}

// check decodes the setting's value by itself, so that a failure can be told
// without mapstructure's text, which repeats values.
func (l leaf) check(v *viper.Viper) error {
	value := v.Get(l.key)
	if value == nil {
		return nil
	}
	target := reflect.New(l.typ)
	conf := &mapstructure.DecoderConfig{Result: target.Interface()}
	decoding(conf)
	decoder, err := mapstructure.NewDecoder(conf)
	if err != nil {
		return fmt.Errorf("%s: cannot be read", l.key)
	}
	if err := decoder.Decode(value); err != nil {
		return fmt.Errorf("%s (%s): want %s", l.key, l.variable(), wanted(l.typ))
	}
	return nil
}

func wanted(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration such as 500ms, 30s or 5m"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return "a whole number"
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return "a whole number that is not negative"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Slice:
		return "a list, in the environment separated by commas"
	default:
		return "a value of another form"
	}
}

// commaSeparated reads a list of texts from one text; empty text is an empty list.
func commaSeparated(from, to reflect.Type, data any) (any, error) {
	if from.Kind() != reflect.String || to.Kind() != reflect.Slice || to.Elem().Kind() == reflect.Uint8 {
		return data, nil
	}
	text, ok := data.(string)
	if !ok || strings.TrimSpace(text) == "" {
		return []string{}, nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts, nil
}
