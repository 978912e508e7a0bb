package surface

import (
	"slices"
	"strconv"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Page sizes. OpenAI's SDK reads one page and takes it for all; Anthropic's
// pages by itself.
const (
	maxPage       = 1000
	anthropicPage = 20
)

// modelView satisfies both SDKs: "object", "created" and "owned_by" are
// OpenAI's, "type", "display_name" and "created_at" Anthropic's; the rest is
// ours.
type modelView struct {
	ID          string `json:"id"`
	Object      string `json:"object,omitempty"`
	Created     *int64 `json:"created,omitempty"`
	OwnedBy     string `json:"owned_by,omitempty"`
	Type        string `json:"type,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`

	Name         string             `json:"name,omitempty"`
	Context      int64              `json:"context_length,omitempty"`
	MaxOutput    int64              `json:"max_output_tokens,omitempty"`
	Input        []catalog.Modality `json:"input_modalities"`
	Output       []catalog.Modality `json:"output_modalities"`
	Capabilities []string           `json:"capabilities"`
	Surfaces     []catalog.Surface  `json:"surfaces"`
	Providers    []string           `json:"providers"`
	Lifecycle    catalog.Lifecycle  `json:"lifecycle"`
}

type modelPage struct {
	Object  string      `json:"object,omitempty"`
	Data    []modelView `json:"data"`
	HasMore bool        `json:"has_more"`
	FirstID *string     `json:"first_id"`
	LastID  *string     `json:"last_id"`
}

type endpointView struct {
	ID         string            `json:"id"`
	Provider   string            `json:"provider"`
	Region     string            `json:"region,omitempty"`
	Price      *priceView        `json:"price"` // USD per million units; null: unknown
	Context    int64             `json:"context_length,omitempty"`
	MaxOutput  int64             `json:"max_output_tokens,omitempty"`
	Parameters []string          `json:"supported_parameters"` // empty: not known
	Surfaces   []catalog.Surface `json:"surfaces"`
	Channel    catalog.Channel   `json:"channel"`
	Derank     int               `json:"derank,omitempty"`
	Health     *healthView       `json:"health"` // null: too few requests to tell
}

func (e *Edge) listModels(a *asked) (any, error) {
	q := a.gin.Request.URL.Query()
	surfaces := a.surfaces()
	if want := q.Get("surface"); want != "" {
		if !slices.Contains(catalog.Surfaces(), catalog.Surface(want)) {
			return nil, fault.Invalid(fault.Violation{Path: "surface", Code: "unknown", Message: "there is no surface with this name"})
		}
		surfaces = slices.DeleteFunc(surfaces, func(s catalog.Surface) bool { return string(s) != want })
	}
	form := formOf(a.gin.Request)
	limit := maxPage
	if form == envelope.Anthropic {
		limit = anthropicPage
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return nil, fault.Invalid(fault.Violation{Path: "limit", Code: "out_of_range", Message: "must be a whole number from 1 to 1000"})
		}
		limit = n
	}
	after := q.Get("after_id")
	if after == "" {
		after = q.Get("after")
	}
	author := q.Get("author")
	models, next, err := a.page(after, limit, surfaces, func(m *catalog.Model) bool { return author == "" || m.Author == author })
	if err != nil {
		return nil, err
	}
	page := modelPage{Data: make([]modelView, 0, len(models)), HasMore: next != ""}
	if form != envelope.Anthropic {
		page.Object = "list"
	}
	for _, m := range models {
		page.Data = append(page.Data, a.model(m, form))
	}
	if n := len(page.Data); n > 0 {
		page.FirstID, page.LastID = &page.Data[0].ID, &page.Data[n-1].ID
	}
	return page, nil
}

// page are the models that the key may use on some of the surfaces and that the
// caller wants. It ends once the caller has left.
func (a *asked) page(after string, limit int, on []catalog.Surface, wants func(*catalog.Model) bool) ([]*catalog.Model, string, error) {
	ctx := a.gin.Request.Context()
	models, next := a.pin.Catalog.Page(after, limit, func(m *catalog.Model) bool {
		if ctx.Err() != nil || !wants(m) {
			return false
		}
		offers, _ := a.offers(m, on)
		return len(offers) > 0
	})
	if err := ctx.Err(); err != nil {
		return nil, "", fault.Wrap(err, fault.ClientClosed, "The caller left before the list was complete.")
	}
	return models, next, nil
}

func (e *Edge) getModel(a *asked) (any, error) {
	m, err := a.find(a.named())
	if err != nil {
		return nil, err
	}
	return a.model(m, formOf(a.gin.Request)), nil
}

func (e *Edge) listEndpoints(a *asked) (any, error) {
	m, err := a.find(a.named())
	if err != nil {
		return nil, err
	}
	offers, _ := a.offers(m, a.surfaces())
	views := make([]endpointView, 0, len(offers))
	for _, o := range offers {
		views = append(views, a.endpoint(m, o))
	}
	return data{Data: struct {
		ID        string         `json:"id"`
		Name      string         `json:"name,omitempty"`
		Endpoints []endpointView `json:"endpoints"`
	}{m.ID, m.Name, views}}, nil
}

func (e *Edge) listProviders(a *asked) (any, error) {
	all := a.pin.Catalog.Providers()
	views := make([]providerView, 0, len(all))
	for i := range all {
		p := &all[i]
		if p.Disabled {
			continue
		}
		views = append(views, providerView{
			Slug: p.Slug, Name: p.Name, Aliases: list(p.Aliases), Type: p.Type, Regions: list(p.Regions), DataPolicy: p.DataPolicy,
		})
	}
	return data{Data: views}, nil
}

// named is the model's name in the path.
func (a *asked) named() string {
	name := a.gin.Param("author")
	if slug := a.gin.Param("slug"); slug != "" {
		name += "/" + slug
	}
	return name
}

// find resolves a model; one that the key may not use is not there.
func (a *asked) find(name string) (*catalog.Model, error) {
	if found := a.pin.Catalog.Resolve(name); len(found) == 1 {
		if offers, _ := a.offers(found[0], a.surfaces()); len(offers) > 0 {
			return found[0], nil
		}
	}
	return nil, fault.New(fault.ModelNotFound, "There is no model with this id that your key may use. GET /v1/models lists them.")
}

func (a *asked) model(m *catalog.Model, form envelope.Format) modelView {
	offers, on := a.offers(m, a.surfaces())
	v := modelView{
		ID: m.ID, Name: m.Name, Context: m.Context, MaxOutput: m.MaxOutput,
		Input: list(m.Input), Output: list(m.Output), Capabilities: list(m.Capabilities),
		Surfaces: list(on), Providers: []string{}, Lifecycle: m.Lifecycle,
	}
	v.Lifecycle.State = m.StateAt(a.call.Received)
	for _, o := range offers {
		if !slices.Contains(v.Providers, o.Provider.Slug) {
			v.Providers = append(v.Providers, o.Provider.Slug)
		}
	}
	if form == envelope.Anthropic {
		v.Type, v.DisplayName = "model", m.Name
		if v.DisplayName == "" {
			v.DisplayName = m.ID
		}
		v.CreatedAt = time.Unix(0, 0).UTC().Format(time.RFC3339) // how that API writes "not known"
		return v
	}
	v.Object, v.OwnedBy, v.Created = "model", m.Author, new(int64)
	return v
}

func (a *asked) endpoint(m *catalog.Model, o catalog.Offer) endpointView {
	_, on := a.offers(m, a.surfaces())
	ep := o.Endpoint
	v := endpointView{
		ID: ep.ID, Provider: o.Provider.Slug, Region: ep.Region, Price: priceOf(ep.Price),
		Context: ep.Context, MaxOutput: ep.MaxOutput, Parameters: list(ep.Parameters), Channel: ep.Channel, Derank: ep.Derank,
		Surfaces: list(slices.DeleteFunc(on, func(s catalog.Surface) bool { return !decide.Serves(&o, s) })),
	}
	if known, ok := a.health.Published(ep.ID); ok {
		v.Health = healthOf(known)
	}
	if v.Context == 0 {
		v.Context = m.Context
	}
	if v.MaxOutput == 0 {
		v.MaxOutput = m.MaxOutput
	}
	if v.Channel == "" {
		v.Channel = catalog.Stable
	}
	return v
}
