package harness

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// ChangeKeyring changes the keyring's file while everything runs, and waits
// until every process has taken it.
func (p *Platform) ChangeKeyring(change func(*seal.Keyring) (*seal.Keyring, error)) *seal.Keyring {
	p.t.Helper()
	ring := p.Keyring()
	ring, err := change(ring)
	require.NoError(p.t, err)
	require.NoError(p.t, ring.WriteFile(p.parts.keyring))
	p.parts.control.reload <- syscall.SIGHUP
	for _, g := range p.parts.gateways {
		g.reload <- syscall.SIGHUP
	}
	for _, url := range append([]string{p.Control}, p.Gateways...) {
		p.Eventually(func() bool { return p.holds(url, ring) }, "%s did not take the keyring", url)
	}
	return ring
}

// Keyring is what the keyring's file has.
func (p *Platform) Keyring() *seal.Keyring {
	p.t.Helper()
	ring, err := seal.LoadFile(p.parts.keyring)
	require.NoError(p.t, err)
	return ring
}

// holds goes by what a process says of its keyring in its metrics.
func (p *Platform) holds(url string, ring *seal.Keyring) bool {
	page, err := p.metrics(url)
	if err != nil {
		return false
	}
	for _, key := range ring.IDs() {
		role := "opens"
		if key == ring.PrimaryID() {
			role = "seals"
		}
		if !strings.Contains(page, fmt.Sprintf("signalbox_keyring_keys{key_id=\"%d\",role=\"%s\"} 1\n", key, role)) {
			return false
		}
	}
	return strings.Count(page, "\nsignalbox_keyring_keys{") == ring.Keys()
}

// Metrics are what a process says of itself.
func (p *Platform) Metrics(url string) string {
	p.t.Helper()
	page, err := p.metrics(url)
	require.NoError(p.t, err)
	return page
}

func (p *Platform) metrics(url string) (string, error) {
	answer, err := p.Do(p.t.Context(), client.Call{Method: http.MethodGet, URL: url + "/metrics"})
	return string(answer.Body), err
}

// Dir is where NATS and the gateways keep what they have.
func (p *Platform) Dir() string { return p.parts.dir }

// DatabaseURL connects to what the platform stores.
func (p *Platform) DatabaseURL() string { return p.parts.database }
