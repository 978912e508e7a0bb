package gemini

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// requestWriter writes one request.
type requestWriter struct {
	partWriter
	model    generation
	degraded []string
	names    map[string]string // of calls, by id
	order    map[string]int    // of calls, by id
}

// EncodeRequest implements dialect.Codec. The model and the kind of reply
// stand in the path and are not written.
func (Codec) EncodeRequest(r *conversation.Request, to dialect.Target) (dialect.Encoded, error) {
	w := &requestWriter{model: generationOf(to.Model), names: make(map[string]string), order: make(map[string]int)}
	w.noIDs = to.NoCallIDs
	w.b.Open('{')
	if err := w.messages(r.Messages); err != nil {
		return dialect.Encoded{}, err
	}
	if len(r.Tools) > 0 {
		w.tools(r.Tools)
	}
	w.toolChoice(r)
	w.config(r)
	w.b.Close('}')
	w.unsaid(r)
	slices.Sort(w.degraded)
	return dialect.Encoded{Body: w.b, Degraded: slices.Compact(w.degraded)}, nil
}

func (w *requestWriter) degrade(path string) { w.degraded = append(w.degraded, path) }

// unsaid lists what this format has no member for.
func (w *requestWriter) unsaid(r *conversation.Request) {
	for name, said := range map[string]bool{
		"verbosity":           r.Verbosity != "",
		"service_tier":        r.ServiceTier != "",
		"user":                r.User != "",
		"prompt_cache_key":    r.CacheKey != "",
		"parallel_tool_calls": r.ParallelTools != nil && !*r.ParallelTools,
	} {
		if said {
			w.degrade(name)
		}
	}
	w.degraded = append(w.degraded, r.Other...)
}

// messages writes the instructions, wherever they stand, and the contents.
func (w *requestWriter) messages(all []conversation.Message) error {
	instructs := func(m *conversation.Message) bool {
		return m.Role == conversation.System || m.Role == conversation.Developer
	}
	// A conversation of nothing but instructions is refused: they are then what
	// the user says.
	alone := true
	for i := range all {
		alone = alone && instructs(&all[i])
	}
	if !alone {
		if err := w.instructions(all, instructs); err != nil {
			return err
		}
	}
	turn := currentTurn(all)
	w.b.Name("contents")
	w.b.Open('[')
	for i := range all {
		m := &all[i]
		if instructs(m) && !alone {
			continue
		}
		w.demandProof = i > turn && w.model.demandsProof()
		if err := w.content(i, m); err != nil {
			return err
		}
	}
	w.b.Close(']')
	return nil
}

func (w *requestWriter) instructions(all []conversation.Message, instructs func(*conversation.Message) bool) error {
	start := len(w.b)
	w.b.Name("systemInstruction")
	w.b.Open('{')
	w.b.Name("parts")
	w.b.Open('[')
	empty := len(w.b)
	for i := range all {
		if !instructs(&all[i]) {
			continue
		}
		if err := w.parts(i, &all[i]); err != nil {
			return err
		}
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return nil
	}
	w.b.Close(']')
	w.b.Close('}')
	return nil
}

// currentTurn is the index of the last message that a user wrote, -1 when
// there is none.
func currentTurn(all []conversation.Message) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == conversation.User {
			return i
		}
	}
	return -1
}

func (w *requestWriter) content(i int, m *conversation.Message) error {
	role := "user"
	if m.Role == conversation.Assistant {
		role = "model"
	}
	start := len(w.b)
	w.b.Next()
	w.b.Open('{')
	w.b.String("role", role)
	w.b.Name("parts")
	w.b.Open('[')
	empty := len(w.b)
	if err := w.parts(i, m); err != nil {
		return err
	}
	if len(w.b) == empty { // nothing in it is for this format
		w.b = w.b[:start]
		return nil
	}
	w.b.Close(']')
	w.b.Close('}')
	return nil
}

func (w *requestWriter) parts(i int, m *conversation.Message) error {
	if m.Name != "" {
		w.degrade("messages." + strconv.Itoa(i) + ".name")
	}
	parts := m.Parts
	if m.Role == conversation.ToolRole && w.noIDs {
		parts = w.inOrder(parts)
	}
	for j := range parts {
		p := &parts[j]
		if p.Cache != "" {
			w.degrade("cache_control")
		}
		if p.Kind == conversation.Text && p.Text == "" && (len(parts) > 1 || m.Role == conversation.Assistant) {
			continue // refused, and says nothing
		}
		if err := w.requestPart(i, j, p); err != nil {
			return err
		}
	}
	w.loneProof()
	return nil
}

func (w *requestWriter) requestPart(i, j int, p *conversation.Part) error {
	at := "messages." + strconv.Itoa(i)
	switch p.Kind {
	case conversation.Thought:
		if t := p.Thought; t != nil && (t.Origin == "" || t.Origin == conversation.Google) {
			w.thought(t)
		}
	case conversation.Call:
		if p.Call == nil {
			return nil
		}
		w.names[p.Call.ID], w.order[p.Call.ID] = p.Call.Name, len(w.order)
		w.call(p.Call)
	case conversation.Result:
		if p.Result == nil {
			return nil
		}
		return w.result(at, p.Result)
	case conversation.Text, conversation.Refusal:
		w.text(p.Text)
	default:
		return w.media(at, at+".parts."+strconv.Itoa(j), p)
	}
	return nil
}

func (w *requestWriter) media(at, path string, p *conversation.Part) error {
	m := p.Media
	switch {
	case m == nil:
		return nil
	case m.FileID != "":
		return &dialect.Unable{What: "an uploaded file in " + at}
	case m.Data == "" && m.URL == "" && m.Text == "":
		return &dialect.Unable{What: "audio by its id in " + at}
	}
	if m.Detail == "low" || m.Detail == "high" {
		w.degrade(path + ".detail")
	}
	w.partWriter.media(p)
	return nil
}

// result writes a functionResponse, with what is no text in its parts: models
// of the third generation read those, older ones the content beside it
// (https://ai.google.dev/gemini-api/docs/function-calling#multimodal).
func (w *requestWriter) result(at string, r *conversation.ToolResult) error {
	name := r.Name
	if name == "" {
		name = w.names[r.CallID]
	}
	if name == "" {
		name = r.CallID
	}
	out := outcome{isError: r.IsError}
	var others []*conversation.Part
	for i := range r.Parts {
		p := &r.Parts[i]
		switch {
		case p.Kind == conversation.Text || p.Kind == conversation.Refusal:
			out.texts = append(out.texts, p.Text)
		case p.Media != nil && p.Media.Text != "":
			out.texts = append(out.texts, documentText(p.Media))
		default:
			others = append(others, p)
		}
	}
	if len(out.texts) == 0 && len(others) == 0 && !r.IsError {
		out.texts = []string{""}
	}
	beside := w.model.isOld()
	w.b.Next()
	w.b.Open('{')
	w.b.Name("functionResponse")
	w.b.Open('{')
	w.id(r.CallID)
	w.b.String("name", name)
	w.b.Name("response")
	writeOutcome(&w.b, out)
	if len(others) > 0 && !beside {
		w.b.Name("parts")
		w.b.Open('[')
		if err := w.beside(at, others); err != nil {
			return err
		}
		w.b.Close(']')
	}
	w.b.Close('}')
	w.b.Close('}')
	if beside {
		return w.beside(at, others)
	}
	return nil
}

// inOrder are results in the order of their calls, which is all that tells
// them apart without ids.
func (w *requestWriter) inOrder(results []conversation.Part) []conversation.Part {
	at := func(p *conversation.Part) int {
		if p.Result == nil {
			return len(w.order)
		}
		if n, ok := w.order[p.Result.CallID]; ok {
			return n
		}
		return len(w.order)
	}
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b conversation.Part) int { return at(&a) - at(&b) })
	return sorted
}

func (w *requestWriter) beside(at string, parts []*conversation.Part) error {
	for _, p := range parts {
		if err := w.media(at, at+".parts", p); err != nil {
			return err
		}
	}
	return nil
}
