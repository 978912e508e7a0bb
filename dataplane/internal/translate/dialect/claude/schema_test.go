package claude_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/claude"
)

func TestClosedSchemas(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"closed already":     {`{"type":"object","additionalProperties":false,"properties":{}}`, `{"type":"object","additionalProperties":false,"properties":{}}`},
		"open on purpose":    {`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"string"}}`},
		"left out":           {`{ "type": "object", "properties": {"b":{"type":"string"},"a":{"type":"number"}} }`, `{ "type": "object", "properties": {"b":{"type":"string"},"a":{"type":"number"}} ,"additionalProperties":false}`},
		"without a type":     {`{"properties":{"a":{}}}`, `{"properties":{"a":{}},"additionalProperties":false}`},
		"one of its types":   {`{"type":["object","null"]}`, `{"type":["object","null"],"additionalProperties":false}`},
		"in a member":        {`{"type":"object","properties":{"a":{"type":"object"}},"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":false}`},
		"in a list":          {`{"type":"array","items":{"type":"object"}}`, `{"type":"array","items":{"type":"object","additionalProperties":false}}`},
		"in alternatives":    {`{"anyOf":[{"type":"object"},{"type":"null"}]}`, `{"anyOf":[{"type":"object","additionalProperties":false},{"type":"null"}]}`},
		"in definitions":     {`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","additionalProperties":false}}}`},
		"a member called so": {`{"type":"object","properties":{"items":{"type":"string"},"type":{"enum":["object"]}},"additionalProperties":false}`, `{"type":"object","properties":{"items":{"type":"string"},"type":{"enum":["object"]}},"additionalProperties":false}`},
		"a word":             {`true`, `true`},
		"numbers as written": {`{"type":"object","properties":{"n":{"const":12345678901234567890}}}`, `{"type":"object","properties":{"n":{"const":12345678901234567890}},"additionalProperties":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := claude.Closed(json.RawMessage(c.in))
			require.Equal(t, c.want, string(got))
			require.Equal(t, c.want, string(claude.Closed(got)), "once is enough")
		})
	}
}
