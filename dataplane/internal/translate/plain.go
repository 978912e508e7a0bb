package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// plain is how a surface that carries no conversation travels: its format is
// the same everywhere, so that only its bytes are edited.
type plain struct {
	path        string
	streamUsage bool // usage in a stream must be asked for
	opaque      bool // the reply may be something else than JSON
	metadata    bool // the format has metadata of its own
}

var plains = map[catalog.Surface]plain{
	catalog.Completions:    {path: "/completions", streamUsage: true},
	catalog.Embeddings:     {path: "/embeddings"},
	catalog.Moderations:    {path: "/moderations"},
	catalog.Rerank:         {path: "/rerank"},
	catalog.Images:         {path: "/images/generations"},
	catalog.ImageEdits:     {path: "/images/edits"},
	catalog.Speech:         {path: "/audio/speech", opaque: true},
	catalog.Transcriptions: {path: "/audio/transcriptions", opaque: true},
	catalog.Translations:   {path: "/audio/translations", opaque: true},
	catalog.OCR:            {path: "/ocr"},
	catalog.Parse:          {path: "/parse", opaque: true},
	catalog.Decisions:      {path: "/decisions"},
	catalog.Videos:         {path: kept[catalog.Videos]},
	catalog.Music:          {path: kept[catalog.Music]},
	catalog.Batches:        {path: kept[catalog.Batches], metadata: true},
	catalog.Files:          {path: kept[catalog.Files]},
}

// plainRequest edits a body, JSON or a form, for an upstream.
func plainRequest(c call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure) {
	p, ok := plains[c.Surface]
	if !ok || !speaksOpenAI(to.Provider.Type) {
		return upstream.Request{}, upstream.Fail(upstream.CannotCarry, nil)
	}
	at := openAIPlace(to, p.path)
	request := upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Path: at.path, Query: at.query, Header: c.Header,
		Stream: c.Request.Stream, Opaque: p.opaque,
	}
	want := edits{
		model: to.Endpoint.UpstreamModel, provider: to.Provider.Slug,
		usage: c.Request.Stream && p.streamUsage && !quirksOf(to.Provider).NoStreamUsage,
	}
	if !p.metadata {
		want.drop = []string{"metadata"}
	}
	if c.Surface == catalog.Batches {
		// The models stand in the file.
		want.model, want.drop, want.file = "", []string{"model"}, c.Owned.ID
	}
	body, err := edit(c.Body, want)
	if err != nil {
		return upstream.Request{}, notAnObject(err)
	}
	request.Body = upstream.Bytes(body)
	return request, nil
}

func speaksOpenAI(t catalog.ProviderType) bool {
	return t == catalog.OpenAI || t == catalog.OpenAICompatible || t == catalog.Azure
}
