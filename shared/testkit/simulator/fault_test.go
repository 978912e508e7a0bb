package simulator_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

func TestFaultOf(t *testing.T) {
	for model, want := range map[string]simulator.Fault{
		"sim-small-fault-status-503":        {Status: 503},
		"fault-status-429-retry-7":          {Status: 429, RetryAfter: 7},
		"fault-latency-200ms-cut-3":         {Latency: 200 * time.Millisecond, CutAfter: 3},
		"acme/fault-hang":                   {Hang: true},
		"fault-hang-3":                      {HangAfter: 3},
		"fault-cut-error-mid":               {CutAfter: 1, ErrorMid: true},
		"fault-trickle-2ms-crlf-nospace":    {Trickle: true, Pause: 2 * time.Millisecond, CRLF: true, NoSpace: true},
		"fault-trickle-no-done-no-usage":    {Trickle: true, NoDone: true, NoUsage: true},
		"fault-error-first-times-2":         {ErrorFirst: true, Times: 2},
		"fault-long-3000-tps-0.5":           {LongKiB: 3000, TPS: 0.5},
		"fault-malformed-2-gzip-short-html": {Malformed: 2, Encoding: "gzip", Short: true, HTML: true},
		"fault-reset-garbage-redirect":      {Reset: true, Garbage: true, Redirect: true},
		"fault-stale-comments":              {Stale: true, Comments: true},
		"fault-br-split-1-early":            {Encoding: "br", Split: 1, Early: true},
		"fault-zstd-trailer-wrongtype":      {Encoding: "zstd", Trailer: true, WrongType: true},
		"fault-deflate-goaway-failjob":      {Encoding: "deflate", GoAway: true, FailJob: true},
		"fault-quota-retry-3":               {Trouble: "quota", RetryAfter: 3},
	} {
		t.Run(model, func(t *testing.T) {
			got, ok, err := simulator.FaultOf(model)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, want, got)
		})
	}
	for _, model := range []string{"fault-", "fault-nonsense", "fault-status", "fault-status-42", "fault-latency-soon", "fault-no-thing", "fault-tps-0", "fault-split", "fault-split-x"} {
		_, ok, err := simulator.FaultOf(model)
		require.True(t, ok, model)
		require.Error(t, err, model)
	}
	for _, model := range []string{"small", "default-model", "faultless"} {
		_, ok, err := simulator.FaultOf(model)
		require.NoError(t, err, model)
		require.False(t, ok, model)
	}
}

func FuzzParseFault(f *testing.F) {
	f.Add("status-503-retry-7")
	f.Add("latency-200ms,cut-3")
	f.Add("hang-no-usage-tps-2.5")
	f.Fuzz(func(t *testing.T, terms string) {
		fault, err := simulator.ParseFault(terms)
		if err == nil && (fault.Latency < 0 || fault.TPS < 0 || fault.CutAfter < 0) {
			t.Fatalf("%q gave %+v", terms, fault)
		}
	})
}

const chatPath = "/v1/chat/completions"

func TestFaultsBeforeTheHead(t *testing.T) {
	r := start(t, simulator.Options{})

	resp := r.post(chatPath, chat("fault-status-429-retry-7", "x", ""))
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.Equal(t, "7", resp.Header.Get("Retry-After"))
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "rate_limit_error", gjson.GetBytes(raw, "error.type").Str)

	resp = r.post(chatPath, chat("fault-html", "x", ""))
	require.Equal(t, http.StatusBadGateway, resp.StatusCode)
	require.Equal(t, "text/html", resp.Header.Get("Content-Type"))

	resp = r.post(chatPath, chat("fault-garbage", "x", ""))
	raw, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.False(t, gjson.ValidBytes(raw))

	for _, model := range []string{"fault-reset", "fault-short", "fault-cut"} {
		resp, err := http.Post(r.url+chatPath, "application/json", strings.NewReader(chat(model, "x", "")))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		require.Error(t, err, model)
	}
}

func TestFaultsInTheStream(t *testing.T) {
	r := start(t, simulator.Options{})
	stream := `,"stream":true,"stream_options":{"include_usage":true}`

	events, err := r.events(chatPath, chat("fault-cut-3", "x", stream))
	require.Error(t, err)
	require.Len(t, events, 4) // role and three words

	events, err = r.events(chatPath, chat("fault-error-first", "x", stream))
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.NotEmpty(t, gjson.Get(events[0], "error.message").Str)

	events, err = r.events(chatPath, chat("fault-error-mid", "x", stream))
	require.NoError(t, err)
	require.Len(t, events, 4) // role, two words, the error
	require.NotEmpty(t, gjson.Get(events[3], "error.message").Str)

	events, err = r.events(chatPath, chat("fault-no-done-no-usage", "x", stream))
	require.NoError(t, err)
	last := gjson.Parse(events[len(events)-1])
	require.Equal(t, "stop", last.Get("choices.0.finish_reason").Str)

	events, err = r.events(chatPath, chat("fault-malformed-1", "x", stream))
	require.NoError(t, err)
	require.False(t, gjson.Valid(events[2]))
	require.Equal(t, "[DONE]", events[len(events)-1])

	events, err = r.events(chatPath, chat("fault-long-3000", "x", stream))
	require.NoError(t, err)
	require.Greater(t, len(events[1]), 2900<<10)

	events, err = r.events(chatPath, chat("fault-trickle", "北京🙂é", stream))
	require.NoError(t, err)
	require.Equal(t, "[DONE]", events[len(events)-1])
}

func TestSpellings(t *testing.T) {
	r := start(t, simulator.Options{})
	raw, err := io.ReadAll(r.post(chatPath, chat("fault-crlf-nospace-comments", "x", `,"stream":true`)).Body)
	require.NoError(t, err)
	require.Contains(t, string(raw), ": a comment\r\ndata:{")
	require.NotContains(t, strings.ReplaceAll(string(raw), "\r\n", ""), "\n")
}

func TestFaultSources(t *testing.T) {
	r := start(t, simulator.Options{})
	status := func(model string) int { return r.post(chatPath, chat(model, "x", "")).StatusCode }

	require.Equal(t, 503, status("fault-status-503-times-2"))
	require.Equal(t, 503, status("fault-status-503-times-2"))
	require.Equal(t, 200, status("fault-status-503-times-2"))

	r.sim.FailNext(1, simulator.Fault{Status: 500})
	require.Equal(t, 500, status("m"))
	require.Equal(t, 200, status("m"))

	r.sim.SetFault("m", simulator.Fault{Status: 502})
	require.Equal(t, 502, status("m"))
	require.Equal(t, 200, status("other"))
	r.sim.HandleModel("other", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil || len(raw) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	require.Equal(t, http.StatusTeapot, status("other"))
	r.sim.Behave()
	require.Equal(t, 200, status("m"))
	require.Equal(t, 200, status("other"))

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+chatPath, strings.NewReader(chat("m", "x", "")))
	require.NoError(t, err)
	req.Header.Set("X-Sim-Fault", "status-418")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusTeapot, resp.StatusCode)
}

func TestStaleClosesReusedConnections(t *testing.T) {
	r := start(t, simulator.Options{})
	one := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	t.Cleanup(one.CloseIdleConnections)
	send := func() error {
		resp, err := one.Post(r.url+chatPath, "application/json", strings.NewReader(chat("m", "x", "")))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return err
	}
	require.NoError(t, send())
	r.sim.SetFault("m", simulator.Fault{Stale: true})
	require.Error(t, send())
	require.NoError(t, send()) // a new connection
}

func TestTheRecordIsBounded(t *testing.T) {
	r := start(t, simulator.Options{Keep: 2, KeepBytes: 10})
	for _, model := range []string{"a", "b", "c"} {
		r.post(chatPath, chat(model, "x", ""))
	}
	kept := r.sim.Requests()
	require.Len(t, kept, 2)
	require.Equal(t, []string{"b", "c"}, []string{kept[0].Model, kept[1].Model})
	require.Len(t, kept[0].Body, 10)
	require.Equal(t, int64(3), r.sim.Stats().Total)
	require.Len(t, r.sim.For("c"), 1)
	r.sim.Forget()
	require.Empty(t, r.sim.Requests())
}
