package simulator

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/tidwall/gjson"
)

// batchEndpoints are the paths that a batch may call.
var batchEndpoints = set(`/v1/chat/completions /v1/completions /v1/embeddings /v1/responses /v1/moderations
	/chat/completions /completions /embeddings /responses`)

// makeBatch is https://platform.openai.com/docs/api-reference/batch.
func (x *exchange) makeBatch() {
	body := x.json
	input, ok := x.server.stored.get(x.owner, "file", body.Get("input_file_id").Str)
	switch endpoint := body.Get("endpoint").Str; {
	case body.Get("input_file_id").Type != gjson.String:
		x.refuse(missing("input_file_id"))
	case !batchEndpoints[endpoint]:
		x.refuse(oneOf("endpoint", endpoint, "/v1/responses /v1/chat/completions /v1/embeddings /v1/completions /v1/moderations"))
	case body.Get("completion_window").Str != "24h":
		x.refuse(oneOf("completion_window", body.Get("completion_window").Str, "24h"))
	case !ok:
		x.refuse(&refusal{status: 400, param: "input_file_id", message: "Invalid input_file_id: no such file."})
	case gjson.GetBytes(input.data, "purpose").Str != "batch":
		x.refuse(&refusal{status: 400, param: "input_file_id", message: "Invalid input_file_id: the file's purpose is not batch."})
	default:
		o := object{kind: "batch", id: x.newID("batch_"), data: obj("endpoint", endpoint, "input_file_id", input.id,
			"created_at", x.server.options.Now().Unix(), "metadata", raw(body.Get("metadata")), "output_file_id", nil, "total", 0)}
		x.server.stored.put(x.owner, o)
		x.plain(x.batchObject(o))
	}
}

func raw(v gjson.Result) any {
	if !v.Exists() {
		return nil
	}
	return json.RawMessage(v.Raw)
}

func (x *exchange) batchObject(o object) json.RawMessage {
	about := gjson.ParseBytes(o.data)
	status := map[string]string{"queued": "validating"}
	now, _ := x.progress(o)
	state := firstWord(status[now], now)
	if o.canceled {
		state = "cancelled" //nolint:misspell // as OpenAI writes it
	}
	total := about.Get("total").Int()
	done := any(nil)
	if state == "completed" {
		done = raw(about.Get("created_at"))
	}
	return obj("id", o.id, "object", "batch", "endpoint", about.Get("endpoint").Str, "errors", nil,
		"input_file_id", about.Get("input_file_id").Str, "completion_window", "24h", "status", state,
		"output_file_id", raw(about.Get("output_file_id")), "error_file_id", nil, "created_at", raw(about.Get("created_at")),
		"completed_at", done, "expires_at", about.Get("created_at").Int()+86400,
		"request_counts", obj("total", total, "completed", total, "failed", 0), "metadata", raw(about.Get("metadata")))
}

func (x *exchange) batch() {
	o, ok := x.server.stored.poll(x.owner, "batch", x.id)
	if !ok {
		x.notFound("batch")
		return
	}
	if state, _ := x.progress(o); state == "completed" && !o.canceled && gjson.GetBytes(o.data, "output_file_id").Type == gjson.Null {
		o = x.complete(o)
	}
	x.plain(x.batchObject(o))
}

// complete writes the output file: one line for each line of the input.
func (x *exchange) complete(o object) object {
	about := gjson.ParseBytes(o.data)
	input, _ := x.server.stored.get(x.owner, "file", about.Get("input_file_id").Str)
	var out bytes.Buffer
	total := 0
	for _, line := range bytes.Split(input.content, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		total++
		out.Write(x.batchLine(gjson.ParseBytes(line), total))
		out.WriteByte('\n')
	}
	file := x.keepFile(o.id+"_output.jsonl", "batch_output", out.Bytes())
	o.data = obj("endpoint", about.Get("endpoint").Str, "input_file_id", input.id, "created_at", raw(about.Get("created_at")),
		"metadata", raw(about.Get("metadata")), "output_file_id", gjson.GetBytes(file, "id").Str, "total", total)
	x.server.stored.put(x.owner, o)
	return o
}

func (x *exchange) batchLine(line gjson.Result, n int) json.RawMessage {
	model := line.Get("body.model").Str
	p := &prompt{model: model, terms: termsOf(model)}
	p.addUser(p.add(firstText(line.Get("body.messages.@reverse.0.content"), line.Get("body.input"), line.Get("body.prompt"))))
	a := answerTo(p, []byte(line.Raw))
	a.created = x.server.options.Now()
	var reply json.RawMessage
	switch line.Get("url").Str {
	case "/v1/responses":
		reply = responsesFormat{}.plain(p, a)
	case "/v1/embeddings":
		reply, _ = embeddings(line.Get("body"), model)
	default:
		reply = chatFormat{}.plain(p, a)
	}
	return obj("id", "batch_req_"+itoa(n), "custom_id", line.Get("custom_id").Str,
		"response", obj("status_code", http.StatusOK, "request_id", "req_"+itoa(n), "body", reply), "error", nil)
}

func (x *exchange) listBatches() {
	var items []json.RawMessage
	for _, o := range x.server.stored.list(x.owner, "batch") {
		items = append(items, x.batchObject(o))
	}
	x.plain(listed(items))
}

func (x *exchange) cancelBatch() {
	o, ok := x.server.stored.get(x.owner, "batch", x.id)
	if !ok {
		x.notFound("batch")
		return
	}
	if state, _ := x.progress(o); state == "completed" || o.canceled {
		x.refuse(&refusal{status: http.StatusConflict, message: "Cannot cancel a batch with status 'completed'."})
		return
	}
	o.canceled = true
	x.server.stored.put(x.owner, o)
	x.plain(x.batchObject(o))
}
