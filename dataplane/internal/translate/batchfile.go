package translate

import (
	"bytes"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// batchFile gives every request of a batch's input file, one JSON object a
// line (https://platform.openai.com/docs/guides/batch), the upstream's name of
// the model. All of them must name the model that the file was routed by: they
// go to one endpoint. What does not change shares memory with file.
func batchFile(file []byte, model, upstreamModel string) ([][]byte, *fault.Error) {
	var pieces [][]byte
	renamed := rawjson.Quote(upstreamModel)
	done, requests := 0, 0
	for at, number := 0, 1; at < len(file); number++ {
		line := file[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		if len(bytes.TrimSpace(line)) > 0 {
			start, end, wrong := modelOfLine(line, model)
			if wrong != "" {
				return nil, fault.Invalid(fault.Violation{
					Path: "file.line_" + strconv.Itoa(number), Code: "invalid_batch_line", Message: wrong,
				})
			}
			pieces = append(pieces, file[done:at+start], renamed)
			done = at + end
			requests++
		}
		at += len(line)
	}
	if requests == 0 {
		return nil, fault.Invalid(fault.Violation{Path: "file", Code: "required", Message: "must have a request in each line"})
	}
	return append(pieces, file[done:]), nil
}

// modelOfLine is where the model's name stands in a line.
func modelOfLine(line []byte, model string) (start, end int, wrong string) {
	o := rawjson.NewObject(line)
	for o.Next() {
		if !o.Is("body") {
			continue
		}
		at, _ := o.ValueSpan()
		body := rawjson.NewObject(o.Value())
		for body.Next() {
			if !body.Is("model") {
				continue
			}
			if end > 0 {
				return 0, 0, "names the model twice"
			}
			if rawjson.String(body.Value()) != model {
				return 0, 0, "body.model must be the same in every line: a batch goes to one endpoint"
			}
			from, to := body.ValueSpan()
			start, end = at+from, at+to
		}
	}
	switch {
	case !o.Whole():
		return 0, 0, "must be one JSON object"
	case end == 0:
		return 0, 0, "body.model is missing"
	}
	return start, end, ""
}
