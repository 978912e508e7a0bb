package attempt_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/stream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// BenchmarkOverHTTP is one request from attempt to the sink against a server
// on loopback; "bare" is the same exchange through http.Transport alone.
func BenchmarkOverHTTP(b *testing.B) {
	events := strings.Repeat(hello, 20) + finish + done
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "text/event-stream" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, okPlain)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range strings.SplitAfter(events, "\n\n") {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer server.Close()
	client := provider.New(noKeys{}, provider.Options{})
	defer client.Close()
	runner := attempt.New(attempt.Deps{
		Translator: translate.New(nil), Provider: client, Health: health.New(health.Options{Now: time.Now, Seed: func() uint64 { return 1 }}),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Rand: func() float64 { return 0 },
	}, attempt.DefaultLimits())
	plan := decide.Plan{Chain: []decide.Step{{Model: &catalog.Model{ID: "acme/small"}, Candidates: []decide.Candidate{{
		Endpoint:    &catalog.Endpoint{ID: "e", UpstreamModel: "up"},
		Provider:    &catalog.Provider{Slug: "north", Type: catalog.OpenAI, BaseURL: server.URL, Keyless: true},
		Credentials: []decide.CredentialUse{{Source: decide.CredentialNone}},
	}}}}}
	for name, streams := range map[string]bool{"plain": false, "stream": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := chat(streams)
				reply, err := along(b.Context(), runner.Open(&c, &plan))
				if err != nil {
					b.Fatal(err)
				}
				if _, err = stream.New().Deliver(b.Context(), reply, nil, &nowhere{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			transport := &http.Transport{DisableCompression: true}
			defer transport.CloseIdleConnections()
			for b.Loop() {
				c := chat(streams)
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, strings.NewReader(string(c.Body)))
				if err != nil {
					b.Fatal(err)
				}
				if streams {
					r.Header.Set("Accept", "text/event-stream")
				}
				response, err := transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				if _, err = io.Copy(io.Discard, response.Body); err != nil {
					b.Fatal(err)
				}
				_ = response.Body.Close()
			}
		})
	}
}

type nowhere struct{ collector }

func (*nowhere) Start(call.Head) error { return nil }
func (*nowhere) Write([]byte) error    { return nil }
