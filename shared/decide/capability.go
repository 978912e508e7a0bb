package decide

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// conversation are the surfaces that carry a conversation. A request of any
// of them can be written in the format of any other, so that a provider that
// speaks one serves them all.
var conversation = []catalog.Surface{catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini}

// native are the surfaces whose format is OpenAI's, or was made in its
// likeness. They pass as they are, to providers that speak it.
var native = []catalog.Surface{
	catalog.Completions, catalog.Embeddings, catalog.Moderations, catalog.Rerank, catalog.Images, catalog.ImageEdits,
	catalog.Speech, catalog.Transcriptions, catalog.Translations, catalog.OCR, catalog.Parse, catalog.Decisions,
	catalog.Videos, catalog.Music, catalog.Batches, catalog.Files, catalog.Realtime,
}

// speaks reports whether the gateway can carry a surface to providers of a
// type.
func speaks(t catalog.ProviderType, s catalog.Surface) bool {
	switch t {
	case catalog.OpenAI, catalog.Azure, catalog.OpenAICompatible:
		return slices.Contains(conversation, s) || slices.Contains(native, s)
	case catalog.Anthropic, catalog.Google, catalog.Vertex, catalog.Bedrock:
		return slices.Contains(conversation, s)
	}
	return false
}

// produces is what a model must put out to serve a surface, where that is one
// kind of content.
func produces(s catalog.Surface) catalog.Modality {
	switch s {
	case catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini, catalog.Completions:
		return catalog.Text
	case catalog.Embeddings:
		return catalog.Embedding
	case catalog.Images, catalog.ImageEdits:
		return catalog.Image
	case catalog.Speech, catalog.Music:
		return catalog.Audio
	case catalog.Videos:
		return catalog.Video
	default:
		return ""
	}
}

// Serves reports whether an endpoint has a surface. One that lists surfaces
// has those; of chat, responses, messages and gemini, each stands for all
// four, since they are translated into each other. One that lists none has
// what its model's modalities imply:
//
//   - text out, or nothing said: chat, responses, messages and gemini, unless
//     it is known to take no text;
//   - audio in and no text, text out: transcriptions;
//   - embedding out: embeddings;
//   - image, audio or video out and no text: images, speech or videos. A model
//     that also puts out text does so within a conversation;
//   - at OpenAI itself and on Azure, for what has chat or embeddings: batches,
//     and the files for them.
//
// Everything else is there only where it is listed. A listed surface whose
// output the model is known not to have is not served all the same.
func Serves(o *catalog.Offer, s catalog.Surface) bool {
	if !speaks(o.Provider.Type, s) {
		return false
	}
	m := o.Model
	if !mayProduce(m, s) {
		return false
	}
	if listed := o.Endpoint.Surfaces; len(listed) > 0 {
		return slices.Contains(listed, s) ||
			slices.Contains(conversation, s) && slices.ContainsFunc(listed, isConversation)
	}
	if s == catalog.Batches || s == catalog.Files {
		return o.Provider.Type != catalog.OpenAICompatible && (has(m, catalog.Chat) || has(m, catalog.Embeddings))
	}
	return implied(m, s)
}

// has reports whether a model's modalities give it a surface.
func has(m *catalog.Model, s catalog.Surface) bool { return mayProduce(m, s) && implied(m, s) }

// mayProduce is false for a model that is known not to put out what the
// surface needs.
func mayProduce(m *catalog.Model, s catalog.Surface) bool {
	out := produces(s)
	return out == "" || len(m.Output) == 0 || slices.Contains(m.Output, out)
}

func isConversation(s catalog.Surface) bool { return slices.Contains(conversation, s) }

// implied reports whether a model's modalities say that it has a surface. The
// output that the surface needs is there, or not known.
func implied(m *catalog.Model, s catalog.Surface) bool {
	takesText := len(m.Input) == 0 || slices.Contains(m.Input, catalog.Text)
	switch s {
	case catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini:
		return takesText
	case catalog.Embeddings:
		return len(m.Output) > 0
	case catalog.Images, catalog.Speech, catalog.Videos:
		return len(m.Output) > 0 && !slices.Contains(m.Output, catalog.Text)
	case catalog.Transcriptions:
		return !takesText && slices.Contains(m.Input, catalog.Audio) && slices.Contains(m.Output, catalog.Text)
	default:
		return false
	}
}

// cannotServe gives the reason why an endpoint cannot serve the surface or
// what the entry at hand needs, or "". Some rung may want every parameter served.
func (d *decision) cannotServe(o *catalog.Offer) string {
	f := &d.in.Facts
	if !speaks(o.Provider.Type, f.Surface) {
		return reasonFormat
	}
	if !Serves(o, f.Surface) {
		return reasonSurface
	}
	if len(o.Model.Input) > 0 {
		for _, need := range f.Needs {
			if !slices.Contains(o.Model.Input, need) {
				return reasonModality
			}
		}
	}
	if d.restrictions.parameters != RungPlatform && len(o.Endpoint.Parameters) > 0 {
		for _, asked := range [...][]string{f.Parameters, d.added.Parameters} {
			for _, p := range asked {
				if !slices.Contains(o.Endpoint.Parameters, p) {
					return reasonParameter
				}
			}
		}
	}
	return ""
}
