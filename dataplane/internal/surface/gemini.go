package surface

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// geminiPage is how many models Google's API lists when it is not told
// (https://ai.google.dev/api/models).
const geminiPage = 50

// geminiModel is a model as Google's SDKs read it.
type geminiModel struct {
	Name        string   `json:"name"` // "models/" and the id
	BaseModelID string   `json:"baseModelId"`
	Version     string   `json:"version"`
	DisplayName string   `json:"displayName"`
	InputLimit  int64    `json:"inputTokenLimit,omitempty"`
	OutputLimit int64    `json:"outputTokenLimit,omitempty"`
	Methods     []string `json:"supportedGenerationMethods"`
}

type geminiModels struct {
	Models []geminiModel `json:"models"`
	Next   string        `json:"nextPageToken,omitempty"`
}

func (e *Edge) listGeminiModels(a *asked) (any, error) {
	q := a.gin.Request.URL.Query()
	limit := geminiPage
	if text := q.Get("pageSize"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fault.Invalid(fault.Violation{Path: "pageSize", Code: "out_of_range", Message: "must be a whole number from 1 to 1000"})
		}
		if n > 0 { // 0 is how that API's clients write "not said"
			limit = min(n, maxPage)
		}
	}
	models, next, err := a.page(q.Get("pageToken"), limit, a.surfaces(), func(*catalog.Model) bool { return true })
	if err != nil {
		return nil, err
	}
	page := geminiModels{Models: make([]geminiModel, 0, len(models)), Next: next}
	for _, m := range models {
		page.Models = append(page.Models, a.geminiModel(m))
	}
	return page, nil
}

func (e *Edge) getGeminiModel(a *asked) (any, error) {
	name := strings.TrimPrefix(a.gin.Param("name"), "/")
	if model, verb := splitVerb(name); model != "" && isVerb(verb) {
		a.gin.Header("Allow", http.MethodPost)
		return nil, fault.New(fault.MethodNotAllowed, "This path does not take this method; the Allow header names what it takes.")
	}
	m, err := a.find(name)
	if err != nil {
		return nil, err
	}
	return a.geminiModel(m), nil
}

// isVerb reports whether a row's path ends in the verb.
func isVerb(verb string) bool {
	return verb != "" && slices.ContainsFunc(table, func(r row) bool { return strings.HasSuffix(r.path, beforeVerb+verb) })
}

func (a *asked) geminiModel(m *catalog.Model) geminiModel {
	_, on := a.offers(m, a.surfaces())
	v := geminiModel{
		Name: "models/" + m.ID, BaseModelID: m.ID, Version: "1", DisplayName: m.Name,
		InputLimit: m.Context, OutputLimit: m.MaxOutput, Methods: []string{},
	}
	if v.DisplayName == "" {
		v.DisplayName = m.ID
	}
	for i := range table {
		_, verb, named := strings.Cut(table[i].path, beforeVerb)
		if named && slices.Contains(on, table[i].surface) && !slices.Contains(v.Methods, verb) {
			v.Methods = append(v.Methods, verb)
		}
	}
	return v
}
