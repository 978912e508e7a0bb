package decide

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// spoken lists the surfaces that the gateway can serve from a provider of
// each type: those whose format the provider speaks itself. A surface that
// needs translation joins a type's row when its codec lands.
var spoken = map[catalog.ProviderType][]catalog.Surface{
	catalog.OpenAI:           openAIFormat,
	catalog.OpenAICompatible: openAIFormat,
	catalog.Azure:            openAIFormat,
}

var openAIFormat = []catalog.Surface{catalog.Chat, catalog.Embeddings}

// produces is what a model must put out to serve a surface, where that is one
// kind of content.
func produces(s catalog.Surface) catalog.Modality {
	switch s {
	case catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini, catalog.Completions:
		return catalog.Text
	case catalog.Embeddings:
		return catalog.Embedding
	default:
		return ""
	}
}

// cannotServe gives the reason why an endpoint cannot serve the surface or
// what the request needs, or "".
func cannotServe(f *Facts, o *catalog.Offer) string {
	if !slices.Contains(spoken[o.Provider.Type], f.Surface) {
		return reasonFormat
	}
	if len(o.Endpoint.Surfaces) > 0 && !slices.Contains(o.Endpoint.Surfaces, f.Surface) {
		return reasonSurface
	}
	if out := produces(f.Surface); out != "" && len(o.Model.Output) > 0 && !slices.Contains(o.Model.Output, out) {
		return reasonSurface
	}
	if len(o.Model.Input) > 0 {
		for _, need := range f.Needs {
			if !slices.Contains(o.Model.Input, need) {
				return reasonModality
			}
		}
	}
	if f.Provider.RequireParameters && len(o.Endpoint.Parameters) > 0 {
		for _, p := range f.Parameters {
			if !slices.Contains(o.Endpoint.Parameters, p) {
				return reasonParameter
			}
		}
	}
	return ""
}
