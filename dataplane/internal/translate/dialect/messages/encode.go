package messages

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/claude"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// maxUserID is how long metadata.user_id may be, in bytes.
const maxUserID = 256

// writer writes one request.
type writer struct {
	b        jsonappend.Buffer
	degraded []string
	version  claude.Version
	thinking claude.Thinking
}

// EncodeRequest implements dialect.Codec. A limit of the output has to be
// there: without one of the caller's it is Target.MaxOutput, else 8192, and
// room for thinking on top. A target without a model is one whose path names
// it.
func (Codec) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	w := &writer{version: claude.VersionOf(to.Model)}
	w.plan(r, to.MaxOutput)
	w.b.Open('{')
	w.b.StringIf("model", to.Model)
	w.b.Int("max_tokens", w.limit(r.MaxTokens, to.MaxOutput))
	if err := w.conversation(r.Messages); err != nil {
		return dialect.Encoded{}, err
	}
	w.settings(r)
	w.sampling(r)
	if r.Stream {
		w.b.Bool("stream", true)
	}
	w.b.Close('}')
	return w.encoded(r), nil
}

// encoded lists what of the request has no place in this format at all.
func (w *writer) encoded(r *conversation.Request) dialect.Encoded {
	w.lose(turns.Lost(r)...)
	slices.Sort(w.degraded)
	return dialect.Encoded{Body: w.b, Degraded: slices.Compact(w.degraded)}
}

func (w *writer) lose(names ...string) { w.degraded = append(w.degraded, names...) }

// plan settles whether the model thinks, since much else depends on it.
func (w *writer) plan(r *conversation.Request, most int64) {
	w.thinking = claude.Think(w.version, r.Reasoning, claude.Limits{Asked: r.MaxTokens, Most: most})
	if w.thinking.Budget && turns.GoesOnUnproved(r.Messages, home) {
		w.thinking = claude.Thinking{Limit: r.MaxTokens, Degraded: true}
	}
	if w.thinking.Degraded {
		w.lose("reasoning")
	}
}

func (w *writer) limit(asked, most int64) int64 {
	limit := w.thinking.Limit
	if limit == 0 {
		limit = claude.DefaultLimit
		if most > 0 {
			limit = most
		}
	}
	if most > 0 && asked > most {
		w.lose("max_tokens")
		return most
	}
	return limit
}

// settings writes the tools, and what says how to think and in which form to
// answer.
func (w *writer) settings(r *conversation.Request) {
	w.tools(r)
	w.b.Raw("thinking", w.thinking.Config)
	schema := w.schema(r.Output)
	if schema == nil && w.thinking.Effort == "" {
		return
	}
	w.b.Name("output_config")
	w.b.Open('{')
	w.b.StringIf("effort", w.thinking.Effort)
	if schema != nil {
		w.b.Name("format")
		w.b.Open('{')
		w.b.String("type", "json_schema")
		w.b.Raw("schema", schema)
		w.b.Close('}')
	}
	w.b.Close('}')
}

// schema is what the answer has to keep to, nil when there is none or the
// model knows none.
func (w *writer) schema(o *conversation.Output) []byte {
	switch {
	case o == nil || o.Kind == conversation.PlainText:
		return nil
	case o.Kind != conversation.JSONSchema || len(o.Schema) == 0 || !w.version.HasSchemas():
		w.lose("response_format")
		return nil
	}
	return claude.Closed(o.Schema)
}

func (w *writer) sampling(r *conversation.Request) {
	s, lost := claude.Sample(w.version, w.thinking.On, claude.Sampling{Temperature: r.Temperature, TopP: r.TopP, TopK: r.TopK})
	w.lose(lost...)
	w.b.Raw("temperature", []byte(s.Temperature))
	w.b.Raw("top_p", []byte(s.TopP))
	w.b.Raw("top_k", []byte(s.TopK))
	stops, cut := turns.Stops(r.Stop)
	if cut {
		w.lose("stop")
	}
	w.b.Strings("stop_sequences", stops)
	switch {
	case len(r.User) > maxUserID:
		w.lose("user")
	case r.User != "":
		w.b.Name("metadata")
		w.b.Open('{')
		w.b.String("user_id", r.User)
		w.b.Close('}')
	}
	switch r.ServiceTier {
	case "":
	case "auto":
		w.b.String("service_tier", "auto")
	case "default", "standard_only":
		w.b.String("service_tier", "standard_only")
	default:
		w.lose("service_tier")
	}
}
