package converse

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/claude"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// writer writes one request.
type writer struct {
	b        jsonappend.Buffer
	extra    jsonappend.Buffer // the members of additionalModelRequestFields
	degraded []string
	maker    maker
	thinking claude.Thinking
	names    documentNames
}

// EncodeRequest implements dialect.Codec.
func (Codec) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	w := &writer{maker: makerOf(to.Model)}
	w.plan(r, to.MaxOutput)
	w.b.Open('{')
	if err := w.conversation(r.Messages); err != nil {
		return dialect.Encoded{}, err
	}
	w.inference(r)
	w.tools(r)
	w.output(r.Output)
	w.additional(r)
	w.b.Close('}')
	w.lose(turns.Lost(r)...)
	if r.User != "" {
		w.lose("user")
	}
	slices.Sort(w.degraded)
	return dialect.Encoded{Body: w.b, Degraded: slices.Compact(w.degraded)}, nil
}

func (w *writer) lose(names ...string) { w.degraded = append(w.degraded, names...) }

// plan settles whether the model thinks, since much else depends on it.
func (w *writer) plan(r *conversation.Request, most int64) {
	w.thinking = claude.Thinking{Limit: r.MaxTokens}
	switch {
	case w.maker.claude:
		w.thinking = claude.Think(w.maker.version, r.Reasoning, claude.Limits{Asked: r.MaxTokens, Most: most})
		if w.thinking.Budget && turns.GoesOnUnproved(r.Messages, home) {
			w.thinking = claude.Thinking{Limit: r.MaxTokens, Degraded: true}
		}
	default:
		w.thinking.Degraded = !r.Reasoning.IsZero()
	}
	if w.thinking.Degraded {
		w.lose("reasoning")
	}
	if most > 0 && w.thinking.Limit > most {
		w.thinking.Limit = most
		w.lose("max_tokens")
	}
}

// inference writes inferenceConfig. Without a limit the model's own holds.
func (w *writer) inference(r *conversation.Request) {
	s, lost := claude.Sample(w.maker.version, w.thinking.On, claude.Sampling{Temperature: r.Temperature, TopP: r.TopP, TopK: r.TopK})
	w.lose(lost...)
	stops, cut := turns.Stops(r.Stop)
	if cut {
		w.lose("stop")
	}
	var inner jsonappend.Buffer
	inner.IntIf("maxTokens", w.thinking.Limit)
	inner.Raw("temperature", []byte(s.Temperature))
	inner.Raw("topP", []byte(s.TopP))
	inner.Strings("stopSequences", stops)
	w.member("inferenceConfig", inner)
	switch {
	case s.TopK == "":
	case w.maker.claude:
		w.extra.Raw("top_k", []byte(s.TopK))
	case w.maker.nova:
		w.extra.Raw("inferenceConfig", []byte(`{"topK":`+string(s.TopK)+`}`))
	default:
		w.lose("top_k")
	}
}

// member writes an object that has members.
func (w *writer) member(name string, inner jsonappend.Buffer) {
	if len(inner) == 0 {
		return
	}
	w.b.Name(name)
	w.b.Open('{')
	w.b = append(w.b, inner...)
	w.b.Close('}')
}

// output writes outputConfig. The schema is text there, not JSON.
func (w *writer) output(o *conversation.Output) {
	var inner jsonappend.Buffer
	inner.StringIf("effort", w.thinking.Effort)
	switch {
	case o == nil || o.Kind == conversation.PlainText:
	case o.Kind != conversation.JSONSchema || len(o.Schema) == 0 || w.maker.nova || !w.maker.version.HasSchemas():
		w.lose("response_format")
	default:
		inner.Name("textFormat")
		inner.Open('{')
		inner.String("type", "json_schema")
		inner.Name("structure")
		inner.Open('{')
		inner.Name("jsonSchema")
		inner.Open('{')
		inner.String("schema", string(claude.Closed(o.Schema)))
		inner.StringIf("name", o.Name)
		inner.StringIf("description", o.Description)
		inner = append(inner, "}}}"...)
	}
	w.member("outputConfig", inner)
}

// additional writes what is the model's own, and the tier.
func (w *writer) additional(r *conversation.Request) {
	w.extra.Raw("thinking", w.thinking.Config)
	w.member("additionalModelRequestFields", w.extra)
	if w.maker.claude && len(r.Stop) > 0 {
		// Which sequence ended the reply is told only when it is asked for.
		w.b.Raw("additionalModelResponseFieldPaths", []byte(`["/stop_sequence"]`))
	}
	switch r.ServiceTier {
	case "", "auto":
	case "default", "priority", "flex", "reserved":
		w.b.Raw("serviceTier", []byte(`{"type":"`+r.ServiceTier+`"}`))
	default:
		w.lose("service_tier")
	}
}
