package preset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of parameters.
const (
	maxParams     = 64
	maxParamName  = 64
	maxParamBytes = 16 << 10 // of one value
	maxParamDepth = 16       // of arrays and objects within each other
)

const ownsIt = "belongs to the request itself"

// checkParams notes what is wrong with defaults for fields of the body.
func checkParams(v *rule.Violations, path string, params map[string]json.RawMessage) {
	if len(params) > maxParams {
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d entries", maxParams))
		return
	}
	for i, name := range slices.Sorted(maps.Keys(params)) {
		if !paramName(name) {
			v.Add(fmt.Sprintf("%s[%d]", path, i), rule.Malformed,
				"the name of a field has letters, digits and underscores, at most 64; entries are counted in the order of their names")
			continue
		}
		if policy.OwnParam(name) {
			v.Add(path+"."+name, rule.NotAllowed, ownsIt)
			continue
		}
		checkParam(v, path+"."+name, params[name])
		if policy.FoldParam(name) == policy.GenerationConfig {
			checkGeneration(v, path+"."+name, params[name])
		}
	}
}

func paramName(name string) bool {
	return name != "" && len(name) <= maxParamName && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func checkParam(v *rule.Violations, path string, value json.RawMessage) {
	if len(value) > maxParamBytes {
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d bytes as JSON", maxParamBytes))
		return
	}
	switch deep, err := depth(value); {
	case err != nil:
		v.Add(path, rule.Malformed, "must be JSON")
	case deep > maxParamDepth:
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d arrays and objects within each other", maxParamDepth))
	case string(bytes.TrimSpace(value)) == "null":
		v.Add(path, rule.NotAllowed, "must not be null: leave the field out")
	}
}

// checkGeneration notes what parameters in Gemini's place may not say either.
func checkGeneration(v *rule.Violations, path string, value json.RawMessage) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil && json.Valid(value) {
		v.Add(path, rule.Malformed, "must be an object")
		return
	}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if policy.OwnParam(name) {
			v.Add(fmt.Sprintf("%s[%d]", path, i), rule.NotAllowed, ownsIt+"; entries are counted in the order of their names")
		}
	}
}

// depth is how deep arrays and objects lie within each other.
func depth(value json.RawMessage) (deepest int, err error) {
	if !json.Valid(value) {
		return 0, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	for now := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return deepest, nil
		}
		if err != nil {
			return 0, err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			now++
			deepest = max(deepest, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
	}
}
