package chat

import (
	"slices"

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
	path     string // of the message that is written, for Unable
}

// EncodeRequest implements dialect.Codec.
func (Codec) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	w := &requestWriter{in: r, quirks: to.Quirks, Buffer: make(jsonappend.Buffer, 0, 1024)}
	w.Open('{')
	w.String("model", to.Model)
	if err := w.messages(); err != nil {
		return dialect.Encoded{}, err
	}
	w.limits()
	w.sampling()
	w.tools()
	w.output()
	w.thinking()
	w.account()
	for _, name := range r.Other {
		w.degrade(name)
	}
	w.Close('}')
	slices.Sort(w.degraded)
	return dialect.Encoded{Body: w.Buffer, Degraded: slices.Compact(w.degraded)}, nil
}

func (w *requestWriter) degrade(path string) { w.degraded = append(w.degraded, path) }

func (w *requestWriter) number(name string, n conversation.Number) { w.Raw(name, []byte(n)) }

func (w *requestWriter) limits() {
	name := w.quirks.TokenLimit
	if name == "" {
		name = "max_completion_tokens"
	}
	w.IntIf(name, w.in.MaxTokens)
	w.IntIf("n", w.in.Choices)
	stop := w.in.Stop
	if len(stop) > MaxStops {
		stop = stop[:MaxStops]
		w.degrade("stop")
	}
	w.Strings("stop", stop)
	if w.in.Stream {
		w.Bool("stream", true)
		if !w.quirks.NoStreamUsage {
			w.Raw("stream_options", []byte(`{"include_usage":true}`))
		}
	}
}

func (w *requestWriter) sampling() {
	w.number("temperature", w.in.Temperature)
	w.number("top_p", w.in.TopP)
	if w.in.TopK != "" {
		w.degrade("top_k")
	}
	w.number("seed", w.in.Seed)
	w.number("frequency_penalty", w.in.FrequencyPenalty)
	w.number("presence_penalty", w.in.PresencePenalty)
	w.BoolIf("logprobs", w.in.Logprobs)
	w.number("top_logprobs", w.in.TopLogprobs)
}

// thinking says how much to think. A budget becomes the effort nearest to it.
func (w *requestWriter) thinking() {
	w.StringIf("reasoning_effort", w.in.Reasoning.EffortOf())
	if w.in.Reasoning.Summary != "" && w.quirks.ReasoningField == "" {
		w.degrade("reasoning.summary") // the format's inventor shows no thoughts
	}
	w.StringIf("verbosity", w.in.Verbosity)
}

func (w *requestWriter) account() {
	w.StringIf("service_tier", w.in.ServiceTier)
	w.StringIf("user", w.in.User)
	w.StringIf("prompt_cache_key", w.in.CacheKey)
}

// unnamed is the name of an output schema that came without one: the format
// demands one.
const unnamed = "output"

func (w *requestWriter) output() {
	o := w.in.Output
	if o == nil {
		return
	}
	w.Name("response_format")
	w.Open('{')
	w.String("type", string(o.Kind))
	if o.Kind == conversation.JSONSchema {
		w.Name("json_schema")
		w.Open('{')
		name := o.Name
		if name == "" {
			name = unnamed
		}
		w.String("name", name)
		w.StringIf("description", o.Description)
		w.Raw("schema", o.Schema)
		w.flag("strict", o.Strict)
		w.Close('}')
	}
	w.Close('}')
}

func (w *requestWriter) flag(name string, flag *bool) {
	if flag != nil {
		w.Bool(name, *flag)
	}
}
