package pipeline

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// The response headers that the pipeline knows. They are written in canonical
// form, so that setting one is a map write.
const (
	headerProvider  = "X-Signalbox-Provider"
	headerModel     = "X-Signalbox-Model"
	headerRetries   = "X-Signalbox-Retry-Count"
	headerFallbacks = "X-Signalbox-Attempted-Fallbacks"
	headerRevision  = "X-Signalbox-Policy-Revision"
	headerTiming    = "Server-Timing"
	// RFC 9745 and RFC 8594: when a model was deprecated, and when it goes.
	headerDeprecation = "Deprecation"
	headerSunset      = "Sunset"
)

// head is the header of a response that an upstream gave.
func (r *run) head() http.Header {
	reply := r.outcome.Reply
	h := r.commonHead(8)
	names := []string{reply.Candidate.Provider.Slug, reply.Step.Model.ID} // one array, for each its part
	h[headerProvider] = names[0:1:1]
	h[headerModel] = names[1:2:2]
	if failed := failedProviders(r.attempts(), reply.Candidate.Provider.Slug); len(failed) > 0 {
		h[headerFallbacks] = []string{strings.Join(failed, ",")}
	}
	lifecycle(h, reply.Step.Model, r.call.Received)
	return h
}

// lifecycle warns of a model that will not stay, or is served for as long as
// anybody has it. A retirement is a deprecation too, where none came before it.
func lifecycle(h http.Header, m *catalog.Model, now time.Time) {
	if m.StateAt(now) == catalog.Active {
		return
	}
	l := &m.Lifecycle
	since := now
	switch {
	case l.DeprecatedAt != nil:
		since = *l.DeprecatedAt
	case l.RetiresAt != nil && l.RetiresAt.Before(now):
		since = *l.RetiresAt
	}
	h[headerDeprecation] = []string{"@" + strconv.FormatInt(since.Unix(), 10)}
	if l.RetiresAt != nil {
		h[headerSunset] = []string{l.RetiresAt.UTC().Format(http.TimeFormat)}
	}
}

// failHead is the header of an error: every provider that was tried, and none
// that served. When a reply had begun, its head is out already. refused is the
// refusal that is answered, nil for any other failure.
func (r *run) failHead(refused *call.Declined) http.Header {
	h := r.commonHead(6)
	if refused != nil {
		maps.Copy(h, refused.Header)
	}
	if tried := failedProviders(r.attempts(), ""); len(tried) > 0 {
		h[headerFallbacks] = []string{strings.Join(tried, ",")}
	}
	if len(r.plan.Chain) > 0 {
		lifecycle(h, r.plan.Chain[0].Model, r.call.Received)
	}
	return h
}

func (r *run) commonHead(size int) http.Header {
	h := make(http.Header, size)
	if r.grant != nil {
		for name, values := range r.grant.Header() {
			h[name] = values
		}
	}
	values := make([]string, 3) // one array, for each header its part
	if r.pin.Policy != nil {
		values[0] = strconv.FormatInt(r.pin.Policy.Revision(), 10)
		h[headerRevision] = values[0:1:1]
	}
	values[1] = strconv.Itoa(max(0, len(r.attempts())-1))
	h[headerRetries] = values[1:2:2]
	values[2] = r.timing()
	h[headerTiming] = values[2:3:3]
	return h
}

// timing splits the time until now into the gateway's and the upstreams', in
// milliseconds (https://www.w3.org/TR/server-timing/).
func (r *run) timing() string {
	now := r.pipeline.now()
	up := max(0, r.asked+upstreamTime(r.attempts(), now))
	buf := make([]byte, 0, 40)
	buf = append(buf, "gw;dur="...)
	buf = appendMillis(buf, max(0, now.Sub(r.call.Received)-up))
	buf = append(buf, ", up;dur="...)
	return string(appendMillis(buf, up))
}

func appendMillis(buf []byte, d time.Duration) []byte {
	return strconv.AppendFloat(buf, float64(d.Microseconds())/1000, 'f', 3, 64)
}

// failedProviders lists the providers of failed attempts in order, each once,
// without the one that served.
func failedProviders(attempts []decide.AttemptRecord, served string) []string {
	var out []string
	for _, a := range attempts {
		if a.Provider != served && !slices.Contains(out, a.Provider) {
			out = append(out, a.Provider)
		}
	}
	return out
}
