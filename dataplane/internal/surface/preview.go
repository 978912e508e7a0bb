package surface

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/body"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

const previewPath = "/v1/routing/preview"

// previewed is the row of a surface that answers in text, whose bodies can be
// previewed; nil for the others.
func previewed(of catalog.Surface) *row {
	switch of {
	case catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini, catalog.Completions:
		i := slices.IndexFunc(table, func(r row) bool { return r.surface == of && r.action == call.Generate })
		return &table[i]
	default:
		return nil
	}
}

// preview answers what would happen to a body of the surface that the query
// names, chat by default: nobody is called and nothing is counted. A Gemini
// body names no model; the query's model does.
func (e *Edge) preview(g *gin.Context) {
	ctx := g.Request.Context()
	c := e.newCall(g.Request, http.MethodPost+" "+previewPath)
	s := newSink(g.Writer, envelope.OpenAI, &c, e.options.WriteStall)
	var principal call.Principal
	var value any
	err := e.readPreview(g, &c)
	if err == nil {
		var plan decide.Plan
		if principal, plan, err = e.deps.Pipeline.Preview(ctx, &c); err == nil {
			value = data{Data: previewOf(&c, &plan)}
		}
	}
	if c.Store != nil {
		defer c.Store.Release()
	}
	failure := e.send(s, value, err)
	e.deps.Access.Access(ctx, &c, principal, s.Status(), failure)
}

func (e *Edge) readPreview(g *gin.Context, c *call.Call) error {
	token, refusal := credential(g.Request)
	if refusal != nil {
		body.Skip(g.Writer, g.Request)
		return refusal
	}
	c.Token = token
	row := previewed(catalog.Surface(g.DefaultQuery("surface", string(catalog.Chat))))
	if row == nil {
		body.Skip(g.Writer, g.Request)
		c.Malformed = fault.Invalid(fault.Violation{
			Path: "surface", Code: "invalid", Message: "want chat, responses, messages, gemini or completions",
		})
		return nil
	}
	e.read(g, row, c, g.Query("model"))
	return nil
}

// previewView is what would happen to a request. The decision holds the
// numbers: each candidate's factors, every exclusion, the rung of each field.
type previewView struct {
	Surface     catalog.Surface `json:"surface"`
	Ordering    decide.Ordering `json:"ordering,omitempty"` // sampled: another request may get another order
	Chain       []previewStep   `json:"chain"`
	MaxAttempts int             `json:"max_attempts,omitempty"`
	Refusal     *refusalView    `json:"refusal"`
	Decision    decide.Record   `json:"decision"`
}

type previewStep struct {
	Model      string              `json:"model"`
	Route      *decide.RouteTrace  `json:"route,omitempty"`  // the way of this entry through the key's dynamic route
	Preset     *decide.PresetTrace `json:"preset,omitempty"` // that its calls are under
	Candidates []previewCandidate  `json:"candidates"`       // in the order in which they would be tried
}

type previewCandidate struct {
	Provider string  `json:"provider"`
	Endpoint string  `json:"endpoint"`
	Share    float64 `json:"share,omitempty"` // of requests like this one that try it first
	// Credentials are what it would be called with, in the order in which they
	// are tried.
	Credentials []previewCredential `json:"credentials"`
}

type previewCredential struct {
	Source decide.CredentialSource `json:"source"`
	ID     id.Credential           `json:"id,omitzero"` // of a workspace's own
}

// refusalView is the error that the request would get.
type refusalView struct {
	Status     int             `json:"status"`
	Code       fault.Code      `json:"code"`
	Reason     fault.Reason    `json:"reason,omitempty"`
	Stage      string          `json:"stage,omitempty"` // the filter that emptied the pool
	Message    string          `json:"message"`
	Violations []violationView `json:"violations,omitempty"`
	Fields     map[string]any  `json:"fields,omitempty"`
}

type violationView struct {
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func previewOf(c *call.Call, plan *decide.Plan) previewView {
	v := previewView{
		Surface: c.Surface, Ordering: plan.Record.Ordering, Chain: []previewStep{},
		MaxAttempts: plan.MaxAttempts, Decision: plan.Record,
	}
	shares := make(map[[2]string]float64, len(plan.Record.Candidates))
	for i := range plan.Record.Candidates {
		r := &plan.Record.Candidates[i]
		shares[[2]string{r.Model, r.Endpoint}] = r.Share
	}
	for i := range plan.Chain {
		of := plan.RecordOf(i)
		step := previewStep{Model: plan.Chain[i].Model.ID, Route: of.Route, Preset: of.Preset}
		for _, to := range plan.Chain[i].Candidates {
			c := previewCandidate{
				Provider: to.Provider.Slug, Endpoint: to.Endpoint.ID, Share: shares[[2]string{step.Model, to.Endpoint.ID}],
			}
			for _, use := range to.Credentials {
				c.Credentials = append(c.Credentials, previewCredential{Source: use.Source, ID: use.ID})
			}
			step.Candidates = append(step.Candidates, c)
		}
		v.Chain = append(v.Chain, step)
	}
	if f := plan.Refusal; f != nil {
		v.Refusal = refusalOf(f, plan.Record.Refusal)
	}
	return v
}

func refusalOf(f *fault.Error, r *decide.RefusalRecord) *refusalView {
	v := &refusalView{Status: envelope.Status(f), Code: f.Code, Reason: f.Reason, Message: f.Message, Fields: f.Fields}
	if r != nil {
		v.Stage = r.Stage
	}
	for _, w := range f.Violations {
		v.Violations = append(v.Violations, violationView{Path: w.Path, Code: w.Code, Message: w.Message})
	}
	return v
}
