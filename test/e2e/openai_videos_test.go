//go:build e2e

//nolint:staticcheck // OpenAI has ended its own videos; the clients still speak for others'
package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
)

func newVideo(t *testing.T, sdk openai.Client) *openai.Video {
	t.Helper()
	video, err := sdk.Videos.New(t.Context(), openai.VideoNewParams{
		Model: openai.VideoModel(sim("video")), Prompt: "A train passes", Seconds: openai.VideoSeconds4,
		InputReference: openai.VideoNewParamsInputReferenceUnion{OfFile: picture(t)},
	})
	require.NoError(t, err)
	return video
}

// newVideoDone makes a video and waits for it.
func newVideoDone(t *testing.T, sdk openai.Client) string {
	t.Helper()
	made := newVideo(t, sdk)
	done, err := sdk.Videos.PollStatus(t.Context(), made.ID, 1)
	require.NoError(t, err)
	require.Equal(t, openai.VideoStatusCompleted, done.Status)
	return made.ID
}

func videos(t *testing.T, p *harness.Platform, c connection, sdk openai.Client) {
	made := newVideo(t, sdk)
	require.True(t, strings.HasPrefix(made.ID, "video_"), made.ID)
	require.Equal(t, sim("video"), string(made.Model))
	require.Equal(t, openai.VideoStatusQueued, made.Status)
	submitted := p.Logged(c.witness.last())
	require.Equal(t, "videos", submitted.Get("surface").Str)

	_, err := sdk.Videos.DownloadContent(t.Context(), made.ID, openai.VideoDownloadContentParams{})
	require.Equal(t, http.StatusConflict, openAIFailed(t, err).status, "the provider says that it is too early")

	var now *openai.Video
	for range 3 {
		now, err = sdk.Videos.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, made.ID, now.ID)
		require.Equal(t, sim("video"), string(now.Model))
		accounted(t, p, c, "videos", false, false)
	}
	require.Equal(t, openai.VideoStatusCompleted, now.Status)

	resp, err := sdk.Videos.DownloadContent(t.Context(), made.ID, openai.VideoDownloadContentParams{Variant: openai.VideoDownloadContentParamsVariantThumbnail})
	require.Contains(t, contentOf(t, resp, err), "thumbnail of")
	require.Equal(t, "image/webp", resp.Header.Get("Content-Type"))
	resp, err = sdk.Videos.DownloadContent(t.Context(), made.ID, openai.VideoDownloadContentParams{})
	require.Contains(t, contentOf(t, resp, err), "ftypmp42")
	require.Contains(t, resp.Header.Get("Content-Disposition"), "attachment")

	gone, err := sdk.Videos.Delete(t.Context(), made.ID)
	require.NoError(t, err)
	require.True(t, gone.Deleted)
	require.Equal(t, made.ID, gone.ID)
	_, err = sdk.Videos.Get(t.Context(), made.ID)
	require.Equal(t, http.StatusNotFound, openAIFailed(t, err).status)
}
