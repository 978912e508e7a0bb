package rawform_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawform"
)

// form writes a body from lines; "|" stands for the boundary's dashes.
func form(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n")) }

const named = `Content-Disposition: form-data; name="a"`

func TestParse(t *testing.T) {
	body := form("--x", `Content-Disposition: form-data; name="model"`, "", "acme/small",
		"--x  \t", `content-disposition: form-data; name="file"; filename="a \"b\".wav"`, "Content-Type: audio/wav", "X-Any: 1", "", "RI\xffFF\r\n--y",
		"--x", `Content-Disposition: form-data; name="metadata[tier]"`, "", "",
		"--x", `Content-Disposition: form-data; name="f"; filename=""`, "", "é", "--x--", "")
	parts, syntax := rawform.Parse(body, "x")
	require.Nil(t, syntax)
	require.Len(t, parts, 4)
	require.Equal(t, "model", parts[0].Name)
	require.Equal(t, "acme/small", string(parts[0].Value(body)))
	require.False(t, parts[0].File)
	require.Equal(t, `a "b".wav`, parts[1].Filename)
	require.Equal(t, "audio/wav", parts[1].Type)
	require.Equal(t, "RI\xffFF\r\n--y", string(parts[1].Value(body)))
	require.Empty(t, parts[2].Value(body))
	require.Equal(t, "metadata", parts[2].Base())
	require.True(t, parts[3].File, "an empty file name makes a file too")
}

func TestWhatIsNoForm(t *testing.T) {
	long := strings.Repeat("x", rawform.MaxHeaderBytes)
	for name, c := range map[string]struct {
		boundary string
		body     []byte
		want     string
	}{
		"no boundary":          {"", form("--", "", "----"), "boundary must have"},
		"long boundary":        {strings.Repeat("x", 71), form("--x--"), "boundary must have"},
		"odd boundary":         {"a b", form("--a b--"), "boundary must have"},
		"empty":                {"x", nil, "first boundary"},
		"preamble":             {"x", form("hello", "--x", named, "", "1", "--x--"), "first boundary"},
		"no last boundary":     {"x", form("--x", named, "", "1", ""), "last boundary is missing"},
		"cut boundary":         {"x", form("--x", named, "", "1", "--x"), "end of a boundary's line"},
		"text behind":          {"x", form("--x", named, "", "1", "--x--", "--x", named, "", "2", "--x--"), "after the last boundary"},
		"longer boundary":      {"x", form("--x", named, "", "1", "--xy", "", "2", "--x--"), "end of a boundary's line"},
		"no line break":        {"x", form("--x", named, "", "--x--"), "line break before"},
		"bare line feeds":      {"x", []byte("--x\n" + named + "\n\n1\n--x--\n"), "end of a boundary's line"},
		"bare line feed":       {"x", []byte("--x\r\n" + named + "\r\n\r\n1\n--x--"), "bare line feed"},
		"no name":              {"x", form("--x", "Content-Disposition: form-data", "", "1", "--x--"), "without a name"},
		"no disposition":       {"x", form("--x", "Content-Type: text/plain", "", "1", "--x--"), "without content-disposition"},
		"an attachment":        {"x", form("--x", `Content-Disposition: attachment; name="a"`, "", "1", "--x--"), "of form-data"},
		"two names":            {"x", form("--x", named+`; name="b"`, "", "1", "--x--"), "of form-data"},
		"a name twice over":    {"x", form("--x", named+`; name*=utf-8''model`, "", "1", "--x--"), "extended notation"},
		"two dispositions":     {"x", form("--x", named, named, "", "1", "--x--"), "two content-dispositions"},
		"two types":            {"x", form("--x", named, "Content-Type: a/b", "Content-Type: c/d", "", "1", "--x--"), "two content-types"},
		"nested":               {"x", form("--x", named, "Content-Type: Multipart/mixed; boundary=y", "", "1", "--x--"), "form inside a part"},
		"encoded":              {"x", form("--x", named, "Content-Transfer-Encoding: base64", "", "MQ==", "--x--"), "transfer-encoding"},
		"folded":               {"x", form("--x", named+";", ` filename="a"`, "", "1", "--x--"), "folded"},
		"no colon":             {"x", form("--x", "hello", "", "1", "--x--"), "name and a colon"},
		"space before a colon": {"x", form("--x", `Content-Disposition : form-data; name="a"`, "", "1", "--x--"), "name and a colon"},
		"control character":    {"x", form("--x", named+"\x00", "", "1", "--x--"), "control character"},
		"long header":          {"x", form("--x", "X: "+long, named, "", "1", "--x--"), "longer than 8 KiB"},
		"cut header":           {"x", form("--x", named), "inside a part's header"},
		"a field not in UTF-8": {"x", form("--x", named, "", "\xff", "--x--"), "UTF-8"},
		"a name not in UTF-8":  {"x", form("--x", "Content-Disposition: form-data; name=\"\xff\"", "", "1", "--x--"), "UTF-8"},
		"many parts":           {"x", []byte(strings.Repeat("--x\r\n"+named+"\r\n\r\n1\r\n", 257) + "--x--"), "256 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, syntax := rawform.Parse(c.body, c.boundary)
			require.NotNil(t, syntax)
			require.Contains(t, syntax.Error(), c.want)
			_, err := rawform.Edit(c.body, c.boundary, rawform.Edits{})
			require.Error(t, err)
		})
	}
}

func TestEdit(t *testing.T) {
	body := form("", "--x", `Content-Disposition: form-data; name="model"`, "", "acme/small",
		"--x", `Content-Disposition: form-data; name="file"; filename="a"`, "", "RIFF",
		"--x", `Content-Disposition: form-data; name="models[]"`, "", "acme/large",
		"--x", `Content-Disposition: form-data; name="model"`, "", "again", "--x--", "")
	gone := func(p *rawform.Part) bool { return p.Base() == "models" }
	for name, c := range map[string]struct {
		edits rawform.Edits
		want  []byte
	}{
		"nothing": {rawform.Edits{}, body[2:]},
		"all": {rawform.Edits{Set: []rawform.Field{{"model", "small"}, {"user", "u"}}, Drop: gone}, form(
			"--x", `Content-Disposition: form-data; name="user"`, "", "u",
			"--x", `Content-Disposition: form-data; name="model"`, "", "small",
			"--x", `Content-Disposition: form-data; name="file"; filename="a"`, "", "RIFF",
			"--x", `Content-Disposition: form-data; name="model"`, "", "small", "--x--", "")},
		"rewritten": {rawform.Edits{Drop: gone, Rewrite: func(p *rawform.Part) [][]byte {
			if !p.File {
				return nil
			}
			return [][]byte{[]byte("R"), []byte("X")}
		}}, form(
			"--x", `Content-Disposition: form-data; name="model"`, "", "acme/small",
			"--x", `Content-Disposition: form-data; name="file"; filename="a"`, "", "RX",
			"--x", `Content-Disposition: form-data; name="model"`, "", "again", "--x--", "")},
		"everything dropped": {rawform.Edits{Drop: func(*rawform.Part) bool { return true }}, form("--x--", "")},
	} {
		t.Run(name, func(t *testing.T) {
			pieces, err := rawform.Edit(body, "x", c.edits)
			require.NoError(t, err)
			require.Equal(t, string(c.want), string(bytes.Join(pieces, nil)))
		})
	}
	pieces, err := rawform.Edit(form("", "--x--"), "x", rawform.Edits{Set: []rawform.Field{{"a", "1"}}})
	require.NoError(t, err)
	require.Equal(t, string(form("--x", named, "", "1", "--x--")), string(bytes.Join(pieces, nil)))
	_, err = rawform.Edit(body, "x", rawform.Edits{Set: []rawform.Field{{"model", "a\r\n--x--"}}})
	require.Error(t, err)
}

// What is kept is not copied: a file may have many megabytes.
func TestEditSharesMemory(t *testing.T) {
	file := strings.Repeat("x", 1<<20)
	body := form("--x", `Content-Disposition: form-data; name="file"; filename="a"`, "", file,
		"--x", `Content-Disposition: form-data; name="model"`, "", "m", "--x--")
	pieces, err := rawform.Edit(body, "x", rawform.Edits{Set: []rawform.Field{{"model", "n"}}})
	require.NoError(t, err)
	shared := 0
	for _, p := range pieces {
		if len(p) > 100 {
			shared++
			require.Same(t, &body[0], &p[0])
		}
	}
	require.Equal(t, 1, shared)
}

// std reads a form with the standard library.
func std(body []byte, boundary string) (names, values, types []string, err error) {
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return names, values, types, nil
		}
		if err != nil {
			return nil, nil, nil, err
		}
		value, err := io.ReadAll(p)
		if err != nil {
			return nil, nil, nil, err
		}
		names, values, types = append(names, p.FormName()), append(values, string(value)), append(types, p.Header.Get("Content-Type"))
	}
}

func agree(t require.TestingT, body []byte, boundary string, parts []rawform.Part) {
	names, values, types, err := std(body, boundary)
	require.NoError(t, err)
	require.Len(t, names, len(parts))
	for i := range parts {
		require.Equal(t, names[i], parts[i].Name)
		require.Equal(t, values[i], string(parts[i].Value(body)))
		require.Equal(t, types[i], parts[i].Type)
	}
}

// Whatever the standard library writes is read, and alike.
func TestAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var buf bytes.Buffer
		w := multipart.NewWriter(&buf)
		boundary := rapid.StringMatching(`[0-9A-Za-z'()+_,./:=?-]{1,70}`).Draw(t, "boundary")
		require.NoError(t, w.SetBoundary(boundary))
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			name := rapid.StringMatching(`[a-z"\\ \[\]é]{1,8}`).Draw(t, "name")
			value := rapid.OneOf(rapid.StringMatching(`[a-z\r\n-]{0,20}`), rapid.Just("\r\n--"), rapid.Just("--"+boundary[:len(boundary)-1])).Draw(t, "value")
			if strings.Contains("\n"+value, "\n--"+boundary) {
				continue // nobody writes such a form
			}
			h := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition(name, "f")}, "Content-Type": {"a/b"}}
			if rapid.Bool().Draw(t, "field") {
				require.NoError(t, w.WriteField(name, value))
				continue
			}
			p, err := w.CreatePart(h)
			require.NoError(t, err)
			_, err = p.Write([]byte(value))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		body := buf.Bytes()
		parts, syntax := rawform.Parse(body, boundary)
		require.Nil(t, syntax)
		agree(t, body, boundary, parts)

		edited, err := rawform.Edit(body, boundary, rawform.Edits{
			Set: []rawform.Field{{"model", "m"}}, Drop: func(p *rawform.Part) bool { return len(p.Name)%2 == 0 },
		})
		require.NoError(t, err)
		again, syntax := rawform.Parse(bytes.Join(edited, nil), boundary)
		require.Nil(t, syntax, "an edited form is a form")
		for i := range again {
			require.True(t, again[i].Name == "model" || len(again[i].Name)%2 == 1)
		}
		require.NotEmpty(t, again)
	})
}

// What is taken for a form, the standard library reads alike: no field can be
// one thing here and another behind the gateway.
func FuzzParse(f *testing.F) {
	f.Add(form("--x", named, "", "1", "--x", `Content-Disposition: form-data; name="f"; filename="a"`, "Content-Type: a/b", "", "\xff", "--x--", ""), "x")
	f.Add(form("", "--x \t", named, "", "", "--x--"), "x")
	f.Add(form("--x--"), "x")
	f.Add([]byte("--x\r\n"+named+"\r\n\r\n--x--"), "x")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		parts, syntax := rawform.Parse(body, boundary)
		if syntax != nil {
			require.LessOrEqual(t, syntax.Offset, len(body))
			return
		}
		agree(t, body, boundary, parts)
		pieces, err := rawform.Edit(body, boundary, rawform.Edits{})
		require.NoError(t, err)
		require.Equal(t, bytes.TrimPrefix(body, []byte("\r\n")), bytes.Join(pieces, nil))
	})
}

func BenchmarkEdit(b *testing.B) {
	body := form("--boundary-of-some-length", `Content-Disposition: form-data; name="file"; filename="a"`, "", strings.Repeat("x\n", 4<<20),
		"--boundary-of-some-length", `Content-Disposition: form-data; name="model"`, "", "m", "--boundary-of-some-length--")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rawform.Edit(body, "boundary-of-some-length", rawform.Edits{Set: []rawform.Field{{"model", "n"}}}); err != nil {
			b.Fatal(err)
		}
	}
}
