package simulator

import "strings"

// personal headers say who called the gateway, or were meant for it. No
// provider may see one.
var personal = set(`cookie proxy-authorization forwarded x-real-ip x-session-id x-request-id referer origin via
	true-client-ip cf-connecting-ip x-original-url`)

// usual headers are all that a provider under a prefix expects.
var usual = set(`accept accept-encoding authorization content-type content-length user-agent x-api-key
	x-goog-api-key api-key openai-beta openai-organization openai-project anthropic-beta anthropic-version
	traceparent tracestate idempotency-key x-goog-user-project metadata-flavor x-amz-date x-amz-security-token
	x-amz-content-sha256 connection upgrade sec-websocket-key sec-websocket-version sec-websocket-protocol
	sec-websocket-extensions x-sim-fault x-sim-tps x-sim-text amz-sdk-invocation-id amz-sdk-request`)

// checkHeader refuses headers that no gateway should send, and demands those
// that the platform needs.
func (x *exchange) checkHeader() *refusal {
	for name := range x.r.Header {
		lower := strings.ToLower(name)
		if personal[lower] || strings.HasPrefix(lower, "x-forwarded-") || strings.HasPrefix(lower, "x-signalbox-") {
			return refuse("", "Unexpected header: %s. It is the caller's own affair.", lower)
		}
		if x.platform != compatible && !x.route.open && !usual[lower] {
			return refuse("", "Unexpected header: %s.", lower)
		}
	}
	if x.route.open {
		return nil
	}
	version := x.r.Header.Get("Anthropic-Version")
	switch {
	case x.platform == anthropic && version == "":
		return refuse("", "anthropic-version: header is required")
	case x.platform == anthropic && !anthropicVersions[version]:
		return refuse("", "anthropic-version: \"%s\" is not a valid version", version)
	case version != "" && x.platform != anthropic && x.platform != vertex && x.platform != compatible:
		return refuse("", "Unexpected header: anthropic-version.")
	case x.platform == azure && !strings.HasSuffix(x.lead, "/v1") && x.r.URL.Query().Get("api-version") == "":
		return &refusal{status: 404, code: "404", message: "Resource not found"}
	}
	return nil
}

// anthropicVersions are what https://docs.anthropic.com/en/api/versioning
// lists, and Anthropic's own clients send.
var anthropicVersions = set(`2023-06-01 2026-10-21`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}
