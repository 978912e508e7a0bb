package httpserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/testkit/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves routes and returns the base URL and a function that ends it.
func start(t *testing.T, change func(*httpserver.Config), routes func(*gin.Engine)) (url string, stop func() error, log *transcript.Buffer) {
	t.Helper()
	log = &transcript.Buffer{}
	logger, err := logging.New(log, logging.Default())
	require.NoError(t, err)
	config := httpserver.Default()
	if change != nil {
		change(&config)
	}
	engine := httpserver.NewEngine(httpserver.Options{
		Log:          logger,
		NewRequestID: func() string { return "req_test" },
		OnPanic:      func(c *gin.Context) { c.String(http.StatusInternalServerError, "sorry "+httpserver.RequestID(c)) },
	})
	routes(engine)
	listener, err := httpserver.Listen(t.Context(), "127.0.0.1:0", "listen")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- httpserver.Serve(ctx, listener, config, engine, logger) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		_ = stop()
		http.DefaultClient.CloseIdleConnections()
	})
	return "http://" + listener.Addr().String(), stop, log
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func TestPanicIsAnsweredAndLoggedWithItsStack(t *testing.T) {
	url, _, log := start(t, nil, func(e *gin.Engine) {
		e.GET("/panic", func(*gin.Context) { panic("broken on purpose") })
	})
	response, body := get(t, url+"/panic")
	require.Equal(t, http.StatusInternalServerError, response.StatusCode)
	require.Equal(t, "sorry req_test", body)
	require.Equal(t, "req_test", response.Header.Get(httpserver.RequestIDHeader))
	require.Contains(t, log.String(), "broken on purpose")
	require.Contains(t, log.String(), "httpserver_test.go")
	require.Contains(t, log.String(), `"request_id":"req_test"`)
}

func TestPanicAfterTheHeadCutsTheConnection(t *testing.T) {
	url, _, _ := start(t, nil, func(e *gin.Engine) {
		e.GET("/half", func(c *gin.Context) {
			c.Writer.WriteHeader(http.StatusOK)
			_, _ = c.Writer.WriteString("half")
			c.Writer.Flush()
			panic("too late")
		})
	})
	response, err := http.Get(url + "/half")
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestOccupiedPortNamesAddressAndKey(t *testing.T) {
	first, err := httpserver.Listen(t.Context(), "127.0.0.1:0", "x")
	require.NoError(t, err)
	defer first.Close()
	_, err = httpserver.Listen(t.Context(), first.Addr().String(), "http.listen")
	require.ErrorContains(t, err, first.Addr().String())
	require.ErrorContains(t, err, "in use")
	require.ErrorContains(t, err, "http.listen")
}

func TestRequestsInFlightFinishBeforeTheEnd(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	url, stop, _ := start(t, nil, func(e *gin.Engine) {
		e.GET("/slow", func(c *gin.Context) {
			close(entered)
			<-release
			c.String(http.StatusOK, "whole")
		})
	})
	answer := make(chan string, 1)
	go func() {
		response, err := http.Get(url + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-entered
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, 5*time.Second, 5*time.Millisecond, "it still accepts")
	close(release)
	require.Equal(t, "whole", <-answer)
	require.NoError(t, <-ended)
}

func TestSlowHeadIsCut(t *testing.T) {
	url, _, _ := start(t, func(c *httpserver.Config) { c.HeaderTimeout = 50 * time.Millisecond }, func(*gin.Engine) {})
	connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer connection.Close()
	_, err = connection.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n"))
	require.NoError(t, err)
	require.NoError(t, connection.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = io.ReadAll(connection)
	var timeout net.Error
	require.False(t, errors.As(err, &timeout) && timeout.Timeout(), "the server kept waiting")
}

func TestBodyLimits(t *testing.T) {
	read := make(chan error, 1)
	url, _, _ := start(t, nil, func(e *gin.Engine) {
		e.POST("/", func(c *gin.Context) {
			httpserver.LimitBody(c.Writer, c.Request, 8, 100*time.Millisecond)
			_, err := io.ReadAll(c.Request.Body)
			read <- err
			c.Status(http.StatusNoContent)
		})
	})
	post := func(body io.Reader) {
		response, err := http.Post(url+"/", "text/plain", body)
		if err == nil {
			response.Body.Close()
		}
	}
	post(strings.NewReader("12345678"))
	require.NoError(t, <-read)

	post(strings.NewReader("123456789"))
	var tooLarge *http.MaxBytesError
	require.ErrorAs(t, <-read, &tooLarge)

	pending, writer := io.Pipe()
	defer writer.Close()
	go post(pending)
	var timeout net.Error
	require.ErrorAs(t, <-read, &timeout)
	require.True(t, timeout.Timeout())
}
