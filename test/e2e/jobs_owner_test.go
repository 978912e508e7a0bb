//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// about are all calls about one thing, but for those that end it.
func about(id string) map[string][]string {
	return map[string][]string{
		"videos": {"/v1/videos/" + id, "/v1/videos/" + id + "/content"}, "music": {"/v1/music/" + id},
		"batches": {"/v1/batches/" + id}, "files": {"/v1/files/" + id, "/v1/files/" + id + "/content"},
	}
}

func TestJobsBelongToTheirWorkspace(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true, Gateways: 2})
	key := p.Key()
	sdk := openAIOver(connect(p, key.Secret))
	file := newBatchFile(t, sdk)
	song, err := p.Post(t.Context(), 0, key.Secret, "/v1/music", []byte(`{"model":"`+sim("song")+`","prompt":"A slow train"}`))
	require.NoError(t, err)
	made := map[string]string{
		"files": file.ID, "videos": newVideo(t, sdk).ID, "batches": newBatch(t, sdk, file.ID).ID, "music": song.Get("id").Str,
	}
	other, err := p.CreateWorkspace(t.Context(), "globex")
	require.NoError(t, err)
	foreign, _, err := other.CreateKey(t.Context(), client.NewKey{Name: "foreign"}, within)
	require.NoError(t, err)
	call := func(t *testing.T, gateway int, method, path, secret string) client.Answer {
		t.Helper()
		answer, err := p.Do(t.Context(), client.Call{Method: method, URL: p.Gateways[gateway] + path, Bearer: secret})
		require.NoError(t, err)
		return answer
	}
	missing := func(t *testing.T, method, path, secret string) {
		t.Helper()
		before := p.North.Stats().Total
		for gateway := range p.Gateways {
			answer := call(t, gateway, method, path, secret)
			require.Equal(t, http.StatusNotFound, answer.Status, "%s %s: %s", method, path, answer.Body)
			require.Equal(t, "not_found", answer.Get("error.code").Str)
		}
		require.Equal(t, before, p.North.Stats().Total, "no provider is asked")
	}

	t.Run("another workspace does not find them", func(t *testing.T) {
		for surface, id := range made {
			for _, path := range about(id)[surface] {
				missing(t, http.MethodGet, path, foreign.Secret)
			}
		}
		missing(t, http.MethodDelete, "/v1/videos/"+made["videos"], foreign.Secret)
		missing(t, http.MethodDelete, "/v1/files/"+made["files"], foreign.Secret)
		missing(t, http.MethodPost, "/v1/batches/"+made["batches"]+"/cancel", foreign.Secret)
		for _, surface := range []string{"files", "batches"} {
			require.Empty(t, call(t, 0, http.MethodGet, "/v1/"+surface, foreign.Secret).Get("data").Array())
			require.Len(t, call(t, 1, http.MethodGet, "/v1/"+surface, key.Secret).Get("data").Array(), 1)
		}
		answer, err := p.Post(t.Context(), 0, foreign.Secret, "/v1/batches",
			[]byte(`{"input_file_id":"`+file.ID+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`))
		require.NoError(t, err)
		require.Equal(t, http.StatusNotFound, answer.Status, "nor can it use them: %s", answer.Body)
	})
	t.Run("another surface does not find them", func(t *testing.T) {
		for own, id := range made {
			for surface, paths := range about(id) {
				if surface != own {
					missing(t, http.MethodGet, paths[0], key.Secret)
				}
			}
		}
	})
	t.Run("every gateway finds them, and after a restart too", func(t *testing.T) {
		found := func(t *testing.T) {
			t.Helper()
			for gateway := range p.Gateways {
				for surface, id := range made {
					answer := call(t, gateway, http.MethodGet, about(id)[surface][0], key.Secret)
					require.Equal(t, http.StatusOK, answer.Status, "%s: %s", surface, answer.Body)
					require.Equal(t, id, answer.Get("id").Str, "it has one name for good")
				}
			}
		}
		p := p.On(t)
		found(t)
		for gateway := range p.Gateways {
			p.StopGateway(gateway)
			p.StartGateway(gateway)
		}
		found(t)
		require.Len(t, call(t, 1, http.MethodGet, "/v1/batches", key.Secret).Get("data").Array(), 1)
	})
}
