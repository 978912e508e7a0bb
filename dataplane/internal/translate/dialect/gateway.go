package dialect

import (
	"slices"
	"strings"
)

// GatewayOnly are the members of a request's body that the gateway reads and no
// upstream sees, in whatever format the body is.
var GatewayOnly = []string{"models", "provider", "routing", "session_id", "preset"}

// ProviderOptions is the member that holds what is for one provider alone, by
// its slug: only its own goes on to an upstream of the same format.
const ProviderOptions = "provider_options"

// IsGatewayOnly reports a member that says nothing in another format.
func IsGatewayOnly(name string) bool {
	return name == ProviderOptions || slices.Contains(GatewayOnly, name)
}

// MostTokens is what one request can have used, by far: a provider that counts
// more is mistaken, and an account of it would be too.
const MostTokens = 100_000_000

// Take moves at most n from what is left.
func Take(left *int64, n int64) int64 {
	n = min(n, *left)
	*left -= n
	return n
}

// maxServed is how much of a model's name is kept, in bytes: what a provider
// calls its model goes into the account of every request.
const maxServed = 256

// Served is a model's name as it is kept.
func Served(name string) string {
	if len(name) <= maxServed {
		return name
	}
	return strings.ToValidUTF8(name[:maxServed], "")
}
