package webhook_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// closedAddresses is one of every range that tenants must not reach, at its ends where
// they are not those of the next.
var closedAddresses = []string{
	"0.0.0.0", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.100.100.200", "100.127.255.255",
	"127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
	"192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "192.175.48.1",
	"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"168.63.129.16",
	"::", "::1", "::7f00:1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "fdff::1", "ff02::1", "ff0e::1",
	"64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:20::1", "2001:db8::1", "2002:a00:1::1", "2620:4f:8000::1", "3fff::1", "4000::1", "5f00::1",
}

func TestOnlyThePublicInternetIsReachable(t *testing.T) {
	for _, text := range closedAddresses {
		a := netip.MustParseAddr(text)
		require.False(t, webhook.Reachable(a), text)
		if a.Is4() {
			require.False(t, webhook.Reachable(netip.AddrFrom16(a.As16())), "::ffff:%s", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1"} {
		require.True(t, webhook.Reachable(netip.MustParseAddr(text)), text)
	}
	require.False(t, webhook.Reachable(netip.Addr{}))
	require.False(t, webhook.Reachable(netip.MustParseAddr("2606:4700::1111%eth0")), "a zone is of the machine")
}

// What Go itself calls private, local or multicast is never reached, whatever
// the table has.
func TestNothingLocalIsReachable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a netip.Addr
		if rapid.Bool().Draw(t, "v4") {
			a = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes")))
		} else {
			a = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes")))
		}
		if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || !a.IsGlobalUnicast() {
			require.False(t, webhook.Reachable(a))
		}
		require.Equal(t, webhook.Reachable(a), webhook.Reachable(a.Unmap()))
	})
}

func TestURLsAreChecked(t *testing.T) {
	good := []string{
		"https://example.com", "https://Example.COM/hooks?token=x", "https://example.com:443/", "https://example.com:8443/a%20b",
		"https://1.1.1.1/", "https://[2606:4700::1111]/", "https://example.com./x", "https://xn--bcher-kva.example/", "https://a_b.example.com/",
	}
	for _, text := range good {
		_, err := webhook.ParseTarget(text, false)
		require.NoError(t, err, text)
	}
	bad := []string{
		"", "example.com", "//example.com", "http://example.com", "ftp://example.com", "https:example.com", "https:///x", "javascript:alert(1)",
		"https://canary@example.com/", "https://canary:canary@example.com/", "https://example.com/#canary", "https://example.com/#",
		"https://example.com:0/", "https://example.com:22/", "https://example.com:80/", "https://example.com:1023/", "https://example.com:65536/", "https://example.com:canary/",
		"https://localhost/", "https://LOCALHOST/", "https://intern/", "https://metadata.google.internal/", "https://printer.local/", "https://db.svc.cluster.local./", "https://x.localhost/", "https://nas.home/", "https://1.168.192.in-addr.arpa/",
		"https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/", "https://0x7f.0.0.1/", "https://10.0.0.1.0x1/",
		"https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[fe80::1%25eth0]/",
		"https://exa mple.com/", "https://example.com/\tx", "https://example.com\\@127.0.0.1/", "https://bücher.example/", "https://example..com/", "https://-/", "https://.example.com/",
		"https://" + strings.Repeat("a", 64) + ".example.com/", "https://example.com/" + strings.Repeat("x", webhook.MaxURL),
	}
	for _, text := range closedAddresses {
		host := text
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		bad = append(bad, "https://"+host+"/", "https://"+host+":8443/x")
	}
	for _, text := range bad {
		_, err := webhook.ParseTarget(text, false)
		require.True(t, fault.Is(err, fault.ValidationError), text)
		v := fault.Of(err).Violations
		require.Len(t, v, 1, text)
		require.Equal(t, "url", v[0].Path)
		require.NotContains(t, v[0].Message+err.Error(), "canary")
	}
	for _, text := range []string{"http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/", "https://10.0.0.1/"} {
		_, err := webhook.ParseTarget(text, true)
		require.NoError(t, err, text)
	}
	for _, text := range []string{"http://example.com/", "http://10.0.0.1/", "https://canary@10.0.0.1/"} {
		_, err := webhook.ParseTarget(text, true)
		require.Error(t, err, text)
	}
}

func TestOriginHidesTheRest(t *testing.T) {
	require.Equal(t, "https://example.com", webhook.Origin("https://Example.com/canary?canary=1"))
	require.Equal(t, "https://[2606:4700::1111]:8443", webhook.Origin("https://[2606:4700::1111]:8443/canary"))
	require.Empty(t, webhook.Origin(""))
	require.Equal(t, "example.com", webhook.HostOf("https://Example.com:8443/x"))
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"https://example.com/x?y=z", "https://[::1]/", "http://localhost:1/", "https://a@b/", "https://0x7f.1/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := webhook.ParseTarget(text, false)
		if err != nil {
			return
		}
		require.Equal(t, "https", target.URL.Scheme)
		require.Nil(t, target.URL.User)
		require.NotEmpty(t, target.Host)
		if a, ok := target.Addr(); ok {
			require.True(t, webhook.Reachable(a))
		}
	})
}
