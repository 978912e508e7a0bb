package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

func checkReply() wire.CheckReply {
	return wire.CheckReply{Status: wire.CheckInvalid, HTTPStatus: 401, Call: wire.CheckCompletion, Model: "acme/small", Latency: time.Millisecond}
}

func TestCheckRepliesAreReadAsTheyWereWritten(t *testing.T) {
	for _, r := range []wire.CheckReply{
		checkReply(), {Status: wire.CheckUnreachable, Call: wire.CheckListModels}, {Trouble: wire.CheckNotReady},
	} {
		body, err := json.Marshal(r)
		require.NoError(t, err)
		got, err := wire.ParseCheckReply(body)
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
}

func TestCheckRepliesThatCannotBe(t *testing.T) {
	for what, change := range map[string]func(*wire.CheckReply){
		"no such status":         func(r *wire.CheckReply) { r.Status = "splendid" },
		"no status":              func(r *wire.CheckReply) { r.Status = "" },
		"no such call":           func(r *wire.CheckReply) { r.Call = "everything" },
		"no call":                func(r *wire.CheckReply) { r.Call = "" },
		"no such trouble":        func(r *wire.CheckReply) { *r = wire.CheckReply{Trouble: "newer"} },
		"an outcome and trouble": func(r *wire.CheckReply) { r.Trouble = wire.CheckNotReady },
		"no HTTP status":         func(r *wire.CheckReply) { r.HTTPStatus = 99 },
		"a high one":             func(r *wire.CheckReply) { r.HTTPStatus = 600 },
		"a negative one":         func(r *wire.CheckReply) { r.HTTPStatus = -401 },
		"a negative time":        func(r *wire.CheckReply) { r.Latency = -1 },
		"a long name":            func(r *wire.CheckReply) { r.Model = strings.Repeat("a", 513) },
		"a longer one":           func(r *wire.CheckReply) { r.Model = strings.Repeat("a", 5000) },
	} {
		r := checkReply()
		change(&r)
		body, err := json.Marshal(r)
		require.NoError(t, err)
		got, err := wire.ParseCheckReply(body)
		require.Error(t, err, what)
		require.Zero(t, got, what)
	}
	for _, body := range []string{"", "{", "{}", "[]", `{"status":7}`} {
		_, err := wire.ParseCheckReply([]byte(body))
		require.Error(t, err, body)
	}
}
