package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

const canary = "canary-9d1f"

// counter is a reader of distinct bytes.
type counter byte

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		*c += 41
		p[i] = byte(*c)
	}
	return len(p), nil
}

func token(t testing.TB, kind secret.TokenKind) secret.Token {
	t.Helper()
	tok, err := secret.NewToken(new(counter), kind)
	require.NoError(t, err)
	return tok
}

type nested struct {
	Key  secret.String
	Ptr  *secret.String
	Any  any
	List []secret.String
	Map  map[string]secret.String
	Deep struct{ Token secret.Token }

	// fmt calls no methods on these.
	key   secret.String
	token secret.Token
	list  []secret.String
}

func filled(t *testing.T) (nested, []string) {
	s := secret.NewString(canary)
	n := nested{Key: s, Ptr: &s, Any: s, List: []secret.String{s}, Map: map[string]secret.String{"k": s}}
	n.Deep.Token = token(t, secret.Inference)
	n.key, n.token, n.list = s, n.Deep.Token, n.List
	plain := n.Deep.Token.Plaintext().Reveal()
	return n, []string{canary, plain[strings.LastIndexByte(plain, '_')+1:]}
}

// TestNothingPrintsASecret tries each way that a value reaches a log.
func TestNothingPrintsASecret(t *testing.T) {
	n, secrets := filled(t)
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{n, &n, n.Key, n.Ptr, n.List, n.Map, n.Deep, n.Deep.Token, &n.Deep.Token} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	fmt.Fprintln(&out, errors.Join(fmt.Errorf("%v %w", n.Key, io.EOF)))
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		log := slog.New(h)
		log.Info("flat", slog.Any("key", n.Key), slog.Any("token", n.Deep.Token), slog.Any("pointer", n.Ptr))
		log.Info("nested", slog.Any("all", n), slog.Any("pointer", &n), slog.Group("g", slog.Any("key", n.Key), slog.Any("map", n.Map)))
		log.With(slog.Any("key", n.Key)).WithGroup("x").Info("with", slog.Any("list", n.List))
	}
	body, err := json.Marshal(n)
	require.NoError(t, err)
	out.Write(body)
	body, err = json.Marshal(map[string]any{"t": n.Deep.Token, "s": n.Key})
	require.NoError(t, err)
	out.Write(body)
	for _, s := range secrets {
		require.NotContains(t, out.String(), s)
		require.NotContains(t, out.String(), fmt.Sprintf("%x", s))
	}
	require.Contains(t, out.String(), "[redacted]")
}

func TestStringReadsConfiguration(t *testing.T) {
	var c struct{ Key secret.String }
	require.NoError(t, json.Unmarshal([]byte(`{"Key":"`+canary+`"}`), &c))
	require.Equal(t, canary, c.Key.Reveal())
	require.False(t, c.Key.IsZero())
	require.True(t, secret.String{}.IsZero())
}

func TestTokenRoundTrip(t *testing.T) {
	for _, kind := range []secret.TokenKind{secret.Inference, secret.Management} {
		tok := token(t, kind)
		plain := tok.Plaintext().Reveal()
		back, err := secret.ParseToken(plain)
		require.NoError(t, err)
		require.Equal(t, tok, back)
		require.True(t, back.Matches(tok.Hash()))
		require.True(t, secret.ValidKID(back.KID))
		require.True(t, strings.HasSuffix(plain, tok.Suffix()))
		require.Len(t, tok.Suffix(), 4)

		renewed, err := tok.Renewed(io.MultiReader(bytes.NewReader(make([]byte, 16)), new(counter)))
		require.NoError(t, err)
		require.Equal(t, tok.KID, renewed.KID)
		fresh, err := secret.NewToken(io.MultiReader(strings.NewReader(strings.Repeat("z", 64))), kind)
		require.NoError(t, err)
		require.False(t, fresh.Matches(tok.Hash()))
	}
}

func TestTokenForm(t *testing.T) {
	plain := token(t, secret.Inference).Plaintext().Reveal()
	require.Regexp(t, `^sb_v1_[0-9a-z]{16}_[0-9A-Za-z]{43}$`, plain)
	require.Regexp(t, `^sb_mk_v1_[0-9a-z]{16}_[0-9A-Za-z]{43}$`, token(t, secret.Management).Plaintext().Reveal())
	for _, bad := range []string{
		"", "sb_v1_", "sk-123", plain[1:], plain + "A", plain[:len(plain)-1], strings.ToUpper(plain), " " + plain,
		strings.Replace(plain, "sb_v1_", "sb_v2_", 1), strings.Replace(plain, "sb_v1_", "sb_mk_v1_", 1) + "x",
		plain[:10] + "*" + plain[11:], plain[:30] + "." + plain[31:], plain[:22] + "-" + plain[23:],
	} {
		_, err := secret.ParseToken(bad)
		require.ErrorIs(t, err, secret.ErrTokenFormat, bad)
	}
	for _, kid := range []string{"", "short", strings.Repeat("i", 16), strings.Repeat("0", 17), "0000000000000.00", "000000000000000*", "000000000000000>"} {
		require.False(t, secret.ValidKID(kid), kid)
	}
}

func TestNoRandomnessIsAnError(t *testing.T) {
	for _, n := range []int{0, 15, 16, 47} {
		_, err := secret.NewToken(bytes.NewReader(make([]byte, n)), secret.Inference)
		require.Error(t, err)
	}
}

func TestHashText(t *testing.T) {
	h := token(t, secret.Inference).Hash()
	text, err := h.MarshalText()
	require.NoError(t, err)
	require.Len(t, text, 64)
	var back secret.Hash
	require.NoError(t, back.UnmarshalText(text))
	require.Equal(t, h, back)
	require.NoError(t, back.UnmarshalText(nil))
	require.True(t, back.IsZero())
	for _, bad := range []string{"00", strings.Repeat("g", 64), strings.Repeat("0", 65)} {
		require.Error(t, back.UnmarshalText([]byte(bad)))
	}
	require.False(t, token(t, secret.Inference).Matches(secret.Hash{}), "no hash matches nothing")
}

func FuzzParseToken(f *testing.F) {
	f.Add(token(f, secret.Inference).Plaintext().Reveal())
	f.Add(token(f, secret.Management).Plaintext().Reveal())
	f.Add("sb_v1_0123456789abcdef_")
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := secret.ParseToken(text)
		if err != nil {
			if err.Error() != secret.ErrTokenFormat.Error() {
				t.Fatal("the error says more than that the form is wrong")
			}
			return
		}
		if tok.Plaintext().Reveal() != text || !secret.ValidKID(tok.KID) {
			t.Fatal("two spellings of one token")
		}
	})
}

func BenchmarkParseAndMatch(b *testing.B) {
	plain := token(b, secret.Inference).Plaintext().Reveal()
	h := token(b, secret.Inference).Hash()
	b.ReportAllocs()
	for b.Loop() {
		tok, err := secret.ParseToken(plain)
		if err != nil || !tok.Matches(h) {
			b.Fatal("no match")
		}
	}
}
