package responses

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// requestWriter writes one request.
type requestWriter struct {
	jsonappend.Buffer
	in       *conversation.Request
	quirks   dialect.Quirks
	degraded []string
	proofs   bool   // thoughts with proofs are in the input
	path     string // of the message that is written, for Unable
}

// EncodeRequest implements dialect.Codec. Nothing is left with the provider:
// whoever spoke another format did not ask for it.
func (Codec) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	if what := r.Unable(); what != "" {
		return dialect.Encoded{}, &dialect.Unable{What: what}
	}
	w := &requestWriter{in: r, quirks: to.Quirks, Buffer: make(jsonappend.Buffer, 0, 1024)}
	w.Open('{')
	w.String("model", to.Model)
	if err := w.input(); err != nil {
		return dialect.Encoded{}, err
	}
	w.params()
	w.tools()
	w.text()
	w.reasoning()
	w.include()
	w.Bool("store", false)
	w.lost()
	w.Close('}')
	slices.Sort(w.degraded)
	return dialect.Encoded{Body: w.Buffer, Degraded: slices.Compact(w.degraded)}, nil
}

func (w *requestWriter) degrade(path string) { w.degraded = append(w.degraded, path) }

func (w *requestWriter) params() {
	w.IntIf("max_output_tokens", w.in.MaxTokens)
	w.Raw("temperature", []byte(w.in.Temperature))
	w.Raw("top_p", []byte(w.in.TopP))
	w.Raw("top_logprobs", []byte(w.in.TopLogprobs))
	w.StringIf("service_tier", w.in.ServiceTier)
	w.StringIf("user", w.in.User)
	w.StringIf("prompt_cache_key", w.in.CacheKey)
	w.BoolIf("stream", w.in.Stream)
}

// lost lists what the format has no place for.
func (w *requestWriter) lost() {
	for _, p := range []struct {
		name string
		said bool
	}{
		{"top_k", w.in.TopK != ""},
		{"seed", w.in.Seed != ""},
		{"frequency_penalty", w.in.FrequencyPenalty != ""},
		{"presence_penalty", w.in.PresencePenalty != ""},
		{"stop", len(w.in.Stop) > 0},
		{"n", w.in.Choices > 1},
	} {
		if p.said {
			w.degrade(p.name)
		}
	}
	for i := range w.in.Messages {
		if w.in.Messages[i].Name != "" {
			w.degrade("messages." + strconv.Itoa(i) + ".name")
		}
	}
	w.degraded = append(w.degraded, w.in.Other...)
}

// unnamed is the name of an output schema that came without one: the format
// demands one.
const unnamed = "output"

// text writes the form of the output.
func (w *requestWriter) text() {
	o := w.in.Output
	if o == nil && w.in.Verbosity == "" {
		return
	}
	w.Name("text")
	w.Open('{')
	if o != nil {
		w.Name("format")
		w.Open('{')
		w.String("type", string(o.Kind))
		if o.Kind == conversation.JSONSchema {
			name := o.Name
			if name == "" {
				name = unnamed
			}
			w.String("name", name)
			w.StringIf("description", o.Description)
			w.Raw("schema", o.Schema)
			w.flag("strict", o.Strict)
		}
		w.Close('}')
	}
	w.StringIf("verbosity", w.in.Verbosity)
	w.Close('}')
}

// reasoning says how much to think. A budget becomes the effort nearest to it.
func (w *requestWriter) reasoning() {
	r := &w.in.Reasoning
	if r.IsZero() {
		return
	}
	w.Name("reasoning")
	w.Open('{')
	w.StringIf("effort", r.EffortOf())
	w.StringIf("summary", r.Summary)
	w.Close('}')
}

// include asks for proofs of thoughts where there will be thoughts: models that
// do not reason refuse it.
func (w *requestWriter) include() {
	var names []string
	if w.proofs || !w.in.Reasoning.IsZero() && w.in.Reasoning.EffortOf() != "none" {
		names = append(names, includeProofs)
	}
	if w.in.Logprobs {
		names = append(names, includeLogprobs)
	}
	w.Strings("include", names)
}

func (w *requestWriter) flag(name string, flag *bool) {
	if flag != nil {
		w.Bool(name, *flag)
	}
}
