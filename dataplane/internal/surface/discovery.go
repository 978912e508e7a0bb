package surface

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/body"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// discovery adds the calls that tell a caller what there is. They pin policy
// and catalog like every request and reach no upstream.
func (e *Edge) discovery() {
	e.answer("/v1/models", "", e.listModels)
	e.answer("/v1/models/:author", "", e.getModel)
	e.answer("/v1/models/:author/:slug", "", e.getModel)
	e.answer("/v1/models/:author/:slug/endpoints", "", e.listEndpoints)
	e.answer("/v1beta/models", "", e.listGeminiModels)
	e.answer("/v1beta/models/*name", "", e.getGeminiModel)
	e.answer("/v1/providers", "", e.listProviders)
	e.answer("/v1/key", "", e.getKey)
	e.answer("/v1/generations/:id", "", e.getGeneration)
}

// asked is a discovery call of a known caller.
type asked struct {
	gin       *gin.Context
	call      *call.Call
	principal call.Principal
	pin       call.Pinned
	health    Health
	facts     *decide.Input                        // of a request with this key that asks for nothing; nil: not needed yet
	usable    map[*catalog.Model][][]catalog.Offer // on each of surfaces, of the models asked for so far
}

// answer serves a GET with what fn returns, as JSON. A key needs no surface for
// it, unless it is of one.
func (e *Edge) answer(path string, of catalog.Surface, fn func(*asked) (any, error)) {
	route := http.MethodGet + " " + path
	e.engine.GET(path, func(g *gin.Context) {
		ctx := g.Request.Context()
		c := e.newCall(g.Request, route)
		c.Surface = of
		s := newSink(g.Writer, formOf(g.Request), &c, e.options.WriteStall)
		body.Skip(g.Writer, g.Request)
		var principal call.Principal
		var value any
		var err error
		token, refusal := credential(g.Request)
		if refusal != nil {
			err = refusal
		} else {
			var pin call.Pinned
			c.Token = token
			if principal, pin, err = e.deps.Pipeline.Identify(ctx, &c); err == nil {
				value, err = fn(&asked{gin: g, call: &c, principal: principal, pin: pin, health: e.deps.Health})
			}
		}
		failure := e.send(s, value, err)
		e.deps.Access.Access(ctx, &c, principal, s.Status(), failure)
	})
}

func (e *Edge) send(s *sink, value any, err error) *fault.Error {
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		failure := fault.Of(err)
		s.Fail(failure, nil)
		return failure
	}
	if s.Start(call.Head{Status: http.StatusOK, Header: http.Header{headerType: {typeJSON}}}) == nil {
		_ = s.Write(text) // a caller who has left needs no answer
	}
	s.end()
	return nil
}

// surfaces are the surfaces that the key may use and this gateway serves.
func (a *asked) surfaces() []catalog.Surface {
	allowed := a.principal.Key.Surfaces
	var out []catalog.Surface
	for i := range table {
		s := table[i].surface
		if (len(allowed) == 0 || slices.Contains(allowed, s)) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// input is what routing would go by: one view of health, and the policy ladder
// worked out once for all models and surfaces.
func (a *asked) input() decide.Input {
	if a.facts == nil {
		key := a.principal.Key
		a.facts = &decide.Input{
			Policy: a.pin.Policy, Catalog: a.pin.Catalog, Health: a.health.View(),
			Facts: decide.Facts{
				Now: a.call.Received, Request: a.call.ID,
				Key: decide.KeyFactsOf(&key),
			},
		}
		a.facts.Ladder = decide.Climb(a.facts)
	}
	return *a.facts
}

// offers are the endpoints of a model that the key may use, and the surfaces
// on which it can.
func (a *asked) offers(m *catalog.Model, surfaces []catalog.Surface) (offers []catalog.Offer, on []catalog.Surface) {
	usable := a.on(m)
	for i, s := range a.surfaces() {
		found := usable[i]
		if len(found) == 0 || !slices.Contains(surfaces, s) {
			continue
		}
		on = append(on, s)
		for _, o := range found {
			if !slices.Contains(offers, o) {
				offers = append(offers, o)
			}
		}
	}
	return offers, on
}

// on are the endpoints of a model that the key may use on each of its surfaces,
// found out once: lists say what they list twice.
func (a *asked) on(m *catalog.Model) [][]catalog.Offer {
	found, ok := a.usable[m]
	if !ok {
		found = decide.Usable(a.input(), m, a.surfaces())
		if a.usable == nil {
			a.usable = make(map[*catalog.Model][][]catalog.Offer)
		}
		a.usable[m] = found
	}
	return found
}

// getKey tells a key about itself: what it may use, and what it has used.
func (e *Edge) getKey(a *asked) (any, error) {
	k := a.principal.Key
	standing := e.deps.Limits.Standing(a.gin.Request.Context(), k, a.pin.Policy, a.call.Received)
	view := keyView{
		ID: k.ID, Workspace: k.Workspace, CreatedBy: k.CreatedBy, Status: string(k.Status),
		ExpiresAt: k.ExpiresAt, Models: list(k.Models), Surfaces: list(k.Surfaces), Scopes: list(k.Scopes),
		SoftBlocked: standing.SoftBlocked, Limits: limitsOf(&standing), PolicyRevision: a.pin.Policy.Revision(),
	}
	for _, u := range standing.Usage {
		if view.Usage == nil {
			view.Usage = make(map[policy.Interval]usedView, len(standing.Usage))
		}
		view.Usage[u.Window] = usedView{Requests: u.Requests, CostUSD: u.Cost.String(), CostNanos: int64(u.Cost), Resets: u.Resets}
	}
	return data{Data: view}, nil
}

// getGeneration looks a recent request up. Older ones, and those of other
// gateways, are in the control plane.
func (e *Edge) getGeneration(a *asked) (any, error) {
	request, err := id.Parse[id.RequestKind](a.gin.Param("id"))
	if err == nil {
		if events, ok := e.deps.Generations.Generation(a.principal.Key.Workspace, request); ok {
			if view, ended := generationOf(events); ended {
				return data{Data: view}, nil
			}
		}
	}
	return nil, fault.New(fault.NotFound,
		"This gateway does not hold this generation: it keeps only its latest. The management API's logs have every one.")
}
