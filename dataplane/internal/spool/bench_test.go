package spool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRequest is what the spool adds to a request: an intent and a
// completion with a decision record of 1.5 KB.
func BenchmarkRequest(b *testing.B) {
	s, err := Open(b.TempDir(), Options{MaxBytes: 1 << 40})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	decision := json.RawMessage(`{"candidates":["` + strings.Repeat("x", 1500) + `"]}`)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req := newRequest()
			if err := s.Intent(intentOf(req)); err != nil {
				b.Error(err)
			}
			ev := eventOf(req)
			ev.Decision = decision
			if err := s.Complete(ev); err != nil {
				b.Error(err)
			}
		}
	})
}
