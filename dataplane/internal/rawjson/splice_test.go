package rawjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

func TestSplices(t *testing.T) {
	text := []byte(`{"a":1,"b":2}`)
	var s rawjson.Splices
	require.True(t, s.None())
	require.Equal(t, string(text), string(s.Apply(text, nil, 0)))
	s.Cut(6, 12)
	s.Replace(5, 6, []byte("[]"))
	s.Insert(1, []byte("x"))
	s.Insert(1, []byte("y"))
	s.Sort()
	require.False(t, s.None())
	out := s.Apply(text, []byte(" "), 1)
	require.Equal(t, `{ xy"a":[]}`, string(out))
	require.Equal(t, len(out), cap(out), "one allocation of the right size")
	require.Equal(t, `{"a":1,"b":2}`, string(text), "the text is left alone")

	var many rawjson.Splices
	for i := range 20 {
		many.Insert(i%len(text), []byte{'.'})
	}
	many.Sort()
	require.Len(t, many.Apply(text, nil, 0), len(text)+20)
}
