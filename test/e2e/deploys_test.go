//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// TestDeploysUnderLoad deploys two versions of a route and rolls back, two
// hundred times, while three gateways are asked without pause. No request fails
// for it. Each sees one whole version, and it is the one that was deployed at the
// revision that its answer names; a request that begins after a deployment has
// returned sees no older one.
func TestDeploysUnderLoad(t *testing.T) {
	const deployments = 200
	p := harness.Start(t, harness.Options{Gateways: 3, Catalog: twoSided})
	keys := []client.Key{p.Key(), p.Key()}
	r := newRoute(p, "sides", sided(sides[0]), keys...)
	require.Equal(t, 2, r.save(sided(sides[1])))
	first := r.deploy(2)
	history := deployed{{first.Get("publication.revision").Int(), 2}}

	load := askSides(t, p, keys, first.Get("publication.revision").Int())
	publications := make([]string, 0, deployments)
	for i := range deployments {
		var done client.Answer
		version := 1
		switch i % 4 {
		case 0, 2:
			done = r.deploy(version)
		case 1:
			version = 2
			done = r.deploy(version)
		default:
			version = 2
			done = r.rollback() // of 1, which was made upon 2
		}
		require.EqualValues(t, version, done.Get("data.deployed_version").Int())
		revision := done.Get("publication.revision").Int()
		history = append(history, deployment{revision, version})
		load.floor.Store(revision)
		for gateway := range p.Gateways {
			load.ask(t.Context(), p, gateway, keys[1], plainBody)
		}
		publications = append(publications, done.Get("publication.id").Str)
	}
	seen := load.end()

	require.Empty(t, load.failures(), "of %d requests", len(seen))
	require.Zero(t, countIf(seen, func(s sight) bool { return s.revision < s.floor }), "requests that used an older revision than one that every gateway had")
	versions := make(map[string]int)
	for _, s := range seen {
		require.Equal(t, history.at(s.revision), s.version, "the version of request %s at revision %d", s.head.Get(client.HeaderRequestID), s.revision)
		versions[fmt.Sprintf("gateway %d, version %d", s.gateway, s.version)]++
	}
	require.Len(t, versions, len(p.Gateways)*len(sides), "every gateway served both versions: %v", versions)
	recorded(t, p, history, seen)
	t.Logf("%d requests, %v", len(seen), versions)
	logReceipts(t, p, publications)
}

// side is what a version of the route sets: of an answer, a model and who
// serves it; of a refusal, its status and its reason.
type side struct {
	model, provider, reason string
	status                  int
}

// sides are what versions 1 and 2 set.
var sides = []side{
	{"sim/left", upstream.North, "to_the_left", http.StatusConflict},
	{"sim/right", upstream.South, "to_the_right", http.StatusGone},
}

// twoSided has the models of both sides at both providers, so that a mixture of
// two versions would be served.
func twoSided(_, _ *upstream.Upstream) string {
	catalog := "models:\n"
	for _, s := range sides {
		catalog += fmt.Sprintf("  - {id: %s, context: 128000, endpoints: [{provider: %s, upstream_model: small}, {provider: %s, upstream_model: small}]}\n",
			s.model, upstream.North, upstream.South)
	}
	return catalog
}

// sided is the graph of a side. What an answer shows comes from two nodes.
func sided(s side) string {
	return graph("asks", fmt.Sprintf(`{"id":"asks","type":"condition","when":{"source":"metadata","path":"refuse","op":"exists"},"true":"no","false":"who"},
		{"id":"no","type":"reject","status":%d,"code":%q,"message":"Not now."},
		{"id":"who","type":"model","provider":{"only":[%q]},"next":"what"},
		{"id":"what","type":"model","model":%q,"next":"end"}`, s.status, s.reason, s.provider, s.model))
}

// versionOf is the version that an answer is of, 0 for none or parts of two.
func versionOf(a client.Answer) int {
	got := side{a.Header.Get(client.HeaderModel), a.Header.Get(client.HeaderProvider), a.Get("error.reason").Str, a.Status}
	for i, s := range sides {
		if got == (side{s.model, s.provider, "", http.StatusOK}) || got == (side{"", "", s.reason, s.status}) {
			return i + 1
		}
	}
	return 0
}

// deployment says from which revision on which version is deployed.
type deployment struct {
	revision int64
	version  int
}

type deployed []deployment // ascending

func (d deployed) at(revision int64) int {
	version := 0
	for _, one := range d {
		if one.revision <= revision {
			version = one.version
		}
	}
	return version
}

// sight is what one request saw.
type sight struct {
	gateway, version int
	floor, revision  int64 // the newest that every gateway had when it began; its own
	head             http.Header
}

// eachAsks is the least time between two requests of one caller, so that the
// load leaves room for what is measured.
const eachAsks = 100 * time.Millisecond

const plainBody = `{"model":"sim/small","messages":[{"role":"user","content":"x"}]}`

// sideLoad asks every gateway, over and over.
type sideLoad struct {
	floor   atomic.Int64
	mu      sync.Mutex
	seen    []sight
	failed  []string
	stop    context.CancelFunc
	running sync.WaitGroup
}

func askSides(t *testing.T, p *harness.Platform, keys []client.Key, floor int64) *sideLoad {
	ctx, stop := context.WithCancel(t.Context())
	l := &sideLoad{stop: stop}
	l.floor.Store(floor)
	for gateway := range p.Gateways {
		for i, key := range keys {
			body := plainBody
			if i == 0 {
				body = `{"metadata":{"refuse":true},` + body[1:]
			}
			l.running.Go(func() {
				pace := time.NewTicker(eachAsks)
				defer pace.Stop()
				for ctx.Err() == nil {
					l.ask(ctx, p, gateway, key, body)
					<-pace.C
				}
			})
		}
	}
	t.Cleanup(func() { l.end() })
	return l
}

func (l *sideLoad) ask(ctx context.Context, p *harness.Platform, gateway int, key client.Key, body string) {
	floor := l.floor.Load()
	answer, err := p.Post(ctx, gateway, key.Secret, "/v1/chat/completions", []byte(body))
	if ctx.Err() != nil {
		return // it was broken off
	}
	revision, wrong := strconv.ParseInt(answer.Header.Get(client.HeaderRevision), 10, 64)
	version := versionOf(answer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || wrong != nil || version == 0 {
		l.failed = append(l.failed, fmt.Sprintf("gateway %d: %v %d %v %s", gateway, err, answer.Status, answer.Header, answer.Body))
		return
	}
	l.seen = append(l.seen, sight{gateway: gateway, version: version, floor: floor, revision: revision, head: answer.Header})
}

// end stops the load and returns what was seen.
func (l *sideLoad) end() []sight {
	l.stop()
	l.running.Wait()
	return l.seen
}

func (l *sideLoad) failures() []string { return l.failed[:min(len(l.failed), 3)] }

func countIf(all []sight, is func(sight) bool) int {
	n := 0
	for _, s := range all {
		if is(s) {
			n++
		}
	}
	return n
}

// recorded holds the log's account of some of the requests against what their
// callers saw.
func recorded(t *testing.T, p *harness.Platform, history deployed, seen []sight) {
	t.Helper()
	const some = 100
	for i := 0; i < len(seen); i += 1 + len(seen)/some {
		entry := p.Logged(seen[i].head)
		require.Equal(t, seen[i].revision, entry.Get("policy_revision").Int())
		require.EqualValues(t, history.at(seen[i].revision), entry.Get("decision.route.version").Int(), "%s", entry.Raw)
	}
}

// logReceipts tells how long gateways took to have what was committed.
func logReceipts(t *testing.T, p *harness.Platform, publications []string) {
	t.Helper()
	times := make([]time.Duration, 0, len(publications))
	for _, publication := range publications {
		receipts, err := p.Receipts(t.Context(), publication)
		require.NoError(t, err)
		require.EqualValues(t, len(p.Gateways), receipts.Get("applied").Int())
		times = append(times, time.Duration(receipts.Get("p99_ms").Float()*float64(time.Millisecond)))
	}
	slices.Sort(times)
	at := func(percent int) time.Duration { return times[(len(times)-1)*percent/100] }
	t.Logf("from the commit to the last gateway's receipt, of %d deployments: p50 %s, p99 %s, at most %s", len(times), at(50), at(99), at(100))
}
