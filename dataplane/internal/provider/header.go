package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// passed are the caller's headers that reach a provider. Everything that says
// who the caller is, or that was meant for the gateway, stays behind because
// it is not listed.
var passed = []string{"Content-Type", "Accept", "Openai-Beta"}

// returned are the provider's headers that reach the caller.
var returned = []string{"Content-Type", "Content-Disposition"}

// Values that every call sends. They are shared and never written to.
var (
	wantsJSON   = []string{"application/json"}
	wantsEvents = []string{"text/event-stream"}
	identity    = []string{"identity"}
)

// outbound picks what goes to the provider. Compression is declined: streams
// would be held back by it, and replies are small.
func outbound(caller http.Header, stream bool) http.Header {
	h := make(http.Header, 8)
	for _, name := range passed {
		if values := caller[name]; len(values) > 0 {
			h[name] = values[:1:1]
		}
	}
	// The body was read as JSON, whatever the caller called it: curl, for one,
	// calls it a form.
	if !strings.Contains(strings.ToLower(h.Get("Content-Type")), "json") {
		h["Content-Type"] = wantsJSON
	}
	if h["Accept"] == nil {
		if stream {
			h["Accept"] = wantsEvents
		} else {
			h["Accept"] = wantsJSON
		}
	}
	h["Accept-Encoding"] = identity
	return h
}

func inbound(provider http.Header) http.Header {
	h := make(http.Header, len(returned))
	for _, name := range returned {
		if values := provider[name]; len(values) > 0 {
			h[name] = values[:1:1]
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

// maxRetryAfter bounds what a provider may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads a delay of 0 to 86400 seconds or an HTTP date (RFC 9110,
// section 10.2.3). Anything else is 0, unknown.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		if d := time.Duration(seconds) * time.Second; d <= maxRetryAfter {
			return d
		}
		return 0
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	d := at.Sub(now)
	if d < 0 || d > maxRetryAfter {
		return 0
	}
	return d
}
