package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// presetSchema is the JSON Schema of a preset's file, made of the contract: the
// body of a new preset with what it refers to.
func presetSchema(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "api", "management.yaml"))
	require.NoError(t, err)
	var contract struct {
		Components struct {
			Schemas map[string]any `yaml:"schemas"`
		} `yaml:"components"`
	}
	require.NoError(t, yaml.Unmarshal(text, &contract))
	definitions := make(map[string]any)
	var clean func(node any) any
	clean = func(node any) any {
		switch node := node.(type) {
		case []any:
			list := make([]any, len(node))
			for i := range node {
				list[i] = clean(node[i])
			}
			return list
		case map[string]any:
			object := make(map[string]any, len(node))
			for name, value := range node {
				target, isText := value.(string)
				switch {
				case strings.HasPrefix(name, "x-"):
				case name == "$ref" && isText:
					kind := strings.TrimPrefix(target, "#/components/schemas/")
					if _, there := definitions[kind]; !there {
						definitions[kind] = true // before its own references
						definitions[kind] = clean(contract.Components.Schemas[kind])
					}
					object[name] = "#/$defs/" + kind
				default:
					object[name] = clean(value)
				}
			}
			return object
		}
		return node
	}
	schema := clean(contract.Components.Schemas["NewPreset"]).(map[string]any)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "A preset, as signalbox presets create -f reads it"
	schema["$defs"] = definitions
	return schema
}

func TestReferencePresetSchemaIsCurrent(t *testing.T) {
	want, err := json.MarshalIndent(presetSchema(t), "", "  ")
	require.NoError(t, err)
	path := filepath.Join("..", "..", "docs", "reference", "preset.schema.json")
	if *update {
		require.NoError(t, os.WriteFile(path, append(want, '\n'), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(have), "run the test with -update")
}

// The schema names exactly the fields that a file is read into.
func TestPresetSchemaNamesEveryField(t *testing.T) {
	schema := presetSchema(t)
	names := func(of reflect.Type) (list []string) {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			list = append(list, name)
		}
		return list
	}
	keys := func(object any) (list []string) {
		require.Equal(t, false, object.(map[string]any)["additionalProperties"])
		for name := range object.(map[string]any)["properties"].(map[string]any) {
			list = append(list, name)
		}
		return list
	}
	definitions := schema["$defs"].(map[string]any)
	require.ElementsMatch(t, names(reflect.TypeFor[client.NewPreset]()), keys(schema))
	require.ElementsMatch(t, names(reflect.TypeFor[client.PresetConfig]()), keys(definitions["PresetConfig"]))
	require.ElementsMatch(t, names(reflect.TypeFor[client.ProviderFields]()), keys(definitions["ProviderFields"]))
	require.ElementsMatch(t, names(reflect.TypeFor[client.PresetCache]()), keys(definitions["PresetCache"]))
}
