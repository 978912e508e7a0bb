package courier

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// names is a resolver that answers as it is told, one answer after the other.
type names struct {
	mu      sync.Mutex
	answers [][]string
	asked   int
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if len(n.answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	answer := n.answers[0]
	if len(n.answers) > 1 {
		n.answers = n.answers[1:]
	}
	var list []netip.Addr
	for _, text := range answer {
		list = append(list, netip.MustParseAddr(text))
	}
	return list, nil
}

func client(o ClientOptions) *Client {
	o.Now, o.Agent = clock, "Signalbox/test"
	if o.Resolver == nil {
		o.Resolver = &names{}
	}
	return NewClient(o)
}

func shipment(url string) webhook.Shipment {
	return webhook.Shipment{
		URL: url, Event: id.MustParse[id.EventKind]("event_0000000000e008ztk5wvz3r2m1"), Type: webhook.BudgetAlert,
		Body: []byte(`{"a":1}`), Secrets: []secret.String{secret.NewString("one"), secret.NewString("two")},
	}
}

func TestADeliveryIsSigned(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	s := shipment(server.URL + "/hook?token=x")
	a := client(ClientOptions{Open: true}).Send(t.Context(), s)
	require.Empty(t, a.Trouble)
	require.Equal(t, http.StatusAccepted, a.Status)
	require.Equal(t, noon, a.At)
	require.Equal(t, "/hook?token=x", got.RequestURI)
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, s.Body, body)
	require.Equal(t, webhook.Sign(s.Body, noon, s.Secrets...), got.Header.Get("Signalbox-Signature"))
	require.Equal(t, "event_0000000000e008ztk5wvz3r2m1", got.Header.Get("Signalbox-Event-Id"))
	require.Equal(t, "budget.alert", got.Header.Get("Signalbox-Event-Type"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
}

// Nothing is connected to that is not of the public internet, by whatever way it
// was named. The server stands where an inner service would.
func TestInnerAddressesAreNotReached(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for name, addresses := range map[string][]string{
		"loopback": {"127.0.0.1"}, "loopback, mapped": {"::ffff:127.0.0.1"}, "of two, the second": {"93.184.216.34", "127.0.0.1"},
		"metadata": {"169.254.169.254"}, "private": {"10.0.0.1"}, "unique local": {"fd00::1"}, "unspecified": {"0.0.0.0"}, "shared": {"100.64.0.1"},
		"IPv6 loopback": {"::1"}, "translated": {"64:ff9b::7f00:1"},
	} {
		c := client(ClientOptions{Roots: roots, Resolver: &names{answers: [][]string{addresses}}})
		require.Equal(t, webhook.Forbidden, c.Send(t.Context(), shipment("https://hooks.example.com:"+port+"/")).Trouble, name)
	}
	for _, literal := range []string{"https://127.0.0.1:" + port, "https://[::ffff:127.0.0.1]:" + port, "http://127.0.0.1:" + port, "https://localhost:" + port} {
		require.Equal(t, webhook.Forbidden, client(ClientOptions{Roots: roots}).Send(t.Context(), shipment(literal)).Trouble, literal)
	}
}

// A name that is of the internet when it is looked at, and of the machine when it
// is connected to, is refused by the very address.
func TestANameThatChangesIsRefused(t *testing.T) {
	changing := &names{answers: [][]string{{"93.184.216.34"}, {"127.0.0.1"}}}
	list, err := changing.LookupNetIP(t.Context(), "ip", "hooks.example.com")
	require.NoError(t, err)
	require.True(t, webhook.Reachable(list[0]), "so it was admitted")
	c := client(ClientOptions{Resolver: changing})
	require.Equal(t, webhook.Forbidden, c.Send(t.Context(), shipment("https://hooks.example.com/")).Trouble)
	require.Equal(t, 2, changing.asked)

	// Below the look-up the socket itself is looked at.
	for _, address := range []string{"127.0.0.1:1", "[::1]:1", "[::ffff:10.0.0.1]:1", "169.254.169.254:80", "not an address"} {
		require.ErrorIs(t, c.control(t.Context(), "tcp", address, nil), errForbidden, address)
	}
	require.NoError(t, c.control(t.Context(), "tcp", "93.184.216.34:443", nil))
	_, err = c.dialer.DialContext(t.Context(), "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, errForbidden)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer inner.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		outer := httptest.NewServer(http.RedirectHandler(inner.URL, status))
		a := client(ClientOptions{Open: true}).Send(t.Context(), shipment(outer.URL))
		require.Equal(t, webhook.BadStatus, a.Trouble)
		require.Equal(t, status, a.Status)
		outer.Close()
	}
}

func TestNoProxyIsTakenFromTheEnvironment(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was used") }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	c := client(ClientOptions{Resolver: &names{answers: [][]string{{"127.0.0.1"}}}})
	require.Nil(t, c.transport.Proxy)
	require.Equal(t, webhook.Forbidden, c.Send(t.Context(), shipment("https://hooks.example.com/")).Trouble)
}

func TestTroublesAreTold(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	secure.Config.ErrorLog = nil
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	defer cut.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	defer plain.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	u, err := url.Parse(plain.URL)
	require.NoError(t, err)
	for where, want := range map[string]webhook.Trouble{
		secure.URL: webhook.NoTLS, "https://" + u.Host: webhook.NoTLS, cut.URL: webhook.Broken, plain.URL: webhook.BadStatus,
		"http://" + gone.Addr().String(): webhook.NoConnect, "https://nowhere.example/": webhook.Unresolved,
	} {
		require.Equal(t, want, client(ClientOptions{Open: true}).Send(t.Context(), shipment(where)).Trouble, where)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	require.Equal(t, webhook.TimedOut, client(ClientOptions{Open: true}).Send(ctx, shipment(plain.URL)).Trouble)
	require.Equal(t, webhook.Broken, troubleOf(0, errors.New("anything")))
	require.Equal(t, webhook.TimedOut, troubleOf(0, fmt.Errorf("dial: %w", context.DeadlineExceeded)))
}

// A receiver that answers without end is read for a moment and left.
func TestAnEndlessAnswerIsLeft(t *testing.T) {
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(left)
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	require.Empty(t, client(ClientOptions{Open: true}).Send(t.Context(), shipment(server.URL)).Trouble)
	<-left
}

// A receiver that answers with another protocol, and then with nothing, does not
// keep the attempt from ending.
func TestASwitchOfProtocolsEndsWithTheAttempt(t *testing.T) {
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(left)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: silence\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.NotEmpty(t, client(ClientOptions{Open: true}).Send(ctx, shipment(server.URL)).Trouble)
	<-left
}

// A name with many addresses that do not answer keeps nobody connecting to them
// when the attempt is over.
func TestConnectingEndsWithTheAttempt(t *testing.T) {
	c := client(ClientOptions{Open: true, Resolver: &names{answers: [][]string{{"127.0.0.1", "127.0.0.2"}}}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	c.dialer.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		cancel()
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}
	require.NotEmpty(t, c.Send(ctx, shipment("https://hooks.example.com/")).Trouble)
	require.ErrorIs(t, <-ended, context.Canceled, "and not when connecting takes too long")
}
