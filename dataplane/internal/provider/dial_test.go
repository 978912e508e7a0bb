package provider_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

func upgrade(url string) upstream.Request {
	r := request(url)
	r.Method, r.Path, r.Query, r.Upgrade, r.Body = http.MethodGet, "/realtime", "model=small-v1", true, upstream.Body{}
	r.Header = http.Header{"Cookie": {"c=1"}, "X-Api-Key": {"the caller's"}, "Openai-Beta": {"realtime=v1"}}
	return r
}

func TestAConversationIsOpened(t *testing.T) {
	heads := make(chan *http.Request, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heads <- r
		conversation, err := socket.Accept(w, r, "realtime", 1000)
		if err != nil {
			return
		}
		frame, _ := conversation.Receive(context.Background())
		_ = conversation.Send(context.Background(), frame) // the test reads it or fails
		conversation.End(call.Complete)
	}))
	defer s.Close()
	response, failure := newClient(t, provider.Options{}).Call(t.Context(), upgrade(s.URL+"/v1"))
	require.Nil(t, failure)
	require.Equal(t, http.StatusSwitchingProtocols, response.Status)
	require.NoError(t, response.Frames.Send(t.Context(), call.Frame{Text: true, Data: []byte("hello")}))
	frame, err := response.Frames.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, "hello", string(frame.Data))
	response.Frames.End(call.Complete)

	head := <-heads
	require.Equal(t, "/v1/realtime?model=small-v1", head.URL.RequestURI())
	require.Equal(t, "Bearer key-1", head.Header.Get("Authorization"))
	require.Equal(t, "realtime=v1", head.Header.Get("Openai-Beta"))
	require.Empty(t, head.Header.Values("Cookie"))
	require.Empty(t, head.Header.Values("X-Api-Key"))
}

func TestAConversationThatIsNotOpened(t *testing.T) {
	for status, class := range map[int]upstream.Class{
		http.StatusUnauthorized: upstream.CredentialRejected, http.StatusTooManyRequests: upstream.RateLimited,
		http.StatusOK: upstream.BadHead, http.StatusBadGateway: upstream.ServerError, http.StatusFound: upstream.Redirected,
		http.StatusBadRequest: upstream.Rejected,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", status)
		}))
		_, failure := newClient(t, provider.Options{}).Call(t.Context(), upgrade(s.URL))
		require.NotNil(t, failure, status)
		require.Equal(t, class, failure.Class, status)
		require.Equal(t, status, failure.Status)
		s.Close()
		_, failure = newClient(t, provider.Options{}).Call(t.Context(), upgrade(s.URL))
		require.Equal(t, upstream.ConnectFailed, failure.Class)
	}
}
