package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

var yamlLine = regexp.MustCompile(`line \d+`)

// readFile reads the YAML file and refuses keys that name no setting.
func readFile(v *viper.Viper, path string, leaves []leaf) []error {
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	if err := v.ReadInConfig(); err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return []error{fmt.Errorf("the file %s does not exist", path)}
		case errors.Is(err, fs.ErrPermission):
			return []error{fmt.Errorf("the file %s may not be read", path)}
		case yamlLine.MatchString(err.Error()):
			return []error{fmt.Errorf("the file %s is not valid YAML: %s", path, yamlLine.FindString(err.Error()))}
		default:
			return []error{fmt.Errorf("the file %s is not valid YAML", path)}
		}
	}
	var problems []error
	keys := v.AllKeys()
	slices.Sort(keys)
	for _, key := range keys {
		l, known := settingOf(key, leaves)
		switch {
		case !known:
			problems = append(problems, fmt.Errorf("%s: there is no such setting (in %s)", key, path))
		case l.secret():
			problems = append(problems, fmt.Errorf("%s: a secret comes from %s or a file that %s_FILE names, not from %s",
				key, l.variable(), l.variable(), path))
		}
	}
	return problems
}

// settingOf finds the setting that a key of the file is, or lies in: a
// setting can be a map.
func settingOf(key string, leaves []leaf) (leaf, bool) {
	for _, l := range leaves {
		if key == l.key || strings.HasPrefix(key, l.key+".") {
			return l, true
		}
	}
	return leaf{}, false
}

// readEnvironment overlays the variables and refuses those that name no setting.
func readEnvironment(v *viper.Viper, environ []string, leaves []leaf) []error {
	env := make(map[string]string)
	var names []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
		if strings.HasPrefix(name, Prefix) {
			names = append(names, name)
		}
	}
	_, inKubernetes := env["KUBERNETES_SERVICE_HOST"]
	settings := make(map[string]leaf, len(leaves))
	for _, l := range leaves {
		settings[l.variable()] = l
	}
	var problems problems
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		l, isSetting := settings[name]
		file, isFile := settings[strings.TrimSuffix(name, FileSuffix)]
		switch {
		case isSetting:
			v.Set(l.key, env[name])
		case isFile && file.secret():
			problems.add(readSecret(v, file, name, env))
		case passes(name), inKubernetes && serviceLink.MatchString(name):
		default:
			problems.add(fmt.Errorf("%s: there is no such setting", name))
		}
	}
	return problems
}

// FileSuffix ends the name of a variable that names a file with the value.
const FileSuffix = "_FILE"

// serviceLink matches the variables that Kubernetes adds for every service of
// the namespace, ours among them.
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

func readSecret(v *viper.Viper, l leaf, name string, env map[string]string) error {
	if _, both := env[l.variable()]; both {
		return fmt.Errorf("%s: give either %s or %s", l.key, l.variable(), name)
	}
	text, err := os.ReadFile(env[name])
	if err != nil {
		return fmt.Errorf("%s: the file that it names cannot be read", name)
	}
	// Editors and kubectl end files with a newline that is no part of the secret.
	v.Set(l.key, strings.TrimRight(string(text), "\r\n"))
	return nil
}
