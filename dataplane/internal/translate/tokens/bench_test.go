package tokens_test

import (
	"os"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
)

// The bytes a second of whole texts, and what a piece of a stream costs.
func BenchmarkAdd(b *testing.B) {
	for _, name := range []string{"english", "chinese", "russian", "go"} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var c tokens.Counter
				c.Add(text)
				if c.Tokens() == 0 {
					b.Fatal("nothing counted")
				}
			}
		})
	}
	b.Run("piece", func(b *testing.B) {
		var c tokens.Counter
		piece := []byte(" and so")
		b.SetBytes(int64(len(piece)))
		b.ReportAllocs()
		for b.Loop() {
			c.Add(piece)
		}
	})
}
