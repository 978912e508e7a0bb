package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

func (r rig) status(method, path string, h http.Header) int {
	resp, _ := r.do(method, path, h, "")
	return resp.StatusCode
}

func TestVideos(t *testing.T) {
	r := start(t, simulator.Options{})
	const path = "/as-openai/v1/videos"
	mine, other := openAIHeader(), header("Authorization", "Bearer "+simulator.OpenAIKey+"-two")
	job := r.good(http.MethodPost, path, mine, `{"model":"m","prompt":"a cat","seconds":"8"}`)
	require.Equal(t, "queued", job.Get("status").Str)
	id := job.Get("id").Str
	require.NotEqual(t, id, r.good(http.MethodPost, path, mine, `{"model":"m","prompt":"a cat","seconds":"8"}`).Get("id").Str, "two submissions are two jobs")
	require.Equal(t, 409, r.status(http.MethodGet, path+"/"+id+"/content", mine))
	require.Equal(t, 404, r.status(http.MethodGet, path+"/"+id, other))
	require.Equal(t, "in_progress", r.good(http.MethodGet, path+"/"+id, mine, "").Get("status").Str)
	done := r.good(http.MethodGet, path+"/"+id, mine, "")
	require.Equal(t, "completed", done.Get("status").Str)
	require.Equal(t, int64(100), done.Get("progress").Int())
	for variant, media := range map[string]string{"": "video/mp4", "?variant=thumbnail": "image/webp"} {
		resp, data := r.do(http.MethodGet, path+"/"+id+"/content"+variant, mine, "")
		require.Equal(t, media, resp.Header.Get("Content-Type"))
		require.Contains(t, data, "ftypmp42")
	}
	require.Equal(t, 400, r.status(http.MethodGet, path+"/"+id+"/content?variant=x", mine))
	require.Equal(t, 404, r.status(http.MethodGet, path+"/"+id+"/content", other))
	require.Equal(t, 404, r.status(http.MethodDelete, path+"/"+id, other))
	require.Len(t, r.good(http.MethodGet, path, mine, "").Get("data").Array(), 2)
	require.Empty(t, r.good(http.MethodGet, path, other, "").Get("data").Array())
	require.True(t, r.good(http.MethodDelete, path+"/"+id, mine, "").Get("deleted").Bool())
	require.Equal(t, 404, r.status(http.MethodGet, path+"/"+id, mine))

	h, body := form(part{field: "model", data: "m-fault-failjob"}, part{field: "prompt", data: "x"}, part{field: "input_reference", name: "a.png", kind: "image/png", data: "PNG"})
	h.Set("Authorization", "Bearer "+simulator.OpenAIKey)
	failing := path + "/" + r.good(http.MethodPost, path, h, body).Get("id").Str
	r.good(http.MethodGet, failing, mine, "")
	require.Equal(t, "failed", r.good(http.MethodGet, failing, mine, "").Get("status").Str)
	r.refused(path, mine, `{"model":"m","prompt":"x","seconds":8}`, 400, "Invalid type for 'seconds'")
	r.refused(path, mine, `{"model":"m","prompt":"x","size":"1x1"}`, 400, "'1x1'")
	r.refused(path, mine, `{"model":"m"}`, 400, "'prompt'")
}

func TestMusic(t *testing.T) {
	r := start(t, simulator.Options{Polls: 1})
	job := r.ask("/v1/music", `{"model":"m","prompt":"a song"}`)
	require.Equal(t, "queued", job.Get("status").Str)
	done := r.good(http.MethodGet, "/v1/music/"+job.Get("id").Str, nil, "")
	require.NotEmpty(t, done.Get("audio.0.url").Str)
	require.Equal(t, 404, r.status(http.MethodGet, "/v1/music/"+job.Get("id").Str, header("Authorization", "Bearer other")))
	r.refused("/v1/music", nil, `{"model":"m"}`, 400, "'prompt'")
}

func TestFilesAndBatches(t *testing.T) {
	r := start(t, simulator.Options{})
	const files, batches = "/as-openai/v1/files", "/as-openai/v1/batches"
	mine, other := openAIHeader(), header("Authorization", "Bearer "+simulator.OpenAIKey+"-two")
	upload := func(name, purpose, data string) (http.Header, string) {
		h, body := form(part{field: "purpose", data: purpose}, part{field: "file", name: name, kind: "application/octet-stream", data: data})
		h.Set("Authorization", "Bearer "+simulator.OpenAIKey)
		return h, body
	}
	lines := `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"first"}]}}
{"custom_id":"b","method":"POST","url":"/v1/embeddings","body":{"model":"m","input":"second"}}
`
	h, body := upload("in.jsonl", "batch", lines)
	file := r.good(http.MethodPost, files, h, body)
	require.Equal(t, int64(len(lines)), file.Get("bytes").Int())
	id := file.Get("id").Str
	require.Equal(t, id, r.good(http.MethodGet, files+"/"+id, mine, "").Get("id").Str)
	_, content := r.do(http.MethodGet, files+"/"+id+"/content", mine, "")
	require.Equal(t, lines, content)
	for _, path := range []string{"/" + id, "/" + id + "/content"} {
		require.Equal(t, 404, r.status(http.MethodGet, files+path, other))
	}
	require.Len(t, r.good(http.MethodGet, files+"?purpose=batch", mine, "").Get("data").Array(), 1)
	require.Empty(t, r.good(http.MethodGet, files+"?purpose=vision", mine, "").Get("data").Array())

	ask := `{"input_file_id":"` + id + `","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"k":"v"}}`
	r.refused(batches, other, ask, 400, "no such file")
	batch := r.good(http.MethodPost, batches, mine, ask)
	require.Equal(t, "validating", batch.Get("status").Str)
	at := batches + "/" + batch.Get("id").Str
	require.Equal(t, "in_progress", r.good(http.MethodGet, at, mine, "").Get("status").Str)
	done := r.good(http.MethodGet, at, mine, "")
	require.Equal(t, "completed", done.Get("status").Str)
	require.Equal(t, int64(2), done.Get("request_counts.completed").Int())
	_, output := r.do(http.MethodGet, files+"/"+done.Get("output_file_id").Str+"/content", mine, "")
	got := strings.Split(strings.TrimSpace(output), "\n")
	require.Len(t, got, 2)
	require.Contains(t, gjson.Get(got[0], "response.body.choices.0.message.content").Str, "first")
	require.Equal(t, "b", gjson.Get(got[1], "custom_id").Str)
	require.NotEmpty(t, gjson.Get(got[1], "response.body.data.0.embedding").Array())
	require.Equal(t, done.Raw, r.good(http.MethodGet, at, mine, "").Raw, "the output is written once")
	require.Equal(t, 409, r.status(http.MethodPost, at+"/cancel", mine))
	require.Equal(t, 404, r.status(http.MethodGet, at, other))
	second := batches + "/" + r.good(http.MethodPost, batches, mine, ask).Get("id").Str
	stopped := r.good(http.MethodPost, second+"/cancel", mine, "").Get("status").Str
	require.Contains(t, stopped, "cancel")
	require.Equal(t, stopped, r.good(http.MethodGet, second, mine, "").Get("status").Str)
	require.Len(t, r.good(http.MethodGet, batches, mine, "").Get("data").Array(), 2)

	r.refused(batches, mine, with(ask, "24h", "1h"), 400, "'1h'")
	r.refused(batches, mine, with(ask, "/v1/chat/completions", "/v1/images"), 400, "'/v1/images'")
	for _, c := range [][3]string{{"in.txt", "batch", "must be .jsonl"}, {"in.jsonl", "other", "'other'"}, {"in.jsonl", "", "'purpose'"}} {
		h, body := upload(c[0], c[1], "{}")
		resp, text := r.do(http.MethodPost, files, h, body)
		require.Equal(t, 400, resp.StatusCode)
		require.Contains(t, strings.ToLower(text), strings.ToLower(c[2]))
	}
	require.True(t, r.good(http.MethodDelete, files+"/"+id, mine, "").Get("deleted").Bool())
	require.Equal(t, 404, r.status(http.MethodGet, files+"/"+id, mine))
}
