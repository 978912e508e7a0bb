package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

// serve is a control plane of one handler, and a person who talks to it.
func serve(t *testing.T, answer http.HandlerFunc) *terminal {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return &terminal{t: t, dir: t.TempDir(), env: map[string]string{
		"SIGNALBOX_MANAGEMENT_KEY": "sb_mk_v1_x", "SIGNALBOX_API_KEY": "sb_v1_x", "SIGNALBOX_OPERATOR_TOKEN": operatorToken,
		"SIGNALBOX_CONTROL_URL": server.URL, "SIGNALBOX_GATEWAY_URL": server.URL,
	}}
}

func problem(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "application/problem+json"}[status == http.StatusOK])
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const (
	someRequest = "req_01kb7n0z1v8q5r2m3t4w5x6y7z"
	noRecord    = `{"code":"not_found","detail":"There is no such request."}`
	oneRecord   = `{"id":"` + someRequest + `","primary_request_id":"` + someRequest + `","started_at":"2026-05-04T03:02:01Z",
		"outcome":"success","status":200,"surface":"chat","cost_usd":"0","models":[]}`
)

// A request is recorded a moment after its answer, so a command that is given
// its id asks again before it says that there is none.
func TestARequestIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		args          []string
		empty, filled string
		status        int
	}{
		"explain":        {[]string{"explain", someRequest}, noRecord, `{"data":` + oneRecord + `}`, http.StatusNotFound},
		"get":            {[]string{"logs", "get", someRequest}, noRecord, `{"data":` + oneRecord + `}`, http.StatusNotFound},
		"list":           {[]string{"logs", "--request", someRequest}, `{"data":[],"next_cursor":null}`, `{"data":[` + oneRecord + `],"next_cursor":null}`, http.StatusOK},
		"list in a word": {[]string{"logs", "list", "--request", someRequest}, `{"data":[],"next_cursor":null}`, `{"data":[` + oneRecord + `],"next_cursor":null}`, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			asked, from := 0, 3
			term := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked++
				if asked < from {
					problem(w, c.status, c.empty)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.filled)
			})
			term.run(c.args...).is(cli.ExitOK).shows(someRequest)
			require.Equal(t, 3, asked)
			require.Equal(t, 500*time.Millisecond, term.waited)

			asked, from, term.waited = 0, 1000, 0
			got := term.run(c.args...)
			require.Contains(t, got.out+got.err, "It is not recorded (yet)")
			require.Equal(t, 3*time.Second, term.waited)
			if c.status == http.StatusNotFound {
				got.is(cli.ExitNotFound)
			}
		})
	}
}

// What cannot be on its way is not waited for.
func TestOnlyARequestOnItsWayIsWaitedFor(t *testing.T) {
	status, body := http.StatusNotFound, noRecord
	term := serve(t, func(w http.ResponseWriter, _ *http.Request) { problem(w, status, body) })
	term.run("explain", "req_x").is(cli.ExitNotFound)
	status, body = http.StatusForbidden, `{"code":"forbidden","detail":"No."}`
	term.run("explain", someRequest).is(cli.ExitRefused)
	status, body = http.StatusOK, `{"data":[],"next_cursor":null}`
	term.run("logs").is(cli.ExitOK)
	term.run("logs", "--request", someRequest, "--outcome", "error").is(cli.ExitOK)
	require.Zero(t, term.waited)
	term.run("logs", "--request", someRequest, "-o", "json").is(cli.ExitOK).hides("not recorded")
}

// A refusal for being too frequent says when that ends, whoever refuses.
func TestTooOftenSaysWhenToTryAgain(t *testing.T) {
	after := "7"
	term := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		if r.URL.Path == "/v1/models" {
			problem(w, http.StatusTooManyRequests, `{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}`)
			return
		}
		problem(w, http.StatusTooManyRequests, `{"code":"rate_limit_exceeded","detail":"Slow down."}`)
	})
	for _, args := range [][]string{{"explain", someRequest}, {"keys", "list"}, {"models"}, {"keyring", "status"}} {
		got := term.run(args...).is(cli.ExitFailure)
		require.Contains(t, got.err, "Slow down. (rate_limit_exceeded); try again in 7 s", args)
	}
	for _, after = range []string{"", "0", "soon"} {
		require.NotContains(t, term.run("keys", "list").is(cli.ExitFailure).err, "try again")
	}
}
