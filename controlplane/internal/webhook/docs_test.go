package webhook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// snippet is the block of a language in the guide.
func snippet(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "webhooks.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```"+language+"\n")
	require.True(t, found, language)
	code, _, _ := strings.Cut(rest, "```")
	return code
}

const goProgram = `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	var cases []struct {
		Secret, Header, Body string
		Now                  int64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	var got []bool
	for _, c := range cases {
		got = append(got, verify(c.Secret, c.Header, []byte(c.Body), time.Unix(c.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(got)
}

`

const nodeProgram = `
const cases = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
console.log(JSON.stringify(cases.map((c) => verify(c.Secret, c.Header, c.Body, c.Now))))
`

const pythonProgram = `
import json, sys
print(json.dumps([verify(c["Secret"], c["Header"], c["Body"].encode(), c["Now"]) for c in json.load(sys.stdin)]))
`

// What the guide says how to verify takes what is signed, and nothing else. A
// language that this machine does not have is left to one that does; Go it has.
func TestTheGuidesVerifySignatures(t *testing.T) {
	type row struct {
		Secret, Header, Body string
		Now                  int64
		want                 bool
	}
	const body = `{"a":"ü"}`
	one, two := secret.NewString("sb_whsec_one"), secret.NewString("sb_whsec_two")
	single, both, now := webhook.Sign([]byte(body), at, one), webhook.Sign([]byte(body), at, two, one), at.Unix()
	rows := []row{
		{one.Reveal(), single, body, now, true},
		{one.Reveal(), both, body, now + 299, true},
		{two.Reveal(), both, body, now - 299, true},
		{two.Reveal(), single, body, now, false},
		{one.Reveal(), single, body + " ", now, false},
		{one.Reveal(), single, body, now + 301, false},
		{one.Reveal(), strings.Replace(single, "t=", "t=1", 1), body, now, false},
		{one.Reveal(), strings.Replace(single, "v1=", "v0=", 1), body, now, false},
		{one.Reveal(), "", body, now, false},
		{one.Reveal(), "t=" + at.Format(time.RFC3339) + ",v1=", body, now, false},
	}
	input, err := json.Marshal(rows)
	require.NoError(t, err)
	for language, c := range map[string]struct{ file, code, command string }{
		"go":     {"verify.go", goProgram + snippet(t, "go"), "go"},
		"js":     {"verify.cjs", snippet(t, "js") + nodeProgram, "node"},
		"python": {"verify.py", snippet(t, "python") + pythonProgram, "python3"},
	} {
		if _, err := exec.LookPath(c.command); err != nil && c.command != "go" {
			continue
		}
		file := filepath.Join(t.TempDir(), c.file)
		require.NoError(t, os.WriteFile(file, []byte(c.code), 0o600))
		args := []string{file}
		if c.command == "go" {
			args = []string{"run", file}
		}
		run := exec.CommandContext(t.Context(), c.command, args...)
		run.Stdin = strings.NewReader(string(input))
		out, err := run.Output()
		require.NoError(t, err, language)
		var got []bool
		require.NoError(t, json.Unmarshal(out, &got))
		for i, r := range rows {
			require.Equal(t, r.want, got[i], "%s: %d", language, i)
		}
	}
}
