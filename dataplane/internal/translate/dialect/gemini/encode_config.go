package gemini

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// maxStops is how many stop sequences Google takes.
const maxStops = 5

// config writes generationConfig. Schemas are written as JSON schemas, not in
// Google's own subset, so that nothing of their meaning or order is lost.
func (w *requestWriter) config(r *conversation.Request) {
	start := len(w.b)
	w.b.Name("generationConfig")
	w.b.Open('{')
	empty := len(w.b)

	stop := r.Stop
	if len(stop) > maxStops {
		stop = stop[:maxStops]
		w.degrade("stop")
	}
	w.b.Strings("stopSequences", stop)
	w.b.Raw("temperature", []byte(r.Temperature))
	w.b.Raw("topP", []byte(r.TopP))
	w.b.Raw("topK", []byte(r.TopK))
	w.b.IntIf("maxOutputTokens", r.MaxTokens)
	w.b.IntIf("candidateCount", r.Choices)
	if _, err := strconv.ParseInt(string(r.Seed), 10, 32); err == nil {
		w.b.Raw("seed", []byte(r.Seed))
	} else if r.Seed != "" { // an int32 here: any other is refused
		w.degrade("seed")
	}
	w.b.Raw("presencePenalty", []byte(r.PresencePenalty))
	w.b.Raw("frequencyPenalty", []byte(r.FrequencyPenalty))
	w.b.BoolIf("responseLogprobs", r.Logprobs)
	w.b.Raw("logprobs", []byte(r.TopLogprobs))
	w.output(r.Output)
	w.thinking(r.Reasoning)

	if len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b.Close('}')
}

func (w *requestWriter) output(o *conversation.Output) {
	if o == nil {
		return
	}
	switch o.Kind {
	case conversation.PlainText:
		w.b.String("responseMimeType", "text/plain")
	case conversation.JSONObject:
		w.b.String("responseMimeType", "application/json")
	case conversation.JSONSchema:
		w.b.String("responseMimeType", "application/json")
		w.b.Raw("responseJsonSchema", o.Schema)
	default:
		w.degrade("response_format")
	}
}

// thinking writes thinkingConfig: tokens for the second generation, a level
// for later ones. A model that cannot be kept from thinking is told to think
// as little as it can.
func (w *requestWriter) thinking(r conversation.Reasoning) {
	if r.IsZero() {
		return
	}
	start := len(w.b)
	w.b.Name("thinkingConfig")
	w.b.Open('{')
	empty := len(w.b)
	switch {
	case w.model.isOld():
		w.thinkingBudget(r)
	case r.EffortOf() == "none" && w.model.number == 0:
		w.b.Int("thinkingBudget", 0)
	case r.EffortOf() == "none":
		w.b.String("thinkingLevel", w.model.level("minimal"))
		w.degrade("reasoning")
	case r.Budget != 0:
		w.b.Int("thinkingBudget", r.Budget)
	case r.Effort != "":
		level := w.model.level(r.Effort)
		w.b.StringIf("thinkingLevel", level)
		if level == "" {
			w.degrade("reasoning")
		}
	}
	w.b.BoolIf("includeThoughts", r.Summary != "")
	if len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b.Close('}')
}

func (w *requestWriter) thinkingBudget(r conversation.Reasoning) {
	least, most := w.model.budgets()
	if r.EffortOf() == "none" {
		if w.model.pro {
			w.b.Int("thinkingBudget", least)
			w.degrade("reasoning")
			return
		}
		w.b.Int("thinkingBudget", 0)
		return
	}
	budget := r.BudgetOf()
	if budget == conversation.Dynamic {
		w.b.Int("thinkingBudget", budget)
		return
	}
	if budget == 0 {
		if r.Effort != "" {
			w.degrade("reasoning")
		}
		return
	}
	fitting := min(max(budget, least), most)
	if r.Budget != 0 && fitting != budget {
		w.degrade("reasoning")
	}
	w.b.Int("thinkingBudget", fitting)
}
