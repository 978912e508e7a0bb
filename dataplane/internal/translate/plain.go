package translate

import (
	"mime"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawform"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// route is how a surface that carries no conversation travels: its format is
// the same everywhere, so that only its bytes are edited.
type route struct {
	path        string
	streamUsage bool // usage in a stream must be asked for
	opaque      bool // the reply may be something else than JSON
	metadata    bool // the format has metadata of its own
}

var routes = map[catalog.Surface]route{
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
func plainRequest(c *call.Call, to decide.Candidate) (upstream.Request, *upstream.Failure) {
	p, ok := routes[c.Surface]
	if !ok || !speaksOpenAI(to.Provider.Type) {
		return upstream.Request{}, upstream.Fail(upstream.CannotCarry, nil)
	}
	at := openAIPlace(to, p.path)
	request := upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Path: at.path, Query: at.query, Header: c.Header,
		Stream: c.Request.Stream, Opaque: p.opaque, Once: c.Makes(),
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
	if c.Form != "" {
		return formRequest(c, request, want)
	}
	body, err := edit(c.Body, &want)
	if err != nil {
		return upstream.Request{}, notAnObject(err)
	}
	request.Body = upstream.Bytes(body)
	return request, nil
}

// formRequest edits a form. Its files stay where they are.
func formRequest(c *call.Call, request upstream.Request, want edits) (upstream.Request, *upstream.Failure) {
	changes := rawform.Edits{Drop: func(p *rawform.Part) bool {
		name := p.Base()
		return dialect.IsGatewayOnly(name) || slices.Contains(want.drop, name) ||
			name == "model" && c.Surface == catalog.Files
	}}
	var wrong *fault.Error
	if c.Surface == catalog.Files && isBatch(c) {
		changes.Rewrite = func(p *rawform.Part) (lines [][]byte) {
			if p.Name == "file" && wrong == nil {
				lines, wrong = batchFile(p.Value(c.Body), c.Request.Model, want.model)
			}
			return lines
		}
	}
	if want.model != "" && c.Surface != catalog.Files {
		changes.Set = append(changes.Set, rawform.Field{Name: "model", Value: want.model})
	}
	pieces, err := rawform.Edit(c.Body, c.Form, changes)
	switch {
	case err != nil:
		return upstream.Request{}, notAnObject(err)
	case wrong != nil:
		f := upstream.Fail(upstream.Rejected, nil)
		f.Fault = wrong
		return upstream.Request{}, f
	}
	request.Type = mime.FormatMediaType("multipart/form-data", map[string]string{"boundary": c.Form})
	request.Body = upstream.Pieces(c.Store, pieces...)
	return request, nil
}

// isBatch reports whether a file is a batch's input.
func isBatch(c *call.Call) bool {
	parts, _ := rawform.Parse(c.Body, c.Form)
	return slices.ContainsFunc(parts, func(p rawform.Part) bool {
		return p.Name == "purpose" && string(p.Value(c.Body)) == "batch"
	})
}

func speaksOpenAI(t catalog.ProviderType) bool {
	return t == catalog.OpenAI || t == catalog.OpenAICompatible || t == catalog.Azure
}
