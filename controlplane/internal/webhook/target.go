package webhook

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
)

// Target is where a webhook's deliveries go, taken apart.
type Target struct {
	URL  *url.URL
	Host string // lower case, without port and brackets
	Port string
}

// Addr is the address when the host is one.
func (t Target) Addr() (netip.Addr, bool) {
	addr, err := netip.ParseAddr(t.Host)
	return addr, err == nil
}

// ParseTarget checks the form of a URL: https to a host of the internet, on a
// port that serves HTTP, without user and fragment. With open, which is for
// development and tests, any address may be named, and http on the own machine.
// The violations never repeat the URL.
func ParseTarget(text string, open bool) (Target, error) {
	var v rule.Violations
	t, code, message := parseTarget(text, open)
	if code != "" {
		v.Add("url", code, message)
	}
	return t, v.Err()
}

func parseTarget(text string, open bool) (t Target, code, message string) {
	if len(text) > MaxURL {
		return t, rule.TooLong, "must have at most " + strconv.Itoa(MaxURL) + " bytes"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return t, rule.Malformed, "must be printable ASCII without spaces and backslashes: write other hosts in punycode and escape the rest"
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return t, rule.Malformed, "must be a URL such as https://example.com/hooks"
	}
	t = Target{URL: u, Host: strings.ToLower(u.Hostname()), Port: u.Port()}
	switch {
	case u.User != nil:
		return t, rule.NotAllowed, "must not have a user or password"
	case u.Fragment != "" || strings.Contains(text, "#"):
		return t, rule.NotAllowed, "must not have a fragment"
	case u.Scheme == "http" && open && own(t):
	case u.Scheme != "https":
		return t, rule.NotAllowed, "must begin with https://"
	}
	if t.Port == "" {
		t.Port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if port, err := strconv.ParseUint(t.Port, 10, 16); err != nil || port < 1024 && port != 443 && !open {
		return t, rule.NotAllowed, "must have the port 443 or one from 1024 on"
	}
	if !open && !public(t) {
		return t, rule.NotAllowed, unreachable
	}
	return t, "", ""
}

const unreachable = "must be a host of the public internet, whose addresses are no private, local or reserved ones"

// own reports whether the host is the machine's own by its name.
func own(t Target) bool {
	addr, ok := t.Addr()
	return t.Host == "localhost" || ok && addr.Unmap().IsLoopback()
}

// public reports whether the host may be of the internet, by its form. What it
// resolves to is looked at besides.
func public(t Target) bool {
	if addr, ok := t.Addr(); ok {
		return Reachable(addr)
	}
	name := strings.TrimSuffix(t.Host, ".")
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	switch {
	case len(name) > 253, len(labels) < 2:
		return false
	case last == "" || last[0] >= '0' && last[0] <= '9': // a spelling of an address
		return false
	}
	for _, suffix := range []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain", "arpa", "onion", "invalid", "test"} {
		if last == suffix {
			return false
		}
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// Origin is scheme, host and port, which is what may be shown where the URL may
// not.
func Origin(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" {
		return u.Scheme + "://" + net.JoinHostPort(host, port)
	}
	return u.Scheme + "://" + host
}

// HostOf is the host of a URL that was checked, without its port.
func HostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
