package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// GetPlatformCatalog implements the operation.
func (s *Server) GetPlatformCatalog(ctx context.Context, r gen.GetPlatformCatalogRequestObject) (gen.GetPlatformCatalogResponseObject, error) {
	state, problems, err := s.services.Overrides.Get(ctx)
	if err == nil && r.Params.Version != nil && *r.Params.Version != state.Version {
		problems = nil // they are about the present one
		state, err = s.services.Overrides.At(ctx, *r.Params.Version)
	}
	if err != nil {
		return nil, err
	}
	return gen.GetPlatformCatalog200JSONResponse{
		Body:    gen.PlatformCatalogOne{Data: platformCatalogOf(state, problems)},
		Headers: gen.GetPlatformCatalog200ResponseHeaders{ETag: etag(state.Version)},
	}, nil
}

// ReplacePlatformCatalog implements the operation.
func (s *Server) ReplacePlatformCatalog(ctx context.Context, r gen.ReplacePlatformCatalogRequestObject) (gen.ReplacePlatformCatalogResponseObject, error) {
	q := r.Params
	return s.overridden(ctx, change{q.IfMatch, q.DryRun, q.Wait}, func(o override.Options) (override.Changed, error) {
		return s.services.Overrides.Replace(ctx, o, *r.Body)
	})
}

// PutPlatformProvider implements the operation.
func (s *Server) PutPlatformProvider(ctx context.Context, r gen.PutPlatformProviderRequestObject) (gen.PutPlatformProviderResponseObject, error) {
	q := r.Params
	return s.put(ctx, change{q.IfMatch, q.DryRun, q.Wait}, *r.Body, func(o override.Options, e override.Entry) (override.Changed, error) {
		return s.services.Overrides.PutProvider(ctx, o, r.Provider, e)
	})
}

// DeletePlatformProvider implements the operation.
func (s *Server) DeletePlatformProvider(ctx context.Context, r gen.DeletePlatformProviderRequestObject) (gen.DeletePlatformProviderResponseObject, error) {
	return s.overridden(ctx, change{r.Params.IfMatch, nil, r.Params.Wait}, func(o override.Options) (override.Changed, error) {
		return s.services.Overrides.RemoveProvider(ctx, o, r.Provider)
	})
}

// PutPlatformModel implements the operation.
func (s *Server) PutPlatformModel(ctx context.Context, r gen.PutPlatformModelRequestObject) (gen.PutPlatformModelResponseObject, error) {
	q := r.Params
	return s.put(ctx, change{q.IfMatch, q.DryRun, q.Wait}, *r.Body, func(o override.Options, e override.Entry) (override.Changed, error) {
		return s.services.Overrides.PutModel(ctx, o, r.Author+"/"+r.Model, e)
	})
}

// DeletePlatformModel implements the operation.
func (s *Server) DeletePlatformModel(ctx context.Context, r gen.DeletePlatformModelRequestObject) (gen.DeletePlatformModelResponseObject, error) {
	return s.overridden(ctx, change{r.Params.IfMatch, nil, r.Params.Wait}, func(o override.Options) (override.Changed, error) {
		return s.services.Overrides.RemoveModel(ctx, o, r.Author+"/"+r.Model)
	})
}

// PutPlatformEndpoint implements the operation.
func (s *Server) PutPlatformEndpoint(ctx context.Context, r gen.PutPlatformEndpointRequestObject) (gen.PutPlatformEndpointResponseObject, error) {
	q := r.Params
	return s.put(ctx, change{q.IfMatch, q.DryRun, q.Wait}, *r.Body, func(o override.Options, e override.Entry) (override.Changed, error) {
		return s.services.Overrides.PutEndpoint(ctx, o, r.Author+"/"+r.Model, r.Endpoint, e)
	})
}

// DeletePlatformEndpoint implements the operation.
func (s *Server) DeletePlatformEndpoint(ctx context.Context, r gen.DeletePlatformEndpointRequestObject) (gen.DeletePlatformEndpointResponseObject, error) {
	return s.overridden(ctx, change{r.Params.IfMatch, nil, r.Params.Wait}, func(o override.Options) (override.Changed, error) {
		return s.services.Overrides.RemoveEndpoint(ctx, o, r.Author+"/"+r.Model, r.Endpoint)
	})
}

// ListPlatformRules implements the operation.
func (s *Server) ListPlatformRules(ctx context.Context, r gen.ListPlatformRulesRequestObject) (gen.ListPlatformRulesResponseObject, error) {
	found, version, err := s.services.Overrides.Rules(ctx, r.Author+"/"+r.Model)
	if err != nil {
		return nil, err
	}
	rules := make([]gen.ModelRule, len(found))
	for i, f := range found {
		body, err := json.Marshal(f.Rule)
		if err != nil {
			return nil, err
		}
		origin := gen.File
		if f.Operators {
			origin = gen.Platform
		}
		rules[i] = gen.ModelRule{Name: f.Name, Origin: origin, Disabled: f.Disabled, Rule: body}
	}
	return gen.ListPlatformRules200JSONResponse{
		Body: gen.ModelRuleList{Data: rules}, Headers: gen.ListPlatformRules200ResponseHeaders{ETag: etag(version)},
	}, nil
}

// OrderPlatformRules implements the operation.
func (s *Server) OrderPlatformRules(ctx context.Context, r gen.OrderPlatformRulesRequestObject) (gen.OrderPlatformRulesResponseObject, error) {
	return s.overridden(ctx, change{r.Params.IfMatch, nil, r.Params.Wait}, func(o override.Options) (override.Changed, error) {
		return s.services.Overrides.OrderRules(ctx, o, r.Author+"/"+r.Model, r.Body.Order)
	})
}

// PutPlatformRule implements the operation.
func (s *Server) PutPlatformRule(ctx context.Context, r gen.PutPlatformRuleRequestObject) (gen.PutPlatformRuleResponseObject, error) {
	q := r.Params
	return s.put(ctx, change{q.IfMatch, q.DryRun, q.Wait}, *r.Body, func(o override.Options, e override.Entry) (override.Changed, error) {
		return s.services.Overrides.PutRule(ctx, o, r.Author+"/"+r.Model, r.Rule, e, q.Position)
	})
}

// DeletePlatformRule implements the operation.
func (s *Server) DeletePlatformRule(ctx context.Context, r gen.DeletePlatformRuleRequestObject) (gen.DeletePlatformRuleResponseObject, error) {
	return s.overridden(ctx, change{r.Params.IfMatch, nil, r.Params.Wait}, func(o override.Options) (override.Changed, error) {
		return s.services.Overrides.RemoveRule(ctx, o, r.Author+"/"+r.Model, r.Rule)
	})
}

// ListPlatformAuditEvents implements the operation.
func (s *Server) ListPlatformAuditEvents(ctx context.Context, r gen.ListPlatformAuditEventsRequestObject) (gen.ListPlatformAuditEventsResponseObject, error) {
	found, err := s.services.Overrides.Events(ctx, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListPlatformAuditEvents200JSONResponse{Data: each(found.Items, eventOf), NextCursor: nextCursor(found.Next)}, nil
}

// change are the parameters of every change of the operator's catalog.
type change struct {
	ifMatch *gen.IfMatch
	dryRun  *bool
	wait    *gen.Wait
}

func (s *Server) put(ctx context.Context, c change, body json.RawMessage, do func(override.Options, override.Entry) (override.Changed, error)) (*overridden, error) {
	var e override.Entry
	if err := json.Unmarshal(body, &e); err != nil || e == nil {
		return nil, fault.Invalid(fault.Violation{Code: rule.Malformed, Message: "must be an object"})
	}
	return s.overridden(ctx, c, func(o override.Options) (override.Changed, error) { return do(o, e) })
}

func (s *Server) overridden(ctx context.Context, c change, do func(override.Options) (override.Changed, error)) (*overridden, error) {
	match, err := ifMatch(c.ifMatch)
	if err != nil {
		return nil, err
	}
	after, err := do(override.Options{By: callerOf(ctx).by(), IfMatch: match, DryRun: value(c.dryRun)})
	if err != nil {
		return nil, err
	}
	out := &overridden{status: http.StatusOK, tag: etag(after.Version)}
	out.body.Data = platformCatalogOf(after.State, nil)
	out.body.Changes = each(after.Diff, func(d audit.Change) gen.FieldChange {
		return gen.FieldChange{Path: d.Path, Before: d.Before, After: d.After}
	})
	if value(c.dryRun) {
		c.wait = nil // nothing is on its way
	}
	var limit time.Duration
	if c.wait != nil {
		limit, _ = time.ParseDuration(*c.wait) // the contract's pattern admits only what this reads
	}
	revision, pending := catalogRollout{s.services.Overrides, s.services.Gateways, s.log}.await(ctx, after.Version, limit)
	out.body.Publication = gen.CatalogPublication{Version: after.Version, CatalogRevision: some(revision), Pending: pending}
	if c.wait != nil && pending > 0 {
		out.status = http.StatusAccepted
	}
	return out, nil
}

func platformCatalogOf(s override.State, problems catalog.Problems) gen.PlatformCatalog {
	out := gen.PlatformCatalog{
		Version: s.Version, Providers: make([]gen.PlatformEntry, 0, len(s.Document.Providers)),
		Models: make([]gen.PlatformEntry, 0, len(s.Document.Models)), Problems: make([]gen.CatalogProblem, 0, len(problems)),
		CatalogRevision: some(s.Revision), PublishedAt: utc(s.PublishedAt),
	}
	for _, e := range s.Shown() {
		out.Providers = append(out.Providers, entryOf(e))
	}
	for _, e := range s.Document.Models {
		out.Models = append(out.Models, entryOf(e))
	}
	for _, p := range problems {
		out.Problems = append(out.Problems, gen.CatalogProblem{Path: p.Path, Message: p.Message})
	}
	if s.Version > 0 {
		out.ChangedAt = pointer(s.CreatedAt.UTC())
		out.ChangedBy = &gen.Actor{Kind: gen.ActorKind(s.By.Kind), Name: some(s.By.Name)}
	}
	return out
}

func entryOf(e override.Entry) gen.PlatformEntry {
	body, err := json.Marshal(e)
	if err != nil { // what was read from JSON can be written again
		panic(err)
	}
	return body
}

// overridden is the answer to every change of the operator's catalog.
type overridden struct {
	status int
	tag    string
	body   gen.PlatformCatalogChange
}

func (o *overridden) write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", o.tag)
	w.WriteHeader(o.status)
	return json.NewEncoder(w).Encode(o.body)
}

// VisitReplacePlatformCatalogResponse implements the operation's answer, and so
// do those below.
func (o *overridden) VisitReplacePlatformCatalogResponse(w http.ResponseWriter) error {
	return o.write(w)
}

// VisitPutPlatformProviderResponse implements the answer.
func (o *overridden) VisitPutPlatformProviderResponse(w http.ResponseWriter) error { return o.write(w) }

// VisitDeletePlatformProviderResponse implements the answer.
func (o *overridden) VisitDeletePlatformProviderResponse(w http.ResponseWriter) error {
	return o.write(w)
}

// VisitPutPlatformModelResponse implements the answer.
func (o *overridden) VisitPutPlatformModelResponse(w http.ResponseWriter) error { return o.write(w) }

// VisitDeletePlatformModelResponse implements the answer.
func (o *overridden) VisitDeletePlatformModelResponse(w http.ResponseWriter) error { return o.write(w) }

// VisitPutPlatformEndpointResponse implements the answer.
func (o *overridden) VisitPutPlatformEndpointResponse(w http.ResponseWriter) error { return o.write(w) }

// VisitDeletePlatformEndpointResponse implements the answer.
func (o *overridden) VisitDeletePlatformEndpointResponse(w http.ResponseWriter) error {
	return o.write(w)
}

// VisitOrderPlatformRulesResponse implements the answer.
func (o *overridden) VisitOrderPlatformRulesResponse(w http.ResponseWriter) error { return o.write(w) }

// VisitPutPlatformRuleResponse implements the answer.
func (o *overridden) VisitPutPlatformRuleResponse(w http.ResponseWriter) error { return o.write(w) }

// VisitDeletePlatformRuleResponse implements the answer.
func (o *overridden) VisitDeletePlatformRuleResponse(w http.ResponseWriter) error { return o.write(w) }
