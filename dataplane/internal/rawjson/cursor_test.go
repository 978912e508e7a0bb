package rawjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// retold writes what a cursor meets, each thing in its order.
func retold(c *rawjson.Cursor) string {
	var b strings.Builder
	switch c.Kind() {
	case '{':
		b.WriteByte('{')
		for more := c.Open(); more; more = c.More('}') {
			c.Name()
			fmt.Fprintf(&b, "%s:%s;", c.Key(), retold(c))
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for more := c.Open(); more; more = c.More(']') {
			b.WriteString(retold(c) + ";")
		}
		b.WriteByte(']')
	case 0:
		b.WriteByte('!')
	default:
		b.Write(c.Value())
	}
	return b.String()
}

func TestCursor(t *testing.T) {
	for text, want := range map[string]string{
		` {"a" : [1, {"b":[]} ,"x\"y"],"c":{},"d":null} `: `{a:[1;{b:[];};"x\"y";];c:{};d:null;}`,
		`[]`:              `[]`,
		`"text"`:          `"text"`,
		`12.5`:            `12.5`,
		``:                `!`,
		`{"a":"cut`:       `{a:"cut;}`,
		`{"a":1,"b":[2,3`: `{a:1;b:[2;3;];}`,
		`{"a":1,"b":[2,`:  `{a:1;b:[2;!;];}`,
		`{"a":1,"b`:       `{a:1;:!;}`,
		`{"a"`:            `{a:!;}`,
		`{"a":}`:          `{a:;}`,
		`[1 2]`:           `[1;]`,
		`{1:2}`:           `{}`,
	} {
		c := rawjson.NewCursor([]byte(text))
		require.Equal(t, want, retold(&c), text)
	}
	deep := rawjson.NewCursor([]byte(strings.Repeat("[", 2*rawjson.MaxDepth)))
	require.Equal(t, strings.Repeat("[", rawjson.MaxDepth+1), strings.TrimRight(retold(&deep), "];"), "no deeper than any other walk")
}

func TestCursorNamesAndValues(t *testing.T) {
	c := rawjson.NewCursor([]byte(`{"\u0061b":{"x":[1,2]},"c":3}tail`))
	require.True(t, c.Open())
	c.Name()
	require.True(t, c.Is("ab"))
	require.False(t, c.Is("a"))
	inner := c.Value()
	require.Len(t, inner, len(`{"x":[1,2]}`), "as it is written")
	x := rawjson.NewObject(inner)
	require.True(t, x.Next())
	require.Equal(t, "x", x.Name())
	require.True(t, c.More('}'))
	c.Name()
	require.True(t, c.Is("c"))
	require.Equal(t, "3", string(c.Value()))
	require.False(t, c.More('}'))
	require.Equal(t, len(`{"\u0061b":{"x":[1,2]},"c":3}`), c.Offset())
	var none rawjson.Cursor
	require.False(t, none.Open())
	require.Nil(t, none.Value())
	require.False(t, none.Is("x"))
}

// Whatever stands in the text, a cursor comes to an end and stays inside.
func FuzzCursor(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":2}]}`, `[[[`, `{"a":"\u12`, `{"a" "b"}`, "\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := rawjson.NewCursor(text)
		retold(&c)
		require.LessOrEqual(t, c.Offset(), len(text))
		whole := rawjson.NewCursor(text)
		if whole.Kind() == '{' {
			if o := rawjson.NewObject(text); func() bool {
				for o.Next() {
				}
				return o.OK()
			}() {
				value := whole.Value()
				c = rawjson.NewCursor(value)
				retold(&c)
				require.Equal(t, len(value), c.Offset(), "a sound object is gone through to its end")
			}
		}
	})
}
