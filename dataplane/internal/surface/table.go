package surface

import (
	"net/http"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// bodyKind is what a surface's body is made of.
type bodyKind int

const (
	jsonBody   bodyKind = iota
	formBody            // multipart/form-data
	eitherBody          // as its content-type says
	noBody
)

// row is everything in which the inference surfaces differ. Adding a surface
// is adding its rows, and a facts.Format where the body's format is new.
type row struct {
	surface catalog.Surface
	action  call.Action
	method  string
	// path may hold {id}, the caller's id of the job or file that the call is
	// about, or end in {model} and a colon with a verb.
	path     string
	body     bodyKind
	facts    facts.Format    // the native body format
	models   bool            // whether the body may name fallback models
	stream   bool            // whether the reply may be server-sent events
	streams  bool            // the path itself asks for them
	envelope envelope.Format // the native error form
}

var table = slices.Concat(conversations(), plain(), kept(), gemini("/v1beta"), gemini("/v1"))

// conversations are the surfaces whose formats are translated into each other,
// but for Gemini's.
func conversations() []row {
	return []row{
		{
			surface: catalog.Chat, method: http.MethodPost, path: "/v1/chat/completions",
			facts: facts.Chat, models: true, stream: true,
		},
		{
			surface: catalog.Responses, method: http.MethodPost, path: "/v1/responses",
			facts: facts.Responses, models: true, stream: true, envelope: envelope.Responses,
		},
		{
			surface: catalog.Messages, method: http.MethodPost, path: "/v1/messages",
			facts: facts.Messages, models: true, stream: true, envelope: envelope.Anthropic,
		},
		{
			surface: catalog.Messages, action: call.Count, method: http.MethodPost, path: "/v1/messages/count_tokens",
			facts: facts.MessagesCount, models: true, envelope: envelope.Anthropic,
		},
	}
}

// gemini are the rows of Gemini's surface under one version of its API. Where
// its paths name a model, ours may have slashes and colons.
func gemini(version string) []row {
	at := version + "/models/{model}:"
	return []row{
		{
			surface: catalog.Gemini, method: http.MethodPost, path: at + "generateContent",
			facts: facts.Gemini, models: true, envelope: envelope.Gemini,
		},
		{
			surface: catalog.Gemini, method: http.MethodPost, path: at + "streamGenerateContent",
			facts: facts.Gemini, models: true, stream: true, streams: true, envelope: envelope.Gemini,
		},
		{
			surface: catalog.Gemini, action: call.Count, method: http.MethodPost, path: at + "countTokens",
			facts: facts.GeminiCount, models: true, envelope: envelope.Gemini,
		},
	}
}

// plain are the surfaces whose format is the same at every provider.
func plain() []row {
	return []row{
		{
			surface: catalog.Completions, method: http.MethodPost, path: "/v1/completions",
			facts: facts.Completions, models: true, stream: true,
		},
		{surface: catalog.Embeddings, method: http.MethodPost, path: "/v1/embeddings", facts: facts.Embeddings, models: true},
		{surface: catalog.Moderations, method: http.MethodPost, path: "/v1/moderations", facts: facts.Moderations, models: true},
		{surface: catalog.Rerank, method: http.MethodPost, path: "/v1/rerank", facts: facts.Rerank, models: true},
		{
			surface: catalog.Images, method: http.MethodPost, path: "/v1/images/generations",
			facts: facts.Images, models: true, stream: true,
		},
		{
			surface: catalog.ImageEdits, method: http.MethodPost, path: "/v1/images/edits",
			body: formBody, facts: facts.ImageEdits, models: true,
		},
		{
			surface: catalog.Speech, method: http.MethodPost, path: "/v1/audio/speech",
			facts: facts.Speech, models: true, stream: true,
		},
		{
			surface: catalog.Transcriptions, method: http.MethodPost, path: "/v1/audio/transcriptions",
			body: formBody, facts: facts.Transcriptions, models: true, stream: true,
		},
		{
			surface: catalog.Translations, method: http.MethodPost, path: "/v1/audio/translations",
			body: formBody, facts: facts.Transcriptions, models: true, stream: true,
		},
		{surface: catalog.OCR, method: http.MethodPost, path: "/v1/ocr", body: eitherBody, facts: facts.OCR, models: true},
		{surface: catalog.Parse, method: http.MethodPost, path: "/v1/parse", body: eitherBody, facts: facts.Parse, models: true},
		{surface: catalog.Decisions, method: http.MethodPost, path: "/v1/decisions", body: eitherBody, facts: facts.Decisions, models: true},
	}
}

// kept are the surfaces of what providers keep, jobs and files, and of
// two-way conversations.
func kept() []row {
	rows := []row{
		{
			surface: catalog.Videos, method: http.MethodPost, path: "/v1/videos",
			body: eitherBody, facts: facts.Videos, models: true,
		},
		{surface: catalog.Music, method: http.MethodPost, path: "/v1/music", body: eitherBody, facts: facts.Music, models: true},
		{surface: catalog.Batches, method: http.MethodPost, path: "/v1/batches", facts: facts.Batches},
		{surface: catalog.Files, method: http.MethodPost, path: "/v1/files", body: formBody, facts: facts.Files},
		{surface: catalog.Realtime, method: http.MethodGet, path: "/v1/realtime", body: noBody, stream: true, streams: true},
	}
	about := func(s catalog.Surface, a call.Action, method, path string) {
		rows = append(rows, row{surface: s, action: a, method: method, path: path, body: noBody})
	}
	about(catalog.Videos, call.Get, http.MethodGet, "/v1/videos/{id}")
	about(catalog.Videos, call.Content, http.MethodGet, "/v1/videos/{id}/content")
	about(catalog.Videos, call.Delete, http.MethodDelete, "/v1/videos/{id}")
	about(catalog.Music, call.Get, http.MethodGet, "/v1/music/{id}")
	about(catalog.Batches, call.List, http.MethodGet, "/v1/batches")
	about(catalog.Batches, call.Get, http.MethodGet, "/v1/batches/{id}")
	about(catalog.Batches, call.Cancel, http.MethodPost, "/v1/batches/{id}/cancel")
	about(catalog.Files, call.List, http.MethodGet, "/v1/files")
	about(catalog.Files, call.Get, http.MethodGet, "/v1/files/{id}")
	about(catalog.Files, call.Content, http.MethodGet, "/v1/files/{id}/content")
	about(catalog.Files, call.Delete, http.MethodDelete, "/v1/files/{id}")
	return rows
}
