package natstest

import "go.uber.org/goleak"

// Leaks lets goleak pass over what the embedded server itself leaves behind
// when it is stopped while a stream is being made. Everything of ours, and the
// client's goroutines, is still checked.
func Leaks() []goleak.Option {
	const server = "github.com/nats-io/nats-server/v2/server."
	return []goleak.Option{
		goleak.IgnoreAnyFunction(server + "(*fileStore).flushStreamStateLoop"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"),
	}
}
