// Package loopback finds addresses for servers that must come back where they
// were. It knows nothing of what listens there.
package loopback

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Free finds a loopback address that nothing listens on, below the range from
// which outgoing connections take theirs: a server that comes back must find
// its port free, and a client that dials while it is away must not meet itself
// there.
func Free(ctx context.Context) (string, error) {
	const lowest, count, tries = 15000, 15000, 100
	var failed error
	for range tries {
		addr := "127.0.0.1:" + strconv.Itoa(lowest+rand.IntN(count))
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
		if err == nil {
			return addr, ln.Close()
		}
		failed = err
	}
	return "", fmt.Errorf("find a free port: %w", failed)
}
