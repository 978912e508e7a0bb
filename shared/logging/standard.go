package logging

import (
	"bytes"
	"log"
	"log/slog"
)

// TakeStandard sends what libraries write to the standard logger to l. It is
// for the main of a process, the only place that may set a global. net/http
// quotes there what a server sent unasked, which may be an answer to somebody:
// from "starting with" on, a line is left out.
func TakeStandard(l *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(standard{l})
}

type standard struct{ log *slog.Logger }

var quoted = []byte(" starting with ")

// Write implements io.Writer.
func (s standard) Write(line []byte) (int, error) {
	said, _, cut := bytes.Cut(bytes.TrimSpace(line), quoted)
	s.log.Warn("a library says", slog.String("text", string(said)), slog.Bool("cut", cut))
	return len(line), nil
}
