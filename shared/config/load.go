// Package config owns how process settings are read: defaults, one YAML file,
// the environment, in this order, strictly. It is the only package that knows
// viper. It knows no particular setting, only the variables that are none. A
// variable with the prefix that names nothing is refused, because it is a
// typing error that would pass in silence. Its errors list every problem and
// name keys and variables, never values.
//
// The variable of a key is the prefix and the key in upper case with
// underscores: nats.url is SIGNALBOX_NATS_URL. Settings of type secret.String
// come from their variable or from a file that the variable with _FILE at its
// end names, never from the YAML file.
package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// Prefix begins the name of every variable.
const Prefix = "SIGNALBOX_"

// Options say where settings come from. T is a struct whose fields carry
// mapstructure tags; when it has a Validate() error method, that runs last.
type Options[T any] struct {
	Default T
	File    string   // YAML; "" for none
	Environ []string // "NAME=value"; nil means the process's
}

// Load reads the settings.
func Load[T any](o Options[T]) (T, error) {
	none := o.Default
	leaves, err := leavesOf(reflect.TypeFor[T]())
	if err != nil {
		return none, err
	}
	v := viper.NewWithOptions(viper.ExperimentalBindStruct())
	var problems problems
	if o.File != "" {
		problems.add(readFile(v, o.File, leaves)...)
	}
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	problems.add(readEnvironment(v, environ, leaves)...)
	for _, l := range leaves {
		problems.add(l.check(v))
	}
	if err := problems.err(); err != nil {
		return none, err
	}
	c := o.Default
	if err := v.UnmarshalExact(&c, decoding); err != nil {
		// Each value was decoded by itself before; the text may hold values.
		return none, errors.New("the settings do not fit their form")
	}
	if valid, ok := any(c).(interface{ Validate() error }); ok {
		if err := valid.Validate(); err != nil {
			return none, fmt.Errorf("invalid settings:\n%w", named{err, leaves})
		}
	}
	return c, nil
}

// decoding makes mapstructure read durations, comma-separated lists and types
// that read themselves from text, secret.String among them.
func decoding(c *mapstructure.DecoderConfig) {
	c.DecodeHook = mapstructure.ComposeDecodeHookFunc(
		mapstructure.StringToTimeDurationHookFunc(),
		commaSeparated,
		mapstructure.TextUnmarshallerHookFunc(),
	)
	c.WeaklyTypedInput = true // the environment has only text
	c.ErrorUnused = true
	c.ZeroFields = true // a list given replaces a default list, it does not overlay it
}

// named says behind each problem of a setting which variable sets it: who
// configures by the environment has never seen the key.
type named struct {
	cause  error
	leaves []leaf
}

func (n named) Error() string {
	lines := strings.Split(n.cause.Error(), "\n")
	for i, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		if l, known := settingOf(key, n.leaves); known {
			lines[i] += " (" + l.variable() + ")"
		}
	}
	return strings.Join(lines, "\n")
}

func (n named) Unwrap() error { return n.cause }

// problems collects what is wrong.
type problems []error

func (p *problems) add(errs ...error) {
	for _, err := range errs {
		if err != nil {
			*p = append(*p, err)
		}
	}
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return fmt.Errorf("invalid settings:\n%w", errors.Join(p...))
}
