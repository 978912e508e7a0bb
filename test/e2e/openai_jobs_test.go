//go:build e2e

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// contentOf reads a download to its end.
func contentOf(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(body)
}

// batchFile are lines as callers write them: with the model's id here.
func batchFile(model string) io.Reader {
	var b strings.Builder
	for i := range 3 {
		fmt.Fprintf(&b, `{"custom_id":"line-%d","method":"POST","url":"/v1/chat/completions","body":{"model":%q,"seed":12345678901234567890,"messages":[{"role":"user","content":"Number %d"}]}}`+"\n", i, model, i)
	}
	return openai.File(strings.NewReader(b.String()), "lines.jsonl", "application/jsonl")
}

func newBatchFile(t *testing.T, sdk openai.Client) *openai.FileObject {
	t.Helper()
	file, err := sdk.Files.New(t.Context(), openai.FileNewParams{File: batchFile(sim("instruct")), Purpose: openai.FilePurposeBatch})
	require.NoError(t, err)
	return file
}

func newBatch(t *testing.T, sdk openai.Client, file string) *openai.Batch {
	t.Helper()
	batch, err := sdk.Batches.New(t.Context(), openai.BatchNewParams{
		InputFileID: file, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: openai.BatchNewParamsCompletionWindow24h,
	})
	require.NoError(t, err)
	return batch
}

func TestOpenAIJobs(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true})
	c := connect(p, p.Key().Secret)
	sdk := openAIOver(c)
	t.Run("videos", func(t *testing.T) { videos(t, p.On(t), c, sdk) })
	t.Run("files", func(t *testing.T) { files(t, p.On(t), c, sdk) })
	t.Run("batches", func(t *testing.T) { batches(t, p.On(t), c, sdk) })
	t.Run("music", func(t *testing.T) { music(t, p.On(t), c) })
}

func files(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	const text = "some notes\n"
	made, err := sdk.Files.New(t.Context(), openai.FileNewParams{
		File: openai.File(strings.NewReader(text), "notes.txt", "text/plain"), Purpose: openai.FilePurposeUserData,
	})
	require.Error(t, err, "nothing says where it should go")
	require.Equal(t, "no_default_model", openAIFailed(t, err).code)
	require.Empty(t, made)

	params := openai.FileNewParams{File: openai.File(strings.NewReader(text), "notes.txt", "text/plain"), Purpose: openai.FilePurposeUserData}
	params.SetExtraFields(map[string]any{"model": sim("gpt")})
	made, err = sdk.Files.New(t.Context(), params)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(made.ID, "file-"), made.ID)
	require.Equal(t, "notes.txt", made.Filename)
	require.EqualValues(t, len(text), made.Bytes)
	accounted(t, p, c, "files", false, false)

	got, err := sdk.Files.Get(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, made.ID, got.ID)
	resp, err := sdk.Files.Content(t.Context(), made.ID)
	require.Equal(t, text, contentOf(t, resp, err))

	other := newBatchFile(t, sdk)
	pages := sdk.Files.ListAutoPaging(t.Context(), openai.FileListParams{Limit: param.NewOpt[int64](1)})
	var listed []string
	for pages.Next() {
		listed = append(listed, pages.Current().ID)
	}
	require.NoError(t, pages.Err())
	require.Equal(t, []string{other.ID, made.ID}, listed, "the newest first, page by page")

	gone, err := sdk.Files.Delete(t.Context(), made.ID)
	require.NoError(t, err)
	require.True(t, gone.Deleted)
	_, err = sdk.Files.Get(t.Context(), made.ID)
	require.Equal(t, http.StatusNotFound, openAIFailed(t, err).status)
	page, err := sdk.Files.List(t.Context(), openai.FileListParams{})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
}

func batches(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	file := newBatchFile(t, sdk)
	seen := p.North.Requests()
	sent := string(seen[len(seen)-1].Body)
	require.NotContains(t, sent, sim("instruct"), "the provider's own name is in each line")
	require.Equal(t, 3, strings.Count(sent, `"model":"instruct"`), sent)
	require.Equal(t, 3, strings.Count(sent, "12345678901234567890"))

	made := newBatch(t, sdk, file.ID)
	require.True(t, strings.HasPrefix(made.ID, "batch_"), made.ID)
	require.Equal(t, file.ID, made.InputFileID)
	require.Equal(t, "batches", p.Logged(c.witness.last()).Get("surface").Str)
	var now *openai.Batch
	var err error
	for range 3 {
		now, err = sdk.Batches.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, made.ID, now.ID)
		require.Equal(t, file.ID, now.InputFileID)
		accounted(t, p, c, "batches", false, false)
	}
	require.Equal(t, openai.BatchStatusCompleted, now.Status)
	require.EqualValues(t, 3, now.RequestCounts.Total)
	require.True(t, strings.HasPrefix(now.OutputFileID, "file-"), now.OutputFileID)

	resp, err := sdk.Files.Content(t.Context(), now.OutputFileID)
	lines := strings.Split(strings.TrimSpace(contentOf(t, resp, err)), "\n")
	require.Len(t, lines, 3)
	for i, line := range lines {
		require.Equal(t, fmt.Sprintf("line-%d", i), gjson.Get(line, "custom_id").Str)
		require.Equal(t, "instruct", gjson.Get(line, "response.body.model").Str, "a file is as the provider wrote it")
		require.Contains(t, gjson.Get(line, "response.body.choices.0.message.content").Str, fmt.Sprintf("Number %d", i))
	}

	second := newBatch(t, sdk, file.ID)
	canceled, err := sdk.Batches.Cancel(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, openai.BatchStatusCancelled, canceled.Status)
	_, err = sdk.Batches.Cancel(t.Context(), made.ID)
	require.Equal(t, http.StatusConflict, openAIFailed(t, err).status)

	page, err := sdk.Batches.List(t.Context(), openai.BatchListParams{})
	require.NoError(t, err)
	require.Len(t, page.Data, 2)
	require.Equal(t, second.ID, page.Data[0].ID)

	_, err = sdk.Batches.New(t.Context(), openai.BatchNewParams{
		InputFileID: "file-nobody", Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: openai.BatchNewParamsCompletionWindow24h,
	})
	require.Equal(t, http.StatusNotFound, openAIFailed(t, err).status)
}

func music(t *testing.T, p *harness.Platform, c connection) {
	made, err := p.Post(t.Context(), 0, c.key, "/v1/music", []byte(`{"model":"`+sim("song")+`","prompt":"A slow train"}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, made.Status, "%s", made.Body)
	id := made.Get("id").Str
	require.True(t, strings.HasPrefix(id, "music_"), id)
	require.Equal(t, sim("song"), made.Get("model").Str)
	var now client.Answer
	for range 3 {
		now, err = p.Do(t.Context(), client.Call{Method: http.MethodGet, URL: c.url + "/v1/music/" + id, Bearer: c.key})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, now.Status, "%s", now.Body)
		require.Equal(t, id, now.Get("id").Str)
	}
	require.Equal(t, "completed", now.Get("status").Str)
	require.NotEmpty(t, now.Get("audio.0.url").Str)
	entry := p.Logged(now.Header)
	require.Equal(t, "music", entry.Get("surface").Str)
	require.Zero(t, entry.Get("cost_nanos").Int())
}
