package provider

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// passed are the caller's headers that reach a provider of a type, besides
// Content-Type and Accept. Everything that says who the caller is, or that was
// meant for the gateway, stays behind because it is not listed.
var passed = map[catalog.ProviderType][]string{
	catalog.OpenAI:           {"Openai-Beta"},
	catalog.OpenAICompatible: {"Openai-Beta"},
	catalog.Azure:            {"Openai-Beta"},
	catalog.Anthropic:        {"Anthropic-Beta", "Anthropic-Version"},
	catalog.Vertex:           {"Anthropic-Beta"},
}

// Values that calls send. They are shared and never written to.
var (
	wantsJSON     = []string{"application/json"}
	wantsEvents   = []string{"text/event-stream"}
	wantsMessages = []string{"application/vnd.amazon.eventstream"}
	wantsAny      = []string{"*/*"}
	identity      = []string{"identity"}
)

// outbound picks what goes to the provider, and lays over it what the format
// demands. Compression is declined: streams would be held back by it, and
// replies are small.
func outbound(r *upstream.Request) http.Header {
	h := make(http.Header, 8)
	for _, name := range passed[r.Provider.Type] {
		if values := r.Header[name]; len(values) > 0 {
			h[name] = values[:len(values):len(values)]
		}
	}
	if r.Body.Len() > 0 {
		h["Content-Type"] = contentType(r)
	}
	h["Accept"] = accepts(r)
	h["Accept-Encoding"] = identity
	for name, values := range r.Set {
		h[name] = values
	}
	return h
}

// contentType: a body that was read as JSON is called that, whatever the
// caller called it; curl, for one, calls it a form.
func contentType(r *upstream.Request) []string {
	if r.Type != "" {
		return []string{r.Type}
	}
	if said := r.Header["Content-Type"]; len(said) > 0 && strings.Contains(strings.ToLower(said[0]), "json") {
		return said[:1:1]
	}
	return wantsJSON
}

func accepts(r *upstream.Request) []string {
	said := r.Header["Accept"]
	switch {
	case r.Stream && r.Framing == upstream.EventStream:
		return wantsMessages
	case len(said) > 0:
		return said[:1:1]
	case r.Stream:
		return wantsEvents
	case r.Opaque:
		return wantsAny
	}
	return wantsJSON
}

// returned are the provider's headers that reach the caller.
var returned = []string{"Content-Type", "Content-Disposition"}

// maxReturned bounds the value of one of them.
const maxReturned = 1 << 10

func inbound(provider http.Header, now time.Time) http.Header {
	h := make(http.Header, len(returned))
	for _, name := range returned {
		if values := provider[name]; len(values) > 0 && len(values[0]) <= maxReturned {
			h[name] = values[:1:1]
		}
	}
	if wait := provider.Get("Retry-After"); wait != "" {
		if d := retryAfter(wait, now); d > 0 {
			h["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(d.Seconds())))}
		}
	}
	return h
}

// mediaType is the content type without parameters, in lower case.
func mediaType(h http.Header) string {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// isMarkup recognizes the pages that proxies send in place of an answer.
func isMarkup(media string) bool {
	switch media {
	case "text/html", "application/xhtml+xml", "text/xml", "application/xml":
		return true
	}
	return false
}

// isFile recognizes a download, which may be markup because that is what was
// stored.
func isFile(r *upstream.Request, response *http.Response) bool {
	return r.Opaque && r.Method == http.MethodGet && response.Header.Get("Content-Disposition") != ""
}

// maxRetryAfter bounds what a provider may ask for: who asks for longer, such
// as until the end of a month's quota, is asked again after a day.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads a delay in seconds or an HTTP date (RFC 9110, section
// 10.2.3), at most maxRetryAfter. Anything else is 0, unknown.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	seconds, err := strconv.ParseUint(value, 10, 32)
	switch {
	case err == nil:
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	case errors.Is(err, strconv.ErrRange):
		return maxRetryAfter
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
