package dev

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// simulatedKey precedes the name of a simulated provider in the variable that
// the catalog names for its key. No such variable is set: the control plane is
// told the keys by environment, so that they are in no file.
const simulatedKey = "SIGNALBOX_KEY_OF_"

func reference(slug string) string { return "${" + variableOf(slug) + "}" }

func variableOf(slug string) string {
	return simulatedKey + strings.ToUpper(strings.ReplaceAll(slug, "-", "_"))
}

// environment is where the control plane looks up what the catalog names.
func environment(simulatorURL string, lookup func(string) (string, bool)) func(string) (string, bool) {
	keys := map[string]string{}
	if simulatorURL != "" {
		for slug, key := range simulator.Keys(simulatorURL) {
			keys[variableOf(slug)] = key
		}
	}
	return func(name string) (string, bool) {
		if key, ok := keys[name]; ok {
			return key, true
		}
		return lookup(name)
	}
}

// writeCatalog puts the overlay of this machine into the data folder: the
// simulated provider, and every provider of the embedded catalog whose key is
// in the environment. It returns the file's path and those providers' slugs.
// Keys stay in the environment; the file only names their variables.
func writeCatalog(dir, simulatorURL string, getenv func(string) string) (path string, providers []string, err error) {
	embedded, err := catalog.Embedded()
	if err != nil {
		return "", nil, fmt.Errorf("read the embedded catalog: %w", err)
	}
	text := "# Written by signalbox dev at every start.\nproviders:\n"
	if simulatorURL != "" {
		text = "# Written by signalbox dev at every start.\n" + simulator.CatalogWithKeys(simulatorURL, reference)
	}
	var keyed strings.Builder
	for _, p := range embedded.Providers {
		for _, variable := range catalog.EnvKeys(p.Slug) {
			if getenv(variable) != "" {
				fmt.Fprintf(&keyed, "  - slug: %s\n    api_key: ${%s}\n", p.Slug, variable)
				providers = append(providers, p.Slug)
				break
			}
		}
	}
	// The entries go under the first "providers:" that is there already.
	text = strings.Replace(text, "providers:\n", "providers:\n"+keyed.String(), 1)
	if simulatorURL == "" && keyed.Len() == 0 {
		text = "{}\n"
	}
	path = filepath.Join(dir, "catalog.dev.yaml")
	return path, providers, writeFile(path, []byte(text))
}
