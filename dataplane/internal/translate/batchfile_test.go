package translate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryLineOfABatchNamesTheUpstreamsModel(t *testing.T) {
	in := `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"acme/small","seed":12345678901234567890}}` + "\r\n" +
		"\n" + ` { "body" : {"messages":[{"content":"say \"acme/small\""}], "model" : "acme\/small" } , "x":1e400}`
	pieces, wrong := batchFile([]byte(in), "acme/small", "small-v1")
	require.Nil(t, wrong)
	want := strings.Replace(in, `"model":"acme/small"`, `"model":"small-v1"`, 1)
	want = strings.Replace(want, `"model" : "acme\/small"`, `"model" : "small-v1"`, 1)
	require.Equal(t, want, string(bytes.Join(pieces, nil)))
}

func TestLinesThatCannotBeSentAreNamed(t *testing.T) {
	good := `{"body":{"model":"m"}}` + "\n"
	for name, c := range map[string]struct{ file, path string }{
		"empty":         {"", "file"},
		"blank":         {"\n \r\n", "file"},
		"not JSON":      {good + "oops\n", "file.line_2"},
		"two objects":   {good + "\n" + `{"body":{"model":"m"}} {}`, "file.line_3"},
		"no body":       {`{"custom_id":"x"}`, "file.line_1"},
		"no model":      {`{"body":{}}`, "file.line_1"},
		"another model": {good + `{"body":{"model":"n"}}`, "file.line_2"},
		"twice":         {`{"body":{"model":"m","model":"m"}}`, "file.line_1"},
		"number":        {`{"body":{"model":5}}`, "file.line_1"},
		"cut":           {`{"body":{"model":"m"`, "file.line_1"},
	} {
		_, wrong := batchFile([]byte(c.file), "m", "up")
		require.NotNil(t, wrong, name)
		require.Len(t, wrong.Violations, 1, name)
		require.Equal(t, c.path, wrong.Violations[0].Path, name)
	}
}
