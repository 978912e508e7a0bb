package webhook

import (
	"net/netip"
)

// closed are the ranges that are nobody's on the internet, or the network of
// whoever runs the platform (IANA's registries of special-purpose addresses),
// and what clouds put beside them.
var closed = func() []netip.Prefix {
	var list []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32", // Azure's, which answers to machines there
		// Within 2000::/3, outside of which nothing is reached.
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}()

var global6 = netip.MustParsePrefix("2000::/3")

// Reachable reports whether tenants may have the platform connect to address:
// one of the public internet, which is no private, loopback, link-local, shared,
// multicast or reserved one, nor the IPv4-mapped form of one.
func Reachable(address netip.Addr) bool {
	if !address.IsValid() || address.Zone() != "" {
		return false
	}
	address = address.Unmap()
	if address.Is6() && !global6.Contains(address) {
		return false
	}
	for _, p := range closed {
		if p.Contains(address) {
			return false
		}
	}
	return true
}
